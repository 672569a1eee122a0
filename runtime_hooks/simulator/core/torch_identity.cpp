// Build ids of loaded libraries, and their comparison.
#include "simulator/core/torch_identity.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace devsan::sim {
namespace {

constexpr std::string_view kTorchLibraries[] = {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so",
                                                "libtorch_cuda.so"};

#include "torch_identities.inc"

std::string hex(const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

// The NT_GNU_BUILD_ID note of one notes segment, or empty.
std::string build_id_in(const char* notes, std::size_t bytes) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::size_t name = at + sizeof header;
    const std::size_t description = name + aligned(header.n_namesz);
    const std::size_t next = description + aligned(header.n_descsz);
    if (next > bytes) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      return hex(reinterpret_cast<const unsigned char*>(notes + description), header.n_descsz);
    }
    at = next;
  }
  return {};
}

int visit(dl_phdr_info* info, std::size_t, void* data) {
  const std::filesystem::path path = info->dlpi_name;
  const std::string name = path.filename();
  if (std::find(std::begin(kTorchLibraries), std::end(kTorchLibraries), name) ==
      std::end(kTorchLibraries)) {
    return 0;
  }
  LibraryId library{name, {}, path};
  for (int i = 0; i < info->dlpi_phnum && library.build_id.empty(); ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    library.build_id = build_id_in(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr),
                                   header.p_memsz);
  }
  static_cast<std::vector<LibraryId>*>(data)->push_back(std::move(library));
  return 0;
}

const LibraryId* find_library(std::span<const LibraryId> libraries, std::string_view name) {
  const auto found = std::find_if(libraries.begin(), libraries.end(),
                                  [&](const LibraryId& library) { return library.name == name; });
  return found == libraries.end() ? nullptr : &*found;
}

// The release as the installation says it, for the message alone: torch/version.py of a wheel,
// build-version of a LibTorch archive.
std::string installed_version(const std::filesystem::path& library) {
  const std::filesystem::path root = library.parent_path().parent_path();
  std::string line;
  std::ifstream wheel(root / "version.py");
  while (std::getline(wheel, line)) {
    if (!line.starts_with("__version__ = '")) continue;
    const auto first = line.find('\'') + 1;
    return line.substr(first, line.find('\'', first) - first);
  }
  std::ifstream archive(root / "build-version");
  return std::getline(archive, line) ? line : "of an unknown release";
}

}  // namespace

std::span<const TorchIdentity> supported_torches() {
  return kSupportedTorches;
}

std::vector<LibraryId> loaded_torch_libraries() {
  std::vector<LibraryId> libraries;
  dl_iterate_phdr(&visit, &libraries);
  return libraries;
}

const TorchIdentity* match_torch(std::span<const TorchIdentity> supported,
                                 std::span<const LibraryId> loaded) {
  for (const TorchIdentity& torch : supported) {
    const bool same =
        std::all_of(torch.libraries.begin(), torch.libraries.end(), [&](const LibraryId& wanted) {
          const LibraryId* running = find_library(loaded, wanted.name);
          return running != nullptr && !wanted.build_id.empty() &&
                 running->build_id == wanted.build_id;
        });
    if (same && !torch.libraries.empty()) return &torch;
  }
  return nullptr;
}

std::string describe_mismatch(std::span<const TorchIdentity> supported,
                              std::span<const LibraryId> loaded) {
  std::string known;
  for (const TorchIdentity& torch : supported) {
    known += known.empty() ? "" : ", ";
    known += "torch " + std::string(torch.version) + " (git " +
             std::string(torch.git_version.substr(0, 12)) + ")";
  }
  const LibraryId* running = find_library(loaded, "libtorch_cpu.so");
  const std::string version =
      running != nullptr ? installed_version(running->path) : "of an unknown release";
  const std::string id =
      running != nullptr && !running->build_id.empty() ? running->build_id : "none";
  const std::string path = running != nullptr ? running->path : "an unknown place";
  return "this program runs torch " + version + " (build id " + id + ", from " + path +
         "); the simulator was built for " + known;
}

}  // namespace devsan::sim
