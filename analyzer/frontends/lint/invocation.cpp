// The arguments every parse shares, and clang's driver run in the process.
#include "invocation.h"

#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace devsan::lint {

std::vector<std::string> shared_arguments(const FileFlags& flags) {
  std::vector<std::string> arguments{
      "-resource-dir", DEVSAN_CLANG_RESOURCE_DIR, "-std=" + flags.standard, "-fsyntax-only",
      // Also what clang makes an error of by default and GCC accepts.
      "-Wno-everything",
      // Errors are expected where dependencies are missing; guessing
      // what was meant is slow over a PCH.
      "-ferror-limit=0", "-fno-spell-checking"};
  arguments.insert(arguments.end(), flags.defines.begin(), flags.defines.end());
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
  options.Diags = clang::CompilerInstance::createDiagnostics(*files, diagnostic_options, &messages,
                                                             /*ShouldOwnClient=*/false);
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

}  // namespace devsan::lint
