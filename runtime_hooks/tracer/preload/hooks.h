/* What the preloaded library tells the tracer: one table of functions, shared by C and C++.
 *
 * The preloaded library stands before libtorch in symbol resolution and calls through this table;
 * the tracer, opened later, fills it. Every pointer may be null. Pointers to C++ objects are passed
 * as they come: only the tracer, which is compiled for the running PyTorch, looks into them. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct devsan_tracer_hooks {
  /* A C++ exception is thrown: the object and its std::type_info. */
  void (*on_throw)(void* object, void* type);
  /* c10::impl::common_device_check_failure(common device, tensor, method, argument name). */
  void (*on_device_check)(uint16_t common, const void* tensor, const char* method,
                          const char* argument);
  /* A torch::nn::Module was moved or asked for its parameters. */
  void (*on_module)(const void* module);
  /* A parameter or buffer was registered: module, std::string name, at::Tensor. */
  void (*on_register)(const void* module, const void* name, const void* tensor);
  /* An optimizer of torch::optim has finished a step. */
  void (*on_optimizer_step)(void);
};

/* Exported by libdevsan_preload.so. */
typedef void (*devsan_set_hooks)(const struct devsan_tracer_hooks* hooks);
#define DEVSAN_SET_HOOKS "devsan_preload_set_hooks"

#ifdef __cplusplus
}
#endif
