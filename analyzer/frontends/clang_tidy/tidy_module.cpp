// The clang-tidy module: one check a rule, `devsan-…`, over the same code that `devsan lint` runs.
#include <string>
#include <utility>
#include <vector>

#include "checks/allow_comments.h"
#include "checks/rules.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "clang-tidy/ClangTidyModule.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/Basic/SourceManager.h"
#include "devsan/findings/catalogue.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#if LLVM_VERSION_MAJOR < 22  // there, ClangTidyModule.h has the registry
#include "clang-tidy/ClangTidyModuleRegistry.h"
#endif

namespace devsan::lint {
namespace {

namespace tidy = clang::tidy;
namespace matchers = clang::ast_matchers;

// What the user's own code declares at top level. clangd limits the scope to the open file, the
// rest being in a precompiled header that is not to be read; clang-tidy's own filters decide what
// is shown.
std::vector<clang::Decl*> own_declarations(clang::ASTContext& context) {
  std::vector<clang::Decl*> declarations;
  const clang::SourceManager& sources = context.getSourceManager();
  const auto add = [&](clang::Decl* declaration) {
    const clang::SourceLocation place = sources.getExpansionLoc(declaration->getLocation());
    if (place.isValid() && !sources.isInSystemHeader(place)) declarations.push_back(declaration);
  };
  for (clang::Decl* declaration : context.getTraversalScope()) {
    if (auto* unit = llvm::dyn_cast<clang::TranslationUnitDecl>(declaration)) {
      for (clang::Decl* inner : unit->decls()) add(inner);
    } else {
      add(declaration);
    }
  }
  return declarations;
}

// Whether a `// devsan: allow(rule) reason` speaks of this finding; NOLINT is clang-tidy's own
// work.
bool is_allowed(const Diagnostic& diagnostic, const clang::SourceManager& sources) {
  const clang::SourceLocation place = sources.getExpansionLoc(diagnostic.tokens.getBegin());
  const unsigned line = sources.getSpellingLineNumber(place);
  const auto comments = allow_comments(sources.getBufferData(sources.getFileID(place)));
  return llvm::any_of(comments, [&](const AllowComment& comment) {
    return allows(comment, diagnostic.rule, line);
  });
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
    // Where the scope is limited, the unit itself is not met.
    finder->addMatcher(
        matchers::decl(matchers::anyOf(matchers::translationUnitDecl(),
                                       matchers::hasDeclContext(matchers::translationUnitDecl()))),
        this);
  }
  void storeOptions(tidy::ClangTidyOptions::OptionMap& options) override {
    Options.store(options, "SetUpAndTests", llvm::StringRef(set_up_and_tests_ ? "true" : "false"));
  }

  void onStartOfTranslationUnit() override { done_ = false; }
  void check(const matchers::MatchFinder::MatchResult& result) override {
    if (std::exchange(done_, true)) return;
    run_rules(*result.Context, own_declarations(*result.Context), rules_, /*project_root=*/"",
              [&](const Diagnostic& diagnostic) {
                if (!is_allowed(diagnostic, *result.SourceManager)) say(diagnostic);
              });
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
  bool done_ = false;
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
