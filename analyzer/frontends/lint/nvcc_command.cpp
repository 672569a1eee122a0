// A table of nvcc's names, and the options that hold others.
#include "nvcc_command.h"

#include <filesystem>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"
#include "placement/clang_compat.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

// How GCC calls an option that nvcc writes with a value; empty for those that are dropped with it.
std::optional<llvm::StringRef> short_name(llvm::StringRef option) {
  return StringSwitch<std::optional<llvm::StringRef>>(option)
      .Cases({"-I", "--include-path"}, "-I")
      .Cases({"-isystem", "--system-include"}, "-isystem")
      .Cases({"-include", "--pre-include"}, "-include")
      .Cases({"-D", "--define-macro"}, "-D")
      .Cases({"-U", "--undefine-macro"}, "-U")
      .Cases({"-std", "--std"}, "-std=")
      .Cases({"-x", "--x"}, "-x")
      .Cases({"-gencode", "--generate-code", "-arch", "--gpu-architecture"}, "")
      .Cases({"-code", "--gpu-code", "-ccbin", "--compiler-bindir", "-o", "--output-file"}, "")
      .Cases({"-Xptxas", "--ptxas-options", "-Xcudafe", "-Xlinker", "--linker-options"}, "")
      .Cases({"-Xfatbin", "-Xnvlink", "-Xarchive", "-diag-suppress", "--diag-suppress"}, "")
      .Cases({"-t", "--threads", "-maxrregcount", "--maxrregcount", "-MF", "-MT"}, "")
      .Default(std::nullopt);
}

bool is_for_host(llvm::StringRef option) {
  return option == "-Xcompiler" || option == "--compiler-options";
}

bool is_options_file(llvm::StringRef option) {
  return option == "-optf" || option == "--options-file";
}

class Translation {
 public:
  explicit Translation(const std::string& folder) : folder_(folder) {}

  void add(llvm::ArrayRef<std::string> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto [option, joined] = llvm::StringRef(words[i]).split('=');
      const bool is_joined = option.size() < words[i].size();
      const auto name = short_name(option);
      if (!name && !is_for_host(option) && !is_options_file(option)) {
        result.push_back(words[i]);
        continue;
      }
      if (!is_joined && i + 1 == words.size()) return;
      const std::string value = is_joined ? joined.str() : words[++i];
      if (is_for_host(option)) {
        add_list(value);
      } else if (is_options_file(option)) {
        add_file(value);
      } else if (!name->empty()) {
        result.push_back(name->str() + value);
      }
    }
  }

  std::vector<std::string> result;

 private:
  // "-fPIC,-DFOO", perhaps in quotes of its own.
  void add_list(llvm::StringRef list) {
    llvm::SmallVector<llvm::StringRef, 8> words;
    list.trim("\"'").split(words, ',', -1, /*KeepEmpty=*/false);
    for (const llvm::StringRef word : words) {
      llvm::SmallVector<llvm::StringRef, 8> parts;
      word.split(parts, ' ', -1, /*KeepEmpty=*/false);
      for (const llvm::StringRef part : parts) result.push_back(part.str());
    }
  }

  void add_file(const std::string& name) {
    const fs::path path = fs::path(name).is_absolute() ? fs::path(name) : fs::path(folder_) / name;
    const auto buffer = llvm::MemoryBuffer::getFile(path.string());
    if (!buffer) return;
    llvm::BumpPtrAllocator memory;
    llvm::StringSaver saver(memory);
    llvm::SmallVector<const char*, 32> words;
    llvm::cl::TokenizeGNUCommandLine((*buffer)->getBuffer(), saver, words);
    add(std::vector<std::string>(words.begin(), words.end()));
  }

  const std::string& folder_;
};

// Behind a launcher like ccache too.
llvm::ArrayRef<std::string> from_nvcc_on(llvm::ArrayRef<std::string> command) {
  for (std::size_t i = 0; i < command.size() && i < 2; ++i) {
    if (fs::path(command[i]).stem() == "nvcc") return command.drop_front(i);
  }
  return {};
}

}  // namespace

bool is_nvcc(llvm::ArrayRef<std::string> command) {
  return !from_nvcc_on(command).empty();
}

std::vector<std::string> from_nvcc(llvm::ArrayRef<std::string> command, const std::string& folder) {
  Translation translation(folder);
  translation.add(from_nvcc_on(command).drop_front());
  return std::move(translation.result);
}

std::optional<std::string> toolkit_of_nvcc(llvm::ArrayRef<std::string> command) {
  const fs::path nvcc(from_nvcc_on(command).front());
  if (!nvcc.is_absolute()) return std::nullopt;
  return (nvcc.parent_path().parent_path() / "include").string();
}

}  // namespace devsan::lint
