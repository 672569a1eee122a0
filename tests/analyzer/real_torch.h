// LibTorch's real headers for the tests that hold the mock against them: found where ci/setup put
// them, read as a PCH that devsan-lint's own header cache makes.
#pragma once

#include <string>
#include <vector>

#include "compile_flags.h"
#include "header_cache.h"

namespace devsan::lint::test {

// Flags of a file that nothing is known of but that it uses this LibTorch.
FileFlags real_torch_flags();

// The path of the PCH for these flags. Made once a run; between runs it is in the cache folder.
std::string real_torch_pch();

// What clang is given to parse code as devsan-lint does, torch/torch.h already included.
std::vector<std::string> real_torch_arguments();

}  // namespace devsan::lint::test
