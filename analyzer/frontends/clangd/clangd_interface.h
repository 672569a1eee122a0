// What we use of clangd. Its libraries are packaged, its headers are not: these declarations say
// what Transport.h, TidyProvider.h, ClangdMain.cpp and index/remote/Client.h of LLVM 19 to 22 say.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "clang-tidy/ClangTidyOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace clang::clangd {

int clangdMain(int argc, char* argv[]);

// Changes the options of clang-tidy for a file.
using TidyProvider = llvm::unique_function<void(tidy::ClangTidyOptions&, llvm::StringRef) const>;

// The connection to the editor.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual void notify(llvm::StringRef method, llvm::json::Value parameters) = 0;
  virtual void call(llvm::StringRef method, llvm::json::Value parameters, llvm::json::Value id) = 0;
  virtual void reply(llvm::json::Value id, llvm::Expected<llvm::json::Value> result) = 0;

  class MessageHandler;
  virtual llvm::Error loop(MessageHandler& handler) = 0;
};

enum JSONStreamStyle : unsigned;

class SymbolIndex {
 public:
  virtual ~SymbolIndex();
};

namespace remote {

std::unique_ptr<SymbolIndex> getClient(llvm::StringRef address, llvm::StringRef project_root);

}  // namespace remote
}  // namespace clang::clangd

// A function of clangd that is replaced: CMakeLists.txt gives the linker `--wrap` for each, which
// sends clangd's calls to DEVSAN_WRAPPER and leaves the original as DEVSAN_ORIGINAL.
#define DEVSAN_ORIGINAL(mangled) __asm__("__real_" mangled)
#define DEVSAN_WRAPPER(mangled) __asm__("__wrap_" mangled)
