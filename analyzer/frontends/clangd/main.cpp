// devsan-clangd: the stock clangd with the rules linked in. What differs is here, in default_checks
// and in docs_links.
#include <functional>

#include "clangd_interface.h"
#include "llvm/Support/CommandLine.h"

namespace clang::clangd {

using PrintVersion = std::function<void(llvm::raw_ostream&)>;
void original_set_version_printer(PrintVersion print) DEVSAN_ORIGINAL(DEVSAN_SET_VERSION_PRINTER);
void set_version_printer(PrintVersion print) DEVSAN_WRAPPER(DEVSAN_SET_VERSION_PRINTER);

void set_version_printer(PrintVersion print) {
  original_set_version_printer([print = std::move(print)](llvm::raw_ostream& out) {
    print(out);
    out << "devsan " DEVSAN_VERSION ": checks devsan-* are on\n";
  });
}

namespace remote {

// The only part of clangd that is left out: it needs gRPC.
std::unique_ptr<SymbolIndex> getClient(llvm::StringRef address, llvm::StringRef) {
  llvm::errs() << "devsan-clangd: no remote index (" << address << "); the stock clangd has one\n";
  return nullptr;
}

}  // namespace remote
}  // namespace clang::clangd

int main(int argc, char** argv) {
  // clangd looks for clang's own headers beside itself, where a program of ours has none.
  auto* resource_dir = static_cast<llvm::cl::opt<std::string>*>(
      llvm::cl::getRegisteredOptions().lookup("resource-dir"));
  resource_dir->setInitialValue(DEVSAN_CLANG_RESOURCE_DIR);
  return clang::clangd::clangdMain(argc, argv);
}
