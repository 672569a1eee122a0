// CPython through dlsym: capture of frames, their names, and scripts for reports.
#include "core/python.h"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/python_layout.h"

namespace devsan::trace::python {
namespace {

struct Object;  // PyObject and everything that derives from it
struct ThreadState;

// The functions of the C API that are used, all of the stable kind.
struct Api {
  int (*Py_IsInitialized)();
  const char* (*Py_GetVersion)();
  ThreadState* (*PyGILState_GetThisThreadState)();
  int (*PyGILState_Ensure)();
  void (*PyGILState_Release)(int);
  Object* (*PyEval_GetFrame)();
  Object* (*PyFrame_GetBack)(Object*);
  Object* (*PyFrame_GetCode)(Object*);
  int (*PyFrame_GetLasti)(Object*);
  int (*PyCode_Addr2Line)(Object*, int);
  Object* (*PyObject_GetAttrString)(Object*, const char*);
  const char* (*PyUnicode_AsUTF8)(Object*);
  Object* (*PyUnicode_FromString)(const char*);
  void (*Py_IncRef)(Object*);
  void (*Py_DecRef)(Object*);
  Object* (*PyDict_New)();
  Object* (*PyDict_GetItemString)(Object*, const char*);
  int (*PyDict_SetItemString)(Object*, const char*, Object*);
  Object* (*PyEval_GetBuiltins)();
  Object* (*Py_CompileString)(const char*, const char*, int);
  Object* (*PyEval_EvalCode)(Object*, Object*, Object*);
  void (*PyErr_Fetch)(Object**, Object**, Object**);
  void (*PyErr_Restore)(Object*, Object*, Object*);
  void (*PyErr_Clear)();
  Object* (*PyCMethod_New)(void*, Object*, Object*, Object*);
  Object* (*PyCapsule_New)(void*, const char*, void (*)(Object*));
  void* (*PyCapsule_GetPointer)(Object*, const char*);
};

// PyMethodDef, which is part of the stable ABI.
struct MethodDef {
  const char* name;
  Object* (*call)(Object* self, Object* argument);
  int flags;
  const char* doc;
};

constexpr int kOneArgument = 8;  // METH_O

constexpr int kFileInput = 257;  // Py_file_input

Api api;
bool is_attached = false;
int (*is_finalizing)() = nullptr;
const FrameLayout* layout = nullptr;  // null: walk with the GIL
std::once_flag layout_checked;
StackInterner& interner = *new StackInterner;

template <class Function>
bool find(Function& function, const char* name) {
  void* address = dlsym(RTLD_DEFAULT, name);
  std::memcpy(&function, &address, sizeof function);
  return address != nullptr;
}

class Gil {
 public:
  Gil() : state_(api.PyGILState_Ensure()) {}
  ~Gil() { api.PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  int state_;
};

// Keeps an exception that is in flight while other Python code runs. Needs the GIL.
class ErrorInFlight {
 public:
  ErrorInFlight() { api.PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorInFlight() {
    api.PyErr_Clear();
    api.PyErr_Restore(type_, value_, traceback_);
  }
  ErrorInFlight(const ErrorInFlight&) = delete;
  ErrorInFlight& operator=(const ErrorInFlight&) = delete;

 private:
  Object* type_ = nullptr;
  Object* value_ = nullptr;
  Object* traceback_ = nullptr;
};

// A thread that asks for the GIL while Python ends would never come back.
bool is_ending() {
  return !api.Py_IsInitialized() || (is_finalizing && is_finalizing());
}

// Code object and offset of the last instruction, alternating, innermost first.
struct Words {
  static constexpr std::size_t kMax = 1024;  // of the innermost 512 frames
  std::array<std::uintptr_t, kMax> data;
  std::size_t size = 0;

