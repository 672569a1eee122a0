// As much of the standard library as mock_torch needs; real headers would take most of the tests'
// time.
#pragma once

namespace std {
using size_t = decltype(sizeof(0));
using nullptr_t = decltype(nullptr);

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
  explicit operator bool() const noexcept;
  bool has_value() const noexcept;
  void reset() noexcept;
  T& value();
  const T& operator*() const;
  T& operator*();
  const T* operator->() const;
  T* operator->();
};
template <class T>
class shared_ptr {
 public:
  shared_ptr();
  shared_ptr(nullptr_t);
  template <class U>
  shared_ptr(const shared_ptr<U>&);
  T& operator*() const;
  T* operator->() const;
  explicit operator bool() const;
};
template <class T, class... Args>
shared_ptr<T> make_shared(Args&&...);
template <class T, class U>
shared_ptr<T> dynamic_pointer_cast(const shared_ptr<U>&) noexcept;
template <class T>
class unique_ptr {
 public:
  unique_ptr();
  unique_ptr(nullptr_t);
  template <class U>
  unique_ptr(unique_ptr<U>&&);
  unique_ptr& operator=(unique_ptr&&);
  T& operator*() const;
  T* operator->() const;
  T* get() const;
  explicit operator bool() const;
};
template <class T, class... Args>
unique_ptr<T> make_unique(Args&&...);
template <class T>
class vector {
 public:
  vector();
  vector(initializer_list<T>);
  T& operator[](size_t);
  const T& operator[](size_t) const;
  T& front();
  T& back();
  T& at(size_t);
  void push_back(const T&);
  template <class... Args>
  T& emplace_back(Args&&...);
  void clear();
  size_t size() const;
  T* begin();
  T* end();
  const T* begin() const;
  const T* end() const;
  T* data();
  const T* data() const;
};

template <class... T>
class tuple {
 public:
  tuple(const T&...);
};
template <class... T>
tuple<T...> make_tuple(T...);
template <class>
struct tuple_size;
template <class... T>
struct tuple_size<tuple<T...>> {
  static constexpr size_t value = sizeof...(T);
};
template <class T>
struct tuple_size<const T> : tuple_size<T> {};
template <size_t I, class T>
struct tuple_element;
template <size_t I, class T>
struct tuple_element<I, const T> {
  using type = const typename tuple_element<I, T>::type;
};
template <class First, class... Rest>
struct tuple_element<0, tuple<First, Rest...>> {
  using type = First;
};
template <size_t I, class First, class... Rest>
struct tuple_element<I, tuple<First, Rest...>> : tuple_element<I - 1, tuple<Rest...>> {};
template <size_t I, class... T>
typename tuple_element<I, tuple<T...>>::type& get(tuple<T...>&);
template <size_t I, class... T>
typename tuple_element<I, tuple<T...>>::type&& get(tuple<T...>&&);
template <size_t I, class... T>
const typename tuple_element<I, tuple<T...>>::type& get(const tuple<T...>&);

template <class First, class Second>
struct pair {
  First first;
  Second second;
};

template <class Key, class Value>
class map {
 public:
  map();
  Value& operator[](const Key&);
  Value& at(const Key&);
  pair<const Key, Value>* begin();
  pair<const Key, Value>* end();
};

template <class Iterator, class Function>
Function for_each(Iterator begin, Iterator end, Function function);

template <class Character>
class basic_ostream {};
using ostream = basic_ostream<char>;
extern ostream cout;
}  // namespace std
