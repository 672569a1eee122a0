// The arguments every parse shares, and clang's driver run in the process. How a compiler is set up
// is what differs most between LLVM 19 and 22.
#include "invocation.h"

#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/VirtualFileSystem.h"
#if LLVM_VERSION_MAJOR >= 22
#include "clang/Driver/CreateInvocationFromArgs.h"
#else
#include "clang/Frontend/Utils.h"
#endif

namespace devsan::lint {
namespace {

// Where there are no headers: launches as they are since CUDA 9.2.
const std::string kStandInVersion = "12.0";

#if LLVM_VERSION_MAJOR >= 22
llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> make_diagnostics(
    clang::DiagnosticOptions& options, llvm::vfs::FileSystem& files,
    clang::DiagnosticConsumer& messages) {
  return clang::CompilerInstance::createDiagnostics(files, options, &messages,
                                                    /*ShouldOwnClient=*/false);
}
#else
llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> make_diagnostics(
    clang::DiagnosticOptions& options, llvm::vfs::FileSystem&,
    clang::DiagnosticConsumer& messages) {
  options.Retain();  // it is the caller's
  return clang::CompilerInstance::createDiagnostics(&options, &messages, /*ShouldOwnClient=*/false);
}
#endif

}  // namespace

std::vector<std::string> shared_arguments(const FileFlags& flags) {
  std::vector<std::string> arguments{
      "-resource-dir", DEVSAN_CLANG_RESOURCE_DIR, "-std=" + flags.standard, "-fsyntax-only",
      // Also what clang makes an error of by default and GCC accepts.
      "-Wno-everything",
      // Errors are expected where dependencies are missing; guessing
      // what was meant is slow over a PCH.
      "-ferror-limit=0", "-fno-spell-checking"};
  arguments.insert(arguments.end(), flags.defines.begin(), flags.defines.end());
  if (flags.cuda) {
    // The host side, by headers that clang's driver does not look for: it wants a whole toolkit.
    arguments.insert(arguments.end(), {"--cuda-host-only", "-nocudainc", "-nocudalib", "-Xclang"});
    arguments.push_back("-target-sdk-version=" +
                        (flags.torch.cuda ? flags.torch.cuda->version : kStandInVersion));
  }
  if (flags.torch.cuda) {
    for (const std::string& folder : flags.torch.cuda->folders) {
      arguments.push_back("-isystem");
      arguments.push_back(folder);
    }
  }
  for (const std::string& folder : flags.torch.system_folders) {
    arguments.push_back("-isystem");
    arguments.push_back(folder);
  }
  return arguments;
}

std::unique_ptr<clang::CompilerInvocation> make_invocation(
    const std::vector<std::string>& arguments, std::string& error) {
  std::vector<const char*> words{"clang++"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  const auto files = llvm::vfs::getRealFileSystem();
  clang::DiagnosticOptions diagnostic_options;
  clang::TextDiagnosticBuffer messages;
  clang::CreateInvocationOptions options;
  options.VFS = files;
  options.Diags = make_diagnostics(diagnostic_options, *files, messages);
  auto invocation = clang::createInvocation(words, options);
  if (invocation == nullptr) {
    error = messages.err_begin() == messages.err_end() ? "clang refuses the flags"
                                                       : messages.err_begin()->second;
    return nullptr;
  }
  // Every tree is freed: one process parses many files.
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getPreprocessorOpts().AllowPCHWithCompilerErrors = true;
  return invocation;
}

std::unique_ptr<clang::CompilerInstance> make_compiler(
    std::unique_ptr<clang::CompilerInvocation> invocation,
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, clang::DiagnosticConsumer& messages) {
#if LLVM_VERSION_MAJOR >= 22
  auto compiler = std::make_unique<clang::CompilerInstance>(
      std::shared_ptr<clang::CompilerInvocation>(std::move(invocation)));
  compiler->setVirtualFileSystem(std::move(files));
  compiler->createDiagnostics(&messages, /*ShouldOwnClient=*/false);
  compiler->createFileManager();
  compiler->createSourceManager();
#else
  auto compiler = std::make_unique<clang::CompilerInstance>();
  compiler->setInvocation(std::shared_ptr<clang::CompilerInvocation>(std::move(invocation)));
  compiler->createDiagnostics(&messages, /*ShouldOwnClient=*/false);
  compiler->createFileManager(std::move(files));
  compiler->createSourceManager(compiler->getFileManager());
#endif
  return compiler;
}

}  // namespace devsan::lint
