// Clang's own command for a file or for the header PCH, made from our flags.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "compile_flags.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace devsan::lint {

// The flags that the PCH and every file that uses it must share; a PCH is keyed by these.
std::vector<std::string> shared_arguments(const FileFlags& flags);

// `arguments` without a program's name. Null when clang's driver refuses them, with why in `error`.
std::unique_ptr<clang::CompilerInvocation> make_invocation(
    const std::vector<std::string>& arguments, std::string& error);

// Ready to execute an action on what `files` has. It tells `messages`, which must outlive it.
std::unique_ptr<clang::CompilerInstance> make_compiler(
    std::unique_ptr<clang::CompilerInvocation> invocation,
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, clang::DiagnosticConsumer& messages);

}  // namespace devsan::lint
