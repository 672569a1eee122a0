// Every declaration of mock_torch is one of LibTorch's: same name, same types, same defaults.
//
// What the mock simplifies on purpose is listed in mock_torch/simplified.txt with a reason each; an
// entry that nothing needs any more fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/Tooling.h"
#include "declared_in.h"
#include "real_torch.h"

namespace devsan::lint::test {
namespace {

constexpr const char* kMock = DEVSAN_MOCK_TORCH "/torch/torch.h";

// The signatures that may differ, each with its reason.
std::map<std::string, std::string> read_simplified() {
  std::map<std::string, std::string> simplified;
  std::ifstream in(DEVSAN_MOCK_TORCH "/simplified.txt");
  EXPECT_TRUE(in.good());
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t separator = line.find("  # ");
    if (separator == std::string::npos) {
      ADD_FAILURE() << "no reason: " << line;
      continue;
    }
    simplified[line.substr(0, separator)] = line.substr(separator + 4);
  }
  return simplified;
}

bool is_implicitly_there(const clang::FunctionDecl& function, const clang::CXXRecordDecl& record) {
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function)) {
    if (constructor->isDefaultConstructor()) return record.needsImplicitDefaultConstructor();
    if (constructor->isCopyConstructor()) return record.needsImplicitCopyConstructor();
    return false;
  }
  return llvm::isa<clang::CXXDestructorDecl>(function) && record.needsImplicitDestructor();
}

// What is wrong with `mock` if it stands for `real`; empty when nothing is.
std::string difference(const clang::FunctionDecl& mock, const clang::FunctionDecl& real) {
  const auto text = [](const clang::FunctionDecl& function, clang::QualType type) {
    return type_text(type, function.getASTContext());
  };
  if (mock.getNumParams() > real.getNumParams()) return "has more parameters";
  for (unsigned i = 0; i < real.getNumParams(); ++i) {
    const clang::ParmVarDecl* theirs = real.getParamDecl(i);
    if (i >= mock.getNumParams()) {
      if (theirs->hasDefaultArg() || theirs->isParameterPack()) continue;
      return "lacks parameter " + std::to_string(i + 1);
    }
    const clang::ParmVarDecl* ours = mock.getParamDecl(i);
    const std::string number = "parameter " + std::to_string(i + 1);
    if (text(mock, ours->getType().getUnqualifiedType()) !=
        text(real, theirs->getType().getUnqualifiedType())) {
      return number + " is of another type";
    }
    if (ours->hasDefaultArg() != theirs->hasDefaultArg()) {
      return number + (ours->hasDefaultArg() ? " has no default" : " has a default");
    }
  }
  if (text(mock, mock.getReturnType()) != text(real, real.getReturnType())) {
    return "returns " + text(real, real.getReturnType());
  }
  const auto* our_method = llvm::dyn_cast<clang::CXXMethodDecl>(&mock);
  const auto* their_method = llvm::dyn_cast<clang::CXXMethodDecl>(&real);
  if ((our_method == nullptr) != (their_method == nullptr)) return "is another kind of function";
  if (our_method == nullptr) return {};
  if (our_method->isConst() != their_method->isConst()) return "differs in const";
  if (our_method->getRefQualifier() != their_method->getRefQualifier()) return "differs in &";
  if (our_method->isStatic() != their_method->isStatic()) return "differs in static";
  if (our_method->isVirtual() && !their_method->isVirtual()) return "is not virtual";
  const auto explicitness = [](const clang::FunctionDecl& function) {
    return clang::ExplicitSpecifier::getFromDecl(&function).isExplicit();
  };
  if (explicitness(mock) != explicitness(real)) return "differs in explicit";
  return {};
}

class Conformance {
 public:
  Conformance(const clang::ASTContext& mock, const clang::ASTContext& real)
      : mock_(mock), real_(real) {}

  // Differences by the mock's signature or name.
  const std::map<std::string, std::string>& differences() const { return differences_; }
  int compared() const { return compared_; }

