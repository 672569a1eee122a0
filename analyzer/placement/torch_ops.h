// What LibTorch's functions do with the devices of their arguments, by name.
#pragma once

#include "clang/AST/Decl.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

// zeros, arange, from_blob, ...: makes a tensor on the device of its options, else on the CPU.
bool is_factory(const clang::FunctionDecl& function);

// zeros_like, rand_like, ...: makes a tensor where its first argument is.
bool is_like_factory(llvm::StringRef name);

// new_zeros, new_full, ...: methods that make a tensor where the object is.
bool is_new_factory(llvm::StringRef method);

// An op whose tensors must share a device. False for those that take any (copy_, index, shapes
// only), and for what is no op (utilities, initialisers, serialisation).
bool needs_one_device(const clang::FunctionDecl& function);

// An op on elements: a CPU tensor without dimensions may stand beside CUDA tensors.
bool works_on_elements(llvm::StringRef name);

// Ops that keep the dimensions of what they are given: a result has some when an argument has.
bool keeps_rank(llvm::StringRef name);

// Reductions that, called without a dimension, leave none: sum, mean, max, ...
bool reduces_to_scalar(llvm::StringRef name);

}  // namespace devsan::lint
