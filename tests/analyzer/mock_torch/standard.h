// As much of the standard library as mock_torch needs; real headers would take most of the tests'
// time.
#pragma once

namespace std {
using size_t = decltype(sizeof(0));

template <class T>
class initializer_list {
 public:
  const T* begin() const;
  const T* end() const;
  size_t size() const;

 private:
  const T* first_;
  size_t size_;
};

template <bool, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
typename remove_reference<T>::type&& move(T&&);

inline namespace cxx11 {
template <class T>
class basic_string {
 public:
  basic_string();
  basic_string(const T*);
  const T* c_str() const;
};
}  // namespace cxx11
using string = basic_string<char>;
string to_string(int);
string operator+(const char*, const string&);

template <class T>
class optional {
 public:
  optional();
  template <class U = T, class = typename enable_if<__is_constructible(T, U&&)>::type>
  optional(U&& value);
  T& value();
  const T& operator*() const;
  T& operator*();
  const T* operator->() const;
  T* operator->();
};
template <class T>
class shared_ptr {
 public:
  T& operator*() const;
  T* operator->() const;
};
template <class T>
class vector {
 public:
  vector();
  vector(initializer_list<T>);
  T& operator[](size_t);
  const T& operator[](size_t) const;
  T* begin();
  T* end();
  const T* begin() const;
  const T* end() const;
};

struct ostream {};
extern ostream cout;
}  // namespace std