  void compare_members(const clang::DeclContext* mock) {
    for (const clang::Decl* declaration : mock->decls()) {
      const auto* named = llvm::dyn_cast<clang::NamedDecl>(declaration);
      if (named == nullptr || declaration->isImplicit()) continue;
      if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(named)) {
        if (!space->isStdNamespace()) compare_members(space);
      } else if (!llvm::isa<clang::UsingDirectiveDecl, clang::UsingDecl,
                            clang::ConstructorUsingShadowDecl>(named)) {
        compare(*named);
      }
    }
  }

 private:
  void compare(const clang::NamedDecl& mock) {
    ++compared_;
    const std::vector<const clang::NamedDecl*> candidates = look_up(real_, mock);
    if (const clang::FunctionDecl* function = function_of(&mock)) {
      compare_function(*function, candidates);
    } else if (const clang::CXXRecordDecl* record = class_of(&mock);
               record != nullptr && !llvm::isa<clang::TypedefNameDecl>(mock)) {
      compare_class(*record, candidates);
    } else if (const auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(&mock)) {
      if (candidates.empty()) return add(mock, "is not there");
      for (const clang::EnumConstantDecl* value : enumeration->enumerators()) {
        compare_enumerator(*value, look_up(real_, *value));
      }
    } else {
      compare_other(mock, candidates);
    }
  }

  void compare_function(const clang::FunctionDecl& mock,
                        const std::vector<const clang::NamedDecl*>& candidates) {
    constexpr int kMost = 12;  // overloads that a failure shows
    int shown = 0;
    std::string reasons;
    for (const clang::NamedDecl* candidate : candidates) {
      const clang::FunctionDecl* real = function_of(candidate);
      if (real == nullptr) continue;
      const std::string reason = difference(mock, *real);
      if (reason.empty()) return;
      if (++shown < kMost) reasons += "\n      " + signature(*real) + " " + reason;
    }
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&mock)) {
      for (const clang::NamedDecl* owner : look_up(real_, *method->getParent())) {
        const clang::CXXRecordDecl* record = class_of(owner);
        if (record != nullptr && is_implicitly_there(mock, *record)) return;
      }
    }
    add(mock, reasons.empty() ? "is not there" : "differs from every overload:" + reasons);
  }

  void compare_class(const clang::CXXRecordDecl& mock,
                     const std::vector<const clang::NamedDecl*>& candidates) {
    const clang::CXXRecordDecl* real = nullptr;
    for (const clang::NamedDecl* candidate : candidates) {
      if (real == nullptr) real = class_of(candidate);
    }
    if (real == nullptr) return add(mock, "is not there");
    if (qualified_name(*real) != qualified_name(mock)) {
      return add(mock, "is really " + qualified_name(*real));
    }
    if (!mock.hasDefinition()) return;
    if (!real->hasDefinition()) return add(mock, "is never defined");
    const std::set<std::string> bases = all_bases(*real);
    for (const clang::CXXBaseSpecifier& base : mock.bases()) {
      const std::string text = type_text(base.getType(), mock_);
      if (bases.count(text) == 0) add(mock, "has no base " + text);
    }
    compare_members(&mock);
  }

  // Of a class and of its bases; a base that is a template is known by its text alone.
  std::set<std::string> all_bases(const clang::CXXRecordDecl& record) {
    std::set<std::string> bases;
    for (const clang::CXXBaseSpecifier& base : record.bases()) {
      bases.insert(type_text(base.getType(), real_));
      const clang::CXXRecordDecl* of = base.getType()->getAsCXXRecordDecl();
      if (of == nullptr || !of->hasDefinition()) continue;
      bases.merge(all_bases(*of->getDefinition()));
    }
    return bases;
  }

  void compare_enumerator(const clang::EnumConstantDecl& mock,
                          const std::vector<const clang::NamedDecl*>& candidates) {
    ++compared_;
    for (const clang::NamedDecl* candidate : candidates) {
      const auto* real = llvm::dyn_cast<clang::EnumConstantDecl>(candidate);
      if (real == nullptr) continue;
      if (mock.getInitVal() == real->getInitVal()) return;
      return add(mock, "is really " + llvm::toString(real->getInitVal(), 10));
    }
    add(mock, "is not there");
  }

  // Variables, fields and aliases: of the same type.
  void compare_other(const clang::NamedDecl& mock,
                     const std::vector<const clang::NamedDecl*>& candidates) {
    const auto type_of = [](const clang::NamedDecl& declaration) {
      if (const auto* value = llvm::dyn_cast<clang::ValueDecl>(&declaration)) {
        return type_text(value->getType(), declaration.getASTContext());
      }
      if (const auto* type = llvm::dyn_cast<clang::TypeDecl>(&declaration)) {
        return type_text(declaration.getASTContext().getTypeDeclType(type),
                         declaration.getASTContext());
      }
      return std::string(declaration.getDeclKindName());
    };
    if (candidates.empty()) return add(mock, "is not there");
    std::string reasons;
    for (const clang::NamedDecl* real : candidates) {
      if (type_of(*real) == type_of(mock)) return;
      reasons += " really " + type_of(*real);
    }
    add(mock, "is " + type_of(mock) + "," + reasons);
  }

  void add(const clang::NamedDecl& mock, const std::string& text) {
    const clang::FunctionDecl* function = function_of(&mock);
    differences_[function != nullptr ? signature(*function) : qualified_name(mock)] = text;
  }

  const clang::ASTContext& mock_;
  const clang::ASTContext& real_;
  std::map<std::string, std::string> differences_;
  int compared_ = 0;
};

