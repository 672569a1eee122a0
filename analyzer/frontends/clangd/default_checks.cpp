// Puts the rules into the checks of every file, and among those that clangd holds for quick.
#include "default_checks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "clangd_interface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace devsan::lint {

std::string with_devsan_checks(llvm::StringRef checks) {
  llvm::SmallVector<llvm::StringRef, 16> items;
  llvm::SplitString(checks, items, ", \n");
  if (llvm::none_of(items, [](llvm::StringRef item) { return item.starts_with("devsan-"); })) {
    const auto last = std::find(items.rbegin(), items.rend(), "-*");
    items.insert(last.base(), "devsan-*");
  }
  return llvm::join(items, ",");
}

}  // namespace devsan::lint

namespace clang::clangd {

// The last to see the list: the user's files and clangd's defaults are in it.
TidyProvider original_disable_unusable_checks(llvm::ArrayRef<std::string> more)
    DEVSAN_ORIGINAL(DEVSAN_DISABLE_UNUSABLE_CHECKS);
TidyProvider disable_unusable_checks(llvm::ArrayRef<std::string> more)
    DEVSAN_WRAPPER(DEVSAN_DISABLE_UNUSABLE_CHECKS);

TidyProvider disable_unusable_checks(llvm::ArrayRef<std::string> more) {
  return [disable = original_disable_unusable_checks(more)](tidy::ClangTidyOptions& options,
                                                            llvm::StringRef file) {
    options.Checks = devsan::lint::with_devsan_checks(options.Checks.value_or(""));
    disable(options, file);
  };
}

// A check of unknown speed does not run by default. Ours are measured: tests/benchmarks.
std::optional<bool> original_is_fast_check(llvm::StringRef check)
    DEVSAN_ORIGINAL(DEVSAN_IS_FAST_TIDY_CHECK);
std::optional<bool> is_fast_check(llvm::StringRef check) DEVSAN_WRAPPER(DEVSAN_IS_FAST_TIDY_CHECK);

std::optional<bool> is_fast_check(llvm::StringRef check) {
  return check.starts_with("devsan-") ? true : original_is_fast_check(check);
}

}  // namespace clang::clangd
