// The lists of names.
#include "mention_names.h"

#include "clang_compat.h"
#include "torch_types.h"

namespace devsan::lint {

bool asks_tensor(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"to", "cpu", "cuda", "item", "data_ptr", "const_data_ptr", "mutable_data_ptr"}, true)
      .Cases({"accessor", "packed_accessor", "packed_accessor32", "packed_accessor64"}, true)
      .Cases({"device", "options", "defined", "size", "sizes", "dim", "numel", "stride"}, true)
      .Cases({"dtype", "scalar_type", "requires_grad", "is_cuda", "is_cpu", "get_device"}, true)
      .Cases({"requires_grad_", "set_requires_grad", "print", "toString", "grad", "use_count"},
             true)
      .Cases({"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "reset"}, true)
      .Cases({"itemsize", "nbytes", "is_same", "is_contiguous", "storage", "layout"}, true)
      .Default(false);
}

bool takes_any_device(llvm::StringRef function) {
  return function.ends_with("_like") ||
         StringSwitch<bool>(function)
             .Cases({"index", "index_put_", "index_put", "copy_", "to", "type_as", "view_as"}, true)
             .Cases({"expand_as", "reshape_as", "save", "print", "write", "equal"}, true)
             .Default(false);
}

bool asks_module(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"parameters", "named_parameters", "buffers", "named_buffers", "children"}, true)
      .Cases({"named_children", "modules", "named_modules", "apply", "pretty_print"}, true)
      .Cases({"train", "eval", "zero_grad", "is_training", "save", "load", "get", "ptr"}, true)
      .Cases({"is_empty", "size", "name", "reset_parameters"}, true)
      .Default(false);
}

bool fills(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"push_back", "emplace_back", "insert", "emplace", "push_front", "extend"}, true)
      .Default(false);
}

bool asks_container(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"size", "empty", "reserve", "begin", "end", "cbegin", "cend", "find", "count"}, true)
      .Default(false);
}

bool gives_element(llvm::StringRef method) {
  return StringSwitch<bool>(method)
      .Cases({"at", "back", "front", "operator[]"}, true)
      .Default(false);
}

bool gives_itself(llvm::StringRef method) {
  return method == "ptr" || method == "get";
}

bool wraps(const clang::FunctionDecl* function) {
  return function != nullptr && function->isInStdNamespace() &&
         StringSwitch<bool>(plain_name(function))
             .Cases({"make_tuple", "make_pair", "make_optional", "as_const", "move"}, true)
             .Default(false);
}

}  // namespace devsan::lint