std::unique_ptr<clang::ASTUnit> parse(const std::vector<std::string>& arguments,
                                      const std::string& code = "") {
  auto unit = clang::tooling::buildASTFromCodeWithArgs(code, arguments, "code.cpp");
  EXPECT_TRUE(unit != nullptr && !unit->getDiagnostics().hasErrorOccurred());
  return unit;
}

class MockTorch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    mock = parse({"-std=c++20", "-nostdinc", "-nostdinc++", "-include", kMock});
    real = parse(real_torch_arguments(),
                 "#include <c10/cuda/CUDAGuard.h>\n#include <torch/nn/parallel/data_parallel.h>\n");
  }
  static void TearDownTestSuite() {
    mock.reset();
    real.reset();
  }
  // Clang's trees are made to be read by look-ups that load from the PCH.
  static inline std::unique_ptr<clang::ASTUnit> mock;
  static inline std::unique_ptr<clang::ASTUnit> real;
};

TEST_F(MockTorch, DeclaresWhatLibTorchDeclares) {
  Conformance conformance(mock->getASTContext(), real->getASTContext());
  conformance.compare_members(mock->getASTContext().getTranslationUnitDecl());
  EXPECT_GT(conformance.compared(), 200) << "the mock was not read";

  std::map<std::string, std::string> simplified = read_simplified();
  for (const auto& [name, text] : conformance.differences()) {
    if (simplified.erase(name) > 0) continue;
    ADD_FAILURE() << name << " " << text
                  << "\n  Correct the mock, or list it in mock_torch/simplified.txt with a reason.";
  }
  for (const auto& [name, reason] : simplified) {
    ADD_FAILURE() << "mock_torch/simplified.txt lists what does not differ: " << name;
  }
}

TEST_F(MockTorch, HasMacrosThatLibTorchHas) {
  const clang::Preprocessor& ours = mock->getPreprocessor();
  const clang::Preprocessor& theirs = real->getPreprocessor();
  const clang::SourceManager& sources = mock->getSourceManager();
  int compared = 0;
  for (const auto& [identifier, state] : ours.macros()) {
    const clang::MacroInfo* macro = ours.getMacroInfo(identifier);
    if (macro == nullptr || !sources.getFilename(macro->getDefinitionLoc()).ends_with("torch.h")) {
      continue;
    }
    ++compared;
    const std::string name = identifier->getName().str();
    const clang::MacroInfo* real_macro =
        theirs.getMacroInfo(theirs.getIdentifierInfo(identifier->getName()));
    ASSERT_NE(real_macro, nullptr) << name;
    EXPECT_EQ(macro->isFunctionLike(), real_macro->isFunctionLike()) << name;
    EXPECT_EQ(macro->isVariadic(), real_macro->isVariadic()) << name;
    EXPECT_EQ(macro->getNumParams(), real_macro->getNumParams()) << name;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace devsan::lint::test
