// Refuses a clang-tidy of another LLVM than the one that the checks were built for: it would call
// code that is laid out in another way.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "clang/Basic/Version.h"

namespace {

// "Debian clang version 19.1.7 (3~deb12u1)" has 19.
std::string major_version() {
  const std::string text = clang::getClangFullVersion();
  const std::string before = "version ";
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "of an unknown version";
  return text.substr(begin + before.size(), text.find('.', begin) - begin - before.size());
}

// Before the checks register themselves, and so before anything else of LLVM is called.
[[gnu::constructor(101)]] void refuse_another_llvm() {
  const std::string version = major_version();
  if (version == std::to_string(CLANG_VERSION_MAJOR)) return;
  std::fprintf(stderr,
               "DevSan's checks are built for clang-tidy %d; this is %s. Build DevSan with "
               "-DDEVSAN_LLVM_MAJOR=%s, or use clang-tidy-%d\n",
               CLANG_VERSION_MAJOR, version.c_str(), version.c_str(), CLANG_VERSION_MAJOR);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace
