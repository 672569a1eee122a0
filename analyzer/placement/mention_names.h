// What the functions do, by name, that a member of a module is given to or called with.
#pragma once

#include "clang/AST/Decl.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

// Methods of Tensor that only tell about it, read it on the host, or take it elsewhere.
bool asks_tensor(llvm::StringRef method);

// Functions that take a tensor for its shape, or on any device.
bool takes_any_device(llvm::StringRef function);

bool asks_module(llvm::StringRef method);

bool fills(llvm::StringRef method);

bool asks_container(llvm::StringRef method);

bool gives_element(llvm::StringRef method);

// `register_module("head", head.ptr())`
bool gives_itself(llvm::StringRef method);

// Puts what it is given into something else that stands for it: the states of an LSTM.
bool wraps(const clang::FunctionDecl* function);

}  // namespace devsan::lint
