// Where the batches of a data loader are.
#pragma once

#include "clang/AST/DeclCXX.h"

namespace devsan::lint {

// True when `loader`, a torch::data::DataLoaderBase, reads a dataset whose examples are on the CPU:
// one of LibTorch's that reads files, or a class of the project that was wholly seen and names no
// device.
bool loads_on_cpu(const clang::CXXRecordDecl& loader);

}  // namespace devsan::lint