  bool full() const { return size + 2 > kMax; }
  void push(std::uintptr_t code, std::uintptr_t instruction) {
    data[size++] = code;
    data[size++] = instruction;
  }
  std::span<const std::uintptr_t> span() const { return {data.data(), size}; }
};

template <class T>
T load(const char* base, std::size_t offset) {
  T value;
  std::memcpy(&value, base + offset, sizeof value);
  return value;
}

void walk_raw(const ThreadState* thread, Words& words) {
  const auto* cframe =
      load<const char*>(reinterpret_cast<const char*>(thread), layout->thread_cframe);
  const char* frame = cframe ? load<const char*>(cframe, layout->cframe_current) : nullptr;
  for (; frame && !words.full(); frame = load<const char*>(frame, layout->frame_previous)) {
    const auto code = load<std::uintptr_t>(frame, layout->frame_code);
    const auto instruction = load<std::uintptr_t>(frame, layout->frame_instruction);
    words.push(code, instruction - code - layout->code_instructions);
  }
}

void walk_official(Words& words) {
  const Gil gil;
  Object* frame = api.PyEval_GetFrame();
  if (frame) api.Py_IncRef(frame);
  while (frame) {
    if (!words.full()) {
      Object* code = api.PyFrame_GetCode(frame);
      words.push(reinterpret_cast<std::uintptr_t>(code),
                 static_cast<std::uintptr_t>(api.PyFrame_GetLasti(frame)));
      api.Py_DecRef(code);
    }
    Object* back = api.PyFrame_GetBack(frame);
    api.Py_DecRef(frame);
    frame = back;
  }
}

// The raw walk may see frames that the official one hides: such that are being set up and have run
// nothing yet. All others must be the same.
void check_layout(const ThreadState* thread) {
  Words official;
  walk_official(official);
  Words raw;
  walk_raw(thread, raw);
  std::size_t at = 0;
  for (std::size_t i = 0; i < raw.size && at < official.size; i += 2) {
    if (raw.data[i] == official.data[at] && raw.data[i + 1] == official.data[at + 1]) at += 2;
  }
  if (at != official.size) layout = nullptr;
}

std::string text_attribute(Object* object, const char* name) {
  std::string text;
  if (Object* value = api.PyObject_GetAttrString(object, name)) {
    if (const char* utf8 = api.PyUnicode_AsUTF8(value)) text = utf8;
    api.Py_DecRef(value);
  }
  api.PyErr_Clear();  // an attribute that this release does not have
  return text;
}

// What a script's call of a Callback comes to; `self` holds the Callback.
Object* call_back(Object* self, Object* argument) {
  const auto* callback = static_cast<const Callback*>(api.PyCapsule_GetPointer(self, nullptr));
  const char* text = callback ? api.PyUnicode_AsUTF8(argument) : nullptr;
  if (!text) return nullptr;  // with the Python exception that says why
  return api.PyUnicode_FromString(callback->call(text).c_str());
}

Object* function_of(const Callback& callback) {
  static MethodDef definition = {"devsan", call_back, kOneArgument, nullptr};
  auto* kept = new Callback(callback);  // Python may call it until it ends
  Object* self = api.PyCapsule_New(kept, nullptr, nullptr);
  Object* function = self ? api.PyCMethod_New(&definition, self, nullptr, nullptr) : nullptr;
  if (self) api.Py_DecRef(self);
  return function;
}

}  // namespace

bool attach() {
  if (!find(api.Py_IsInitialized, "Py_IsInitialized") || !api.Py_IsInitialized()) return false;
  const bool complete =
#define DEVSAN_FIND(name) find(api.name, #name)
      DEVSAN_FIND(Py_GetVersion) && DEVSAN_FIND(PyGILState_GetThisThreadState) &&
      DEVSAN_FIND(PyGILState_Ensure) && DEVSAN_FIND(PyGILState_Release) &&
      DEVSAN_FIND(PyEval_GetFrame) && DEVSAN_FIND(PyFrame_GetBack) &&
      DEVSAN_FIND(PyFrame_GetCode) && DEVSAN_FIND(PyFrame_GetLasti) &&
      DEVSAN_FIND(PyCode_Addr2Line) && DEVSAN_FIND(PyObject_GetAttrString) &&
      DEVSAN_FIND(PyUnicode_AsUTF8) && DEVSAN_FIND(PyUnicode_FromString) &&
      DEVSAN_FIND(Py_IncRef) && DEVSAN_FIND(Py_DecRef) && DEVSAN_FIND(PyDict_New) &&
      DEVSAN_FIND(PyDict_GetItemString) && DEVSAN_FIND(PyDict_SetItemString) &&
      DEVSAN_FIND(PyEval_GetBuiltins) && DEVSAN_FIND(Py_CompileString) &&
      DEVSAN_FIND(PyEval_EvalCode) && DEVSAN_FIND(PyErr_Fetch) && DEVSAN_FIND(PyErr_Restore) &&
      DEVSAN_FIND(PyErr_Clear) && DEVSAN_FIND(PyCMethod_New) && DEVSAN_FIND(PyCapsule_New) &&
      DEVSAN_FIND(PyCapsule_GetPointer);
#undef DEVSAN_FIND
  if (!complete) return false;
  if (!find(is_finalizing, "Py_IsFinalizing")) find(is_finalizing, "_Py_IsFinalizing");
  const std::string_view version = api.Py_GetVersion();
  for (const FrameLayout& known : kFrameLayouts) {
    if (version.starts_with(known.version)) layout = &known;
  }
  is_attached = true;
  return true;
}

bool attached() {
  return is_attached;
}

StackId capture() {
  const ThreadState* thread = api.PyGILState_GetThisThreadState();
  if (!thread) return kNoStack;
  Words words;
  if (layout && !is_ending()) {
    std::call_once(layout_checked, check_layout, thread);
  }
  if (layout) {
    walk_raw(thread, words);
  } else if (!is_ending()) {
    walk_official(words);
  }
  const auto pin = [](std::span<const std::uintptr_t> stack) {
    const Gil gil;
    for (std::size_t i = 0; i < stack.size(); i += 2) {
      api.Py_IncRef(reinterpret_cast<Object*>(stack[i]));
    }
  };
  if (is_ending()) return kNoStack;
  return interner.intern(words.span(), pin);
}

Stack symbolize(StackId id) {
  Stack stack;
  if (id == kNoStack || is_ending()) return stack;
  const std::span<const std::uintptr_t> words = interner.words(id);
  const Gil gil;
  const ErrorInFlight kept;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    auto* code = reinterpret_cast<Object*>(words[i]);
    OwnedFrame frame;
    frame.frame.file = text_attribute(code, "co_filename");
    frame.frame.function = text_attribute(code, "co_qualname");
    if (frame.frame.function.empty())
      frame.frame.function = text_attribute(code, "co_name");  // 3.10
    frame.frame.line = api.PyCode_Addr2Line(code, static_cast<int>(words[i + 1]));
    frame.owner = owner_of_python(frame.frame.file);
    stack.push_back(std::move(frame));
  }
  return stack;
}

std::string run(const char* script, const std::string& argument) {
  return run(script, argument, {});
}

std::string run(const char* script, const std::string& argument,
                std::span<const Callback> callbacks) {
  if (is_ending()) return {};
  const Gil gil;
  const ErrorInFlight kept;
  std::string answer;
  Object* globals = api.PyDict_New();
  Object* request = api.PyUnicode_FromString(argument.c_str());
  if (globals && request) {
    api.PyDict_SetItemString(globals, "__builtins__", api.PyEval_GetBuiltins());
    api.PyDict_SetItemString(globals, "request", request);
    for (const Callback& callback : callbacks) {
      Object* function = function_of(callback);
      if (!function) continue;
      api.PyDict_SetItemString(globals, callback.name, function);
      api.Py_DecRef(function);
    }
    // Not PyRun_String: it makes the interpreter forget that it ends by a KeyboardInterrupt.
    Object* code = api.Py_CompileString(script, "<devsan>", kFileInput);
    Object* done = code ? api.PyEval_EvalCode(code, globals, globals) : nullptr;
    if (code) api.Py_DecRef(code);
    if (done) {
      Object* text = api.PyDict_GetItemString(globals, "answer");
      if (const char* utf8 = text ? api.PyUnicode_AsUTF8(text) : nullptr) answer = utf8;
      api.Py_DecRef(done);
    }
  }
  if (request) api.Py_DecRef(request);
  if (globals) api.Py_DecRef(globals);
  return answer;
}

std::string_view how() {
  return layout ? "Python frames are read without the GIL"
                : "Python frames are read with the GIL held";
}

}  // namespace devsan::trace::python
