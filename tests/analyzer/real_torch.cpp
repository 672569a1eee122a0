// Flags and PCH of the LibTorch in .deps/venv.
#include "real_torch.h"

#include "invocation.h"

namespace devsan::lint::test {

FileFlags real_torch_flags() {
  FileFlags flags;
  flags.standard = "gnu++17";
  flags.torch = find_torch(DEVSAN_TORCH_FOR_TESTS);
  return flags;
}

std::string real_torch_pch() {
  static HeaderCache cache(/*use_cache=*/true);
  return cache.pch_for(real_torch_flags(), HeaderSet::kTorch);
}

std::vector<std::string> real_torch_arguments() {
  std::vector<std::string> arguments = shared_arguments(real_torch_flags());
  arguments.insert(arguments.end(), {"-include-pch", real_torch_pch()});
  return arguments;
}

}  // namespace devsan::lint::test
