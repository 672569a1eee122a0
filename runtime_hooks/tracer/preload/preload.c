/* The library that LD_PRELOAD names: plain C, neither PyTorch nor libstdc++.
 *
 * It must be harmless in every process that inherits the environment (bash, env, a launcher of
 * launchers), so it does nothing until PyTorch's first dispatcher call and then opens the tracer.
 * Beside that it stands before a few exported functions of PyTorch, each for a reason given there.
 * libtorch is not linked with -Bsymbolic, so its own calls come here too.
 *
 * Python opens libtorch RTLD_LOCAL: RTLD_NEXT does not see it, an already loaded library is then
 * found by its name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "identity.h"

#if !defined(__x86_64__) || !defined(__linux__)
#error "the replacements below pass C++ arguments as x86-64 Linux does"
#endif

#define EXPORT __attribute__((visibility("default")))
#define TORCH "libtorch_cpu.so"

static struct devsan_tracer_hooks hooks;

EXPORT void devsan_preload_set_hooks(const struct devsan_tracer_hooks* table);
void devsan_preload_set_hooks(const struct devsan_tracer_hooks* table) {
  hooks = *table;
}

/* The function that stands behind ours. Without it the program cannot go on: it asked for it. */
static void* genuine(const char* library, const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (!found) {
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) found = dlsym(handle, symbol);
  }
  if (!found) {
    fprintf(stderr, "DevSan: %s has no %s, which this program calls\n", library, symbol);
    abort();
  }
  return found;
}

/* Looks a function up once; a race between threads writes the same value twice. */
#define GENUINE(type, library, symbol)                         \
  static type cached_;                                         \
  type genuine_ = __atomic_load_n(&cached_, __ATOMIC_RELAXED); \
  if (!genuine_) {                                             \
    void* address_ = genuine(library, symbol);                 \
    memcpy(&genuine_, &address_, sizeof genuine_);             \
    __atomic_store_n(&cached_, genuine_, __ATOMIC_RELAXED);    \
  }

/* ---- at::getStepCallbacksUnlessEmpty(RecordScope) -> std::optional<StepCallbacks>
 * The dispatcher asks it at every op whether somebody observes: the first call is the first op, and
 * the earliest moment at which PyTorch is certain to be initialised. */
#define STEP "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE"
typedef void* (*step_callbacks)(void* result, uint8_t scope);

static pthread_once_t tracer_once = PTHREAD_ONCE_INIT;
static __thread int opening; /* the tracer's own ops while it is opened */
static int opened;

static void open_tracer(void) {
  char why[512];
  char path[4096];
  Dl_info self;
  opening = 1;
  const char* observer = devsan_find_observer(why, sizeof why);
  if (!observer) {
    fprintf(stderr, "DevSan: %s\n", why);
  } else if (!dladdr((void*)(uintptr_t)devsan_preload_set_hooks, &self) ||
             !strrchr(self.dli_fname, '/')) {
    fprintf(stderr,
            "DevSan: cannot tell where libdevsan_preload.so lies: the program goes on untraced\n");
  } else {
    const int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
    snprintf(path, sizeof path, "%.*s/%s", folder, self.dli_fname, observer);
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
      fprintf(stderr, "DevSan: %s: the program goes on untraced\n", dlerror());
    }
  }
  opening = 0;
  __atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
}

EXPORT void* devsan_step_callbacks(void* result, uint8_t scope) __asm__(STEP);
void* devsan_step_callbacks(void* result, uint8_t scope) {
  GENUINE(step_callbacks, TORCH, STEP)
  if (!__atomic_load_n(&opened, __ATOMIC_ACQUIRE) && !opening) {
    pthread_once(&tracer_once, open_tracer);
  }
  return genuine_(result, scope);
}

/* ---- __cxa_throw
 * Only the message tells an error about devices from a shape error beside a legal mix, and
 * RecordFunction does not show it. */
typedef void (*cxa_throw)(void*, void*, void (*)(void*));

EXPORT __attribute__((noreturn)) void __cxa_throw(void* object, void* type, void (*destroy)(void*));
void __cxa_throw(void* object, void* type, void (*destroy)(void*)) {
  GENUINE(cxa_throw, "libstdc++.so.6", "__cxa_throw")
  if (hooks.on_throw) hooks.on_throw(object, type);
  genuine_(object, type, destroy);
  __builtin_unreachable();
}

/* ---- c10::impl::common_device_check_failure(Device, const Tensor&, const char*, const char*)
 * Names the argument that PyTorch objects to. A Device is two bytes, passed in a register. */
#define CHECK "_ZN3c104impl27common_device_check_failureENS_6DeviceERKN2at6TensorEPKcS7_"
typedef void (*device_check)(uint16_t, const void*, const char*, const char*);

EXPORT void devsan_device_check(uint16_t common, const void* tensor, const char* method,
                                const char* argument) __asm__(CHECK);
void devsan_device_check(uint16_t common, const void* tensor, const char* method,
                         const char* argument) {
  GENUINE(device_check, TORCH, CHECK)
  if (hooks.on_device_check) hooks.on_device_check(common, tensor, method, argument);
  genuine_(common, tensor, method, argument);
}

