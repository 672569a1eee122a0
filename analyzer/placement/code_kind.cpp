// Module, library, set-up or test: by the declarations around a place and by its path.
#include "code_kind.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang_compat.h"
#include "llvm/Support/Path.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

bool defines_main(const clang::Decl* declaration) {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
  return function != nullptr && function->isMain() && function->doesThisDeclarationHaveABody();
}

// main, or a function that is handed what main is handed: (int, char**).
bool takes_command_line(const clang::FunctionDecl& function) {
  if (function.isMain()) return true;
  for (unsigned i = 0; i + 1 < function.getNumParams(); ++i) {
    const clang::QualType words = function.getParamDecl(i + 1)->getType();
    if (function.getParamDecl(i)->getType()->isIntegerType() && words->isPointerType() &&
        words->getPointeeType()->isPointerType() &&
        words->getPointeeType()->getPointeeType()->isCharType()) {
      return true;
    }
  }
  return false;
}

// A class named as one of settings: TORCH_ARG gives it methods, so its name is what tells.
bool is_named_configuration(const clang::CXXRecordDecl& record) {
  const llvm::StringRef name = plain_name(&record);
  for (const llvm::StringRef ending :
       {"Options", "Config", "Configuration", "Args", "Arguments", "Params", "Settings"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

// Is handed the program's own parsed options, and no tensor: it turns choices into objects.
// LibTorch's classes of options (TensorOptions, LinearOptions) describe one object and tell
// nothing.
bool takes_configuration(const clang::FunctionDecl& function) {
  if (takes_tensor(function)) return false;
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    const clang::CXXRecordDecl* record = record_of(parameter->getType());
    if (record != nullptr && is_named_configuration(*record) && !is_of_libtorch(*record))
      return true;
  }
  return false;
}

// A member of a struct that is nothing but data: its initialiser is a default to be overwritten.
bool is_plain_field(const clang::Decl* declaration) {
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(declaration);
  const auto* record =
      field == nullptr ? nullptr : llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent());
  return record != nullptr && record->isCompleteDefinition() && !record->isDependentContext() &&
         record->isAggregate();
}

bool in_test_macro(clang::SourceLocation place, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  while (place.isMacroID()) {
    const llvm::StringRef macro =
        clang::Lexer::getImmediateMacroName(place, sources, context.getLangOpts());
    const bool test = StringSwitch<bool>(macro)
                          .Cases({"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"}, true)
                          .Cases({"TEST_CASE", "SCENARIO", "BENCHMARK", "BENCHMARK_F"}, true)
                          .Cases({"BOOST_AUTO_TEST_CASE", "BOOST_FIXTURE_TEST_CASE"}, true)
                          .Default(false);
    if (test) return true;
    place = sources.getImmediateMacroCallerLoc(place);
  }
  return false;
}

}  // namespace

bool is_test_path(llvm::StringRef path) {
  const llvm::StringRef stem = llvm::sys::path::stem(path);
  if (stem.starts_with("test_") || stem.starts_with("bench_") || stem.ends_with("_test") ||
      stem.ends_with("_tests") || stem.ends_with("_unittest") || stem.ends_with("_bench") ||
      stem.ends_with("_benchmark") || stem.ends_with("Test") || stem == "test") {
    return true;
  }
  const llvm::StringRef folders = llvm::sys::path::parent_path(path);
  for (auto part = llvm::sys::path::begin(folders); part != llvm::sys::path::end(folders); ++part) {
    const bool test = StringSwitch<bool>(*part)
                          .Cases({"test", "tests", "testing", "unittest", "unittests"}, true)
                          .Cases({"bench", "benchmark", "benchmarks"}, true)
                          .Default(false);
    if (test) return true;
  }
  return false;
}

CodeKinds::CodeKinds(const clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                     std::string project_root)
    : context_(context), project_root_(std::move(project_root)) {
  for (const clang::Decl* declaration : declarations) {
    main_file_is_program_ |= defines_main(declaration);
  }
}

bool CodeKinds::in_test_file(clang::SourceLocation place) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(place));
  const clang::OptionalFileEntryRef entry = sources.getFileEntryRefForID(file);
  if (!entry) return false;
  llvm::StringRef path = entry->getName();
  if (!project_root_.empty()) path.consume_front(project_root_);
  return is_test_path(path);
}

CodeKind CodeKinds::of(llvm::ArrayRef<const clang::Decl*> enclosing,
                       clang::SourceLocation place) const {
  if (in_test_file(place)) return CodeKind::kTest;
  bool module = false;
  bool set_up = false;
  bool computes = false;
  for (const clang::Decl* declaration : enclosing) {
    if (in_test_macro(declaration->getBeginLoc(), context_)) return CodeKind::kTest;
    const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(declaration);
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(declaration)) {
      record = method->getParent();  // a method that is defined outside its class
    }
    if (record != nullptr) {
      if (derives_from(record, "testing", "Test")) return CodeKind::kTest;
      module |= is_module_class(record);
      set_up |= is_named_configuration(*record);
    }
    set_up |= is_plain_field(declaration);
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      set_up |= takes_command_line(*function) || takes_configuration(*function);
      computes |= takes_tensor(*function);
    }
  }
  if (module) return CodeKind::kModule;
  // In a program's own file, what is handed tensors computes; the rest sets up.
  const clang::SourceManager& sources = context_.getSourceManager();
  const bool of_program =
      main_file_is_program_ && sources.isInMainFile(sources.getExpansionLoc(place));
  return set_up || (of_program && !computes) ? CodeKind::kSetUp : CodeKind::kLibrary;
}

}  // namespace devsan::lint
