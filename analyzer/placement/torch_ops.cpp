// Tables of names. What is not in one of them is an ordinary op.
#include "torch_ops.h"

#include "clang/AST/DeclCXX.h"
#include "clang_compat.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

bool in_namespace(const clang::FunctionDecl& function, llvm::StringRef name) {
  for (const clang::DeclContext* context = function.getDeclContext(); context != nullptr;
       context = context->getParent()) {
    if (plain_name(llvm::dyn_cast<clang::NamespaceDecl>(context)) == name) return true;
  }
  return false;
}

}  // namespace

bool is_factory(const clang::FunctionDecl& function) {
  if (!function.getDeclContext()->isNamespace() || !is_of_libtorch(function)) return false;
  return StringSwitch<bool>(plain_name(&function))
      .Cases({"zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm"}, true)
      .Cases({"arange", "range", "linspace", "logspace", "eye", "tensor", "scalar_tensor"}, true)
      .Cases({"from_blob", "empty_strided", "hann_window", "hamming_window", "kaiser_window"}, true)
      .Cases({"blackman_window", "bartlett_window", "tril_indices", "triu_indices"}, true)
      .Default(false);
}

bool is_like_factory(llvm::StringRef name) {
  return name.ends_with("_like");
}

bool is_new_factory(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"}, true)
      .Cases({"new_empty_strided", "new_blob"}, true)
      .Default(false);
}

bool needs_one_device(const clang::FunctionDecl& function) {
  if (!is_of_libtorch(function)) return false;
  for (const llvm::StringRef space : {"init", "utils", "parallel", "jit", "serialize", "autograd",
                                      "cuda", "data", "optim", "comm", "native", "indexing"}) {
    if (in_namespace(function, space)) return false;
  }
  const llvm::StringRef name = plain_name(&function);
  if (is_like_factory(name) || is_new_factory(name) || name.starts_with("_")) return false;
  return !StringSwitch<bool>(name)
              .Cases({"copy_", "index", "index_put", "index_put_", "to", "type_as"}, true)
              .Cases({"expand_as", "view_as", "reshape_as", "resize_as_", "sum_to_size"}, true)
              .Cases({"set_data", "set_", "swap", "is_same", "is_set_to", "is_alias_of"}, true)
              .Cases({"save", "load", "save_to", "load_from", "result_type", "can_cast"}, true)
              .Cases({"promote_types", "tensor_split", "repeat_interleave", "ctc_loss"}, true)
              .Cases({"device_of", "backward", "register_hook", "print", "tensor", "from_blob"},
                     true)
              .Cases({"register_buffer", "register_parameter", "register_module"}, true)
              .Cases({"split_with_sizes", "data_parallel", "check_device", "sparse_coo_tensor"},
                     true)
              .Default(false);
}

bool works_on_elements(llvm::StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_", "pow", "pow_"}, true)
      .Cases({"operator+", "operator-", "operator*", "operator/", "operator%"}, true)
      .Cases({"eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "max", "min"}, true)
      .Cases({"where", "masked_fill", "masked_fill_", "fill_", "clamp", "clamp_", "lerp"}, true)
      .Cases({"atan2", "fmod", "remainder", "floor_divide", "logical_and", "logical_or"}, true)
      .Cases({"addcmul", "addcmul_", "addcdiv", "addcdiv_", "true_divide", "multiply"}, true)
      .Cases({"divide", "subtract", "hypot", "copysign", "bitwise_and", "bitwise_or"}, true)
      .Default(name.empty());
}

bool keeps_rank(llvm::StringRef name) {
  name.consume_back("_");
  return works_on_elements(name) ||
         StringSwitch<bool>(name)
             .Cases({"to", "cpu", "cuda", "contiguous", "clone", "detach", "toType"}, true)
             .Cases({"type", "float", "half", "double", "long", "int", "type_as"}, true)
             .Cases({"relu", "gelu", "silu", "sigmoid", "tanh", "exp", "log", "sqrt"}, true)
             .Cases({"rsqrt", "abs", "neg", "square", "softmax", "log_softmax"}, true)
             .Cases({"cumsum", "flip", "roll", "sort", "tril", "triu", "pin_memory"}, true)
             .Cases({"requires_grad", "set_requires_grad", "zero", "fill", "copy"}, true)
             .Cases({"view", "reshape", "unsqueeze", "permute", "transpose", "expand"}, true)
             .Cases({"repeat", "flatten", "t", "cat", "stack", "matmul", "unsqueeze"}, true)
             .Cases({"uniform", "normal", "random", "bernoulli", "linear", "conv2d"}, true)
             .Default(false);
}

bool reduces_to_scalar(llvm::StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"sum", "mean", "max", "min", "prod", "std", "var", "norm", "median"}, true)
      .Cases({"all", "any", "argmax", "argmin", "dot", "trace", "nansum", "logsumexp"}, true)
      .Default(false);
}

}  // namespace devsan::lint