/* ---- torch::nn::Module: names of parameters in C++ programs
 * There is no list of a program's modules. Its root shows itself when it is moved, trained, or
 * asked for its parameters (an optimizer is made from them). */
#define MODULE "_ZN5torch2nn6Module"
#define CONST_MODULE "_ZNK5torch2nn6Module"
#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

static void seen(const void* module) {
  if (hooks.on_module) hooks.on_module(module);
}

typedef void (*module_to_device)(void*, uint16_t, int);
EXPORT void devsan_to_device(void* self, uint16_t device,
                             int non_blocking) __asm__(MODULE "2toEN3c106DeviceEb");
void devsan_to_device(void* self, uint16_t device, int non_blocking) {
  GENUINE(module_to_device, TORCH, MODULE "2toEN3c106DeviceEb")
  seen(self);
  genuine_(self, device, non_blocking);
}

typedef void (*module_to_device_dtype)(void*, uint16_t, int, int);
EXPORT void devsan_to_device_dtype(void* self, uint16_t device, int dtype,
                                   int non_blocking) __asm__(MODULE
                                                             "2toEN3c106DeviceENS2_10ScalarTypeEb");
void devsan_to_device_dtype(void* self, uint16_t device, int dtype, int non_blocking) {
  GENUINE(module_to_device_dtype, TORCH, MODULE "2toEN3c106DeviceENS2_10ScalarTypeEb")
  seen(self);
  genuine_(self, device, dtype, non_blocking);
}

typedef void (*module_train)(void*, int);
EXPORT void devsan_train(void* self, int on) __asm__(MODULE "5trainEb");
void devsan_train(void* self, int on) {
  GENUINE(module_train, TORCH, MODULE "5trainEb")
  seen(self);
  genuine_(self, on);
}

/* Results of class type come through a hidden pointer, before `this`. */
typedef void* (*module_list)(void*, const void*, int);
EXPORT void* devsan_parameters(void* result, const void* self,
                               int recurse) __asm__(CONST_MODULE "10parametersEb");
void* devsan_parameters(void* result, const void* self, int recurse) {
  GENUINE(module_list, TORCH, CONST_MODULE "10parametersEb")
  seen(self);
  return genuine_(result, self, recurse);
}

EXPORT void* devsan_named_parameters(void* result, const void* self,
                                     int recurse) __asm__(CONST_MODULE
                                                          "16named_parametersB5cxx11Eb");
void* devsan_named_parameters(void* result, const void* self, int recurse) {
  GENUINE(module_list, TORCH, CONST_MODULE "16named_parametersB5cxx11Eb")
  seen(self);
  return genuine_(result, self, recurse);
}

/* Parameters of a module that is still being constructed, or never shows itself, have at least
 * their own name. By-value std::string and Tensor arguments come as pointers. */
typedef void* (*register_parameter)(void*, void*, void*, int);
EXPORT void* devsan_register_parameter(void* self, void* name, void* tensor,
                                       int requires_grad) __asm__(MODULE
                                                                  "18register_parameterE" STRING
                                                                  "N2at6TensorEb");
void* devsan_register_parameter(void* self, void* name, void* tensor, int requires_grad) {
  GENUINE(register_parameter, TORCH, MODULE "18register_parameterE" STRING "N2at6TensorEb")
  if (hooks.on_register) hooks.on_register(self, name, tensor);
  return genuine_(self, name, tensor, requires_grad);
}

typedef void* (*register_buffer)(void*, void*, void*);
EXPORT void* devsan_register_buffer(void* self, void* name,
                                    void* tensor) __asm__(MODULE "15register_bufferE" STRING
                                                                 "N2at6TensorE");
void* devsan_register_buffer(void* self, void* name, void* tensor) {
  GENUINE(register_buffer, TORCH, MODULE "15register_bufferE" STRING "N2at6TensorE")
  if (hooks.on_register) hooks.on_register(self, name, tensor);
  return genuine_(self, name, tensor);
}

/* ---- torch::optim::*::step(std::function<Tensor()>) -> Tensor
 * Reports say how many optimizer steps came before. Python's optimizers record themselves, these do
 * not. A program's own C++ optimizer is not counted. */
typedef void* (*optimizer_step)(void*, void*, void*);
#define STEP_OF(name)                                                                            \
  EXPORT void* devsan_step_of_##name(void* result, void* self, void* closure) __asm__(           \
      "_ZN5torch5optim" #name "4stepESt8functionIFN2at6TensorEvEE");                             \
  void* devsan_step_of_##name(void* result, void* self, void* closure) {                         \
    GENUINE(optimizer_step, TORCH, "_ZN5torch5optim" #name "4stepESt8functionIFN2at6TensorEvEE") \
    void* tensor = genuine_(result, self, closure);                                              \
    if (hooks.on_optimizer_step) hooks.on_optimizer_step();                                      \
    return tensor;                                                                               \
  }

STEP_OF(3SGD)
STEP_OF(4Adam)
STEP_OF(5AdamW)
STEP_OF(5LBFGS)
STEP_OF(7Adagrad)
STEP_OF(7RMSprop)
