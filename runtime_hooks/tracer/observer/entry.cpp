// Starts the tracer when the preloaded library opens this one, at the program's first op.
//
// Before that the preloaded library has compared the build ids of libtorch_cpu and libc10 with
// those this was compiled for; nothing here runs under any other PyTorch.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "core/messages.h"
#include "core/python.h"
#include "core/python_hooks.h"
#include "core/sink.h"
#include "devsan/run_options.h"
#include "observer/cpp_modules.h"
#include "observer/failure.h"
#include "observer/observer.h"
#include "observer/self_check.h"
#include "observer/thread_state.h"
#include "observer/uncaught_error.h"
#include "observer/warnings.h"
#include "preload/hooks.h"

namespace devsan::trace {
namespace {

void on_throw(void* object, void* type) {
  try {
    note_throw(thread_state(), object, type);
  } catch (...) {  // the program's exception matters more than a note of it
  }
}

void on_device_check(std::uint16_t, const void* tensor, const char*, const char*) {
  thread_state().checked_tensor = static_cast<const at::Tensor*>(tensor)->unsafeGetTensorImpl();
}

void on_register(const void*, const void* name, const void* tensor) {
  note_registered(name, tensor);
}

const devsan_tracer_hooks kHooks = {on_throw, on_device_check, note_module, on_register,
                                    count_optimizer_step};

std::terminate_handler terminate_before = nullptr;

Sink* sink = nullptr;

// Runs what makes a report: its own failure must not become the program's.
template <class Report>
void say(Report report) {
  ThreadState& state = thread_state();
  if (state.busy) return;
  const Busy busy(state);
  try {
    report();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "DevSan: a report could not be made: %s\n", error.what());
  }
}

std::string message_in_flight() {
  try {
    if (const std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {  // no exception of the standard library's kind: nothing to read
  }
  return {};
}

// An exception that nobody catches ends the program without unwinding: no op is seen to end.
void on_terminate() {
  report_before_end(thread_state());
  say([] { report_terminating(message_in_flight(), *sink); });
  say([] { report_warnings(*sink); });
  if (terminate_before) terminate_before();
  std::abort();
}

void on_uncaught(const PythonException& exception) {
  say([&] { report_uncaught(exception, origin_table(), *sink); });
}

void on_ending() {
  say([] {
    report_warnings(*sink);
    sink->print_warnings();
  });
}

const PythonHooks kPythonHooks = {
    [](const std::string& message) { return is_about_placement(message); }, on_uncaught, on_ending};

// A Python program says itself when it ends: after that there is no interpreter to read stacks
// with.
void at_first_op() {
  if (python::attached()) {
    install_python_hooks(kPythonHooks);
  } else {
    std::atexit(on_ending);
  }
}

// The hooks are in the preloaded library, which is in the global scope.
bool set_hooks() {
  void* address = dlsym(RTLD_DEFAULT, DEVSAN_SET_HOOKS);
  if (!address) return false;
  devsan_set_hooks set = nullptr;
  std::memcpy(&set, &address, sizeof set);
  set(&kHooks);
  return true;
}

// Null where the options say that nothing is to be traced.
void start() {
  const RunOptions options = run_options_from_environment();
  if (options.trace_ops == 0) return;
  python::attach();
  if (!set_hooks()) throw std::runtime_error("libdevsan_preload.so is not loaded");
  sink = new Sink(options.report_dir, options.on_mismatch == "halt");
  ThreadState& state = thread_state();
  const Busy busy(state);
  start_observing({static_cast<int>(options.origins), at_first_op}, *sink);
  terminate_before = std::set_terminate(on_terminate);
  if (const std::string wrong = self_check(); !wrong.empty()) {
    stop_observing();
    throw std::runtime_error(wrong);
  }
  if (options.verbose != 0) {
    std::fprintf(
        stderr, "DevSan: tracing PyTorch %s, origins %d; %s\n", TORCH_VERSION,
        static_cast<int>(options.origins),
        python::attached() ? std::string(python::how()).c_str() : "no Python in this process");
  }
}

__attribute__((constructor)) void start_or_say_why_not() {
  try {
    start();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "DevSan: %s: the program goes on untraced\n", error.what());
  }
}

}  // namespace
}  // namespace devsan::trace
