// The clang-tidy module: one check a rule, `devsan-…`, over the same code that `devsan lint` runs.
#include <string>
#include <vector>

#include "checks/rules.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "clang-tidy/ClangTidyModule.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/Basic/SourceManager.h"
#include "devsan/findings/catalogue.h"

namespace devsan::lint {
namespace {

namespace tidy = clang::tidy;
namespace matchers = clang::ast_matchers;

// What the user's own code declares at top level; clang-tidy's own filters decide what of it is
// shown.
std::vector<clang::Decl*> own_declarations(clang::ASTContext& context) {
  std::vector<clang::Decl*> declarations;
  const clang::SourceManager& sources = context.getSourceManager();
  for (clang::Decl* declaration : context.getTranslationUnitDecl()->decls()) {
    const clang::SourceLocation place = sources.getExpansionLoc(declaration->getLocation());
    if (place.isValid() && !sources.isInSystemHeader(place)) declarations.push_back(declaration);
  }
  return declarations;
}

class Check : public tidy::ClangTidyCheck {
 public:
  Check(llvm::StringRef name, tidy::ClangTidyContext* context)
      : ClangTidyCheck(name, context),
        rules_(RuleSet::parse("-*," + name.str())),
        // As text: GCC and clang mangle the template for bool differently.
        set_up_and_tests_(Options.get("SetUpAndTests", "false") == "true") {
    rules_.hard_coded_device_set_up = rules_.hard_coded_device && set_up_and_tests_;
  }

  bool isLanguageVersionSupported(const clang::LangOptions& language) const override {
    return language.CPlusPlus;
  }
  std::optional<clang::TraversalKind> getCheckTraversalKind() const override {
    return clang::TK_AsIs;
  }
  void registerMatchers(matchers::MatchFinder* finder) override {
    finder->addMatcher(matchers::translationUnitDecl().bind("unit"), this);
  }
  void storeOptions(tidy::ClangTidyOptions::OptionMap& options) override {
    Options.store(options, "SetUpAndTests", llvm::StringRef(set_up_and_tests_ ? "true" : "false"));
  }

  void check(const matchers::MatchFinder::MatchResult& result) override {
    run_rules(*result.Context, own_declarations(*result.Context), rules_, /*project_root=*/"",
              [this](const Diagnostic& diagnostic) { say(diagnostic); });
  }

 private:
  void say(const Diagnostic& diagnostic) {
    {
      auto builder = diag(diagnostic.tokens.getBegin(), diagnostic.message);
      builder << diagnostic.tokens;
      for (const Edit& edit : diagnostic.edits) {
        builder << clang::FixItHint::CreateReplacement(edit.range, edit.text);
      }
    }
    for (const Note& note : diagnostic.notes) {
      diag(note.place, note.text, clang::DiagnosticIDs::Note);
    }
  }

  RuleSet rules_;
  bool set_up_and_tests_;
};

class Module : public tidy::ClangTidyModule {
 public:
  void addCheckFactories(tidy::ClangTidyCheckFactories& factories) override {
    for (const Rule& rule : rules()) {
      const bool of_code = rule.id != "frozen-device";  // which is about archives
      if (rule.half != Half::kLint || !of_code) continue;
      factories.registerCheck<Check>("devsan-" + std::string(rule.id));
    }
  }
};

const tidy::ClangTidyModuleRegistry::Add<Module> kModule("devsan-module",
                                                         "DevSan: tensors on the wrong device");

}  // namespace
}  // namespace devsan::lint
