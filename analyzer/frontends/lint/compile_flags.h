// The flags a file is parsed with: from compile_commands.json, or worked out from the tree; in both
// cases reduced to what an analysis needs, so that one header PCH serves every file of a project.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "torch_location.h"

namespace clang::tooling {
class CompilationDatabase;
}

namespace devsan::lint {

struct FileFlags {
  std::string standard;  // "gnu++17", "gnu++20", ...
  std::vector<std::string>
      defines;                    // -D and -U that LibTorch's headers may ask for: part of the PCH
  std::vector<std::string> rest;  // -I, -isystem, -include, other -D: the file's own
  TorchLocation torch;            // the one the commands name, else the one found
  bool cuda = false;              // a CUDA file, of which the host side is read
  bool inferred = false;
};

// Drops what changes code generation, warnings and outputs, keeps where headers are and what is
// defined. Paths become absolute by `folder`, the command's working directory. The command may be
// nvcc's.
FileFlags normalise_flags(llvm::ArrayRef<std::string> command, const std::string& folder,
                          const TorchLocation& torch);

// Flags for files of which no compile command is known, by looking at the project around `file`.
// They hold for its whole folder: whether one is CUDA is not said.
FileFlags infer_flags(const std::string& file, const std::string& project_root,
                      const TorchLocation& torch);

// Answers for every file of a run; compile databases are read once each. Used by one thread.
class FlagSource {
 public:
  // `build_folder` is what -p says, may be empty. Throws std::invalid_argument when it is given and
  // holds no compile_commands.json that can be read.
  FlagSource(std::string build_folder, TorchLocation torch);

  FileFlags flags_for(const std::string& file);

 private:
  using Database = std::shared_ptr<clang::tooling::CompilationDatabase>;
  Database database_for(const std::string& file);
  Database load(const std::string& folder);

  TorchLocation torch_;
  Database given_;
  // By the folder of a source file; null where there is none.
  std::map<std::string, Database> by_folder_;
  std::map<std::string, FileFlags> inferred_;  // by the same
};

}  // namespace devsan::lint
