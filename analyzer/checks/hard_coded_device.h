// Rule hard-coded-device: a literal decides where a tensor or a module lives.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclBase.h"
#include "diagnostic.h"
#include "llvm/ADT/ArrayRef.h"

namespace devsan::lint {

inline constexpr const char* kHardCodedDevice = "hard-coded-device";

struct HardCodedDeviceOptions {
  bool set_up_and_tests = false;  // say so there too, as notes
  std::string project_root;       // what is below it is asked whether it is a test's path
};

void check_hard_coded_devices(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                              const HardCodedDeviceOptions& options, Report report);

}  // namespace devsan::lint
