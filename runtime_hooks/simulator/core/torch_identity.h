// Which PyTorch a program runs, told by the linker's build ids of its libraries: they name the very
// build (release, commit, compiler, string ABI, CUDA release), survive installation and stripping,
// and can be read in any process without calling PyTorch. A library that was compiled against
// another build loads cleanly and then corrupts memory, so this is asked before anything of PyTorch
// is touched.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace devsan::sim {

struct LibraryId {
  std::string name;      // "libtorch_cpu.so"
  std::string build_id;  // hexadecimal; empty if the library has none
  std::string path;      // where it was loaded from; empty in what is expected
};

struct TorchIdentity {
  std::string_view version;      // "2.11.0"
  std::string_view git_version;  // the commit
  std::string_view redirect;     // file name of the kernel redirect compiled against it
  std::span<const LibraryId> libraries;
};

// The builds of PyTorch that this simulator has a kernel redirect for.
std::span<const TorchIdentity> supported_torches();

// Those libraries of PyTorch that are loaded in this process.
std::vector<LibraryId> loaded_torch_libraries();

// The one of `supported` whose libraries are all among `loaded` with the same build ids; null if
// none.
const TorchIdentity* match_torch(std::span<const TorchIdentity> supported,
                                 std::span<const LibraryId> loaded);

// One line for a program whose PyTorch is not supported: what it runs, from where, and what is.
std::string describe_mismatch(std::span<const TorchIdentity> supported,
                              std::span<const LibraryId> loaded);

}  // namespace devsan::sim
