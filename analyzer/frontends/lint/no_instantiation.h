// Keeps clang from instantiating the bodies of function templates that are not the project's.
//
// A parse spends a fifth of its time on what LibTorch's and the standard library's templates
// become, which no rule reads. Of the project's own templates the instances are what devices can be
// followed through: in `template <typename Loader> void train(Loader&)` nothing has a type. What
// the parse itself needs (constexpr functions, deduced return types) is instantiated on the spot
// and is not touched. A PCH made with this holds no pending bodies for its users either.
#pragma once

#include <deque>
#include <utility>

#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"

namespace devsan::lint {

class NoInstantiation : public clang::SemaConsumer {
 public:
  void InitializeSema(clang::Sema& sema) override { sema_ = &sema; }
  void ForgetSema() override { sema_ = nullptr; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) final {
    for (clang::Decl* declaration : group) {
      // A function that a template became, in the middle of something else.
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
      if (function != nullptr && function->isTemplateInstantiation()) return true;
      declared(declaration);
    }
    settle_pending();
    return true;
  }
  // What comes out of the PCH does so in the middle of something else.
  void HandleInterestingDecl(clang::DeclGroupRef) override {}
  void HandleTranslationUnit(clang::ASTContext&) override { settle_pending(); }

 protected:
  // A declaration at top level, in the order of the file.
  virtual void declared(clang::Decl*) {}

  // Whether a function that a template became is to have its body.
  virtual bool is_wanted(const clang::FunctionDecl&) { return false; }

 private:
  // A template that instantiates itself without end would hold the parse up.
  static constexpr unsigned kMostInstances = 1000;

  void settle_pending() {
    if (sema_ == nullptr) return;
    // Between two declarations, as clang does it at the end of the file. What an instance uses in
    // turn becomes pending, and is settled in the same loop.
    do {
      for (const auto& [value, place] : sema_->PendingInstantiations) {
        auto* function = llvm::dyn_cast<clang::FunctionDecl>(value);
        if (function != nullptr && is_wanted(*function)) wanted_.emplace_back(function, place);
      }
      sema_->PendingInstantiations.clear();
      sema_->UndefinedButUsed.clear();  // or each of them would now be an error
      instantiate();
    } while (!sema_->PendingInstantiations.empty());
  }

  void instantiate() {
    std::deque<clang::Sema::PendingImplicitInstantiation> later;
    for (const auto& [value, place] : std::exchange(wanted_, {})) {
      auto* function = llvm::cast<clang::FunctionDecl>(value);
      const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern();
      if (pattern == nullptr || function->isDefined() || instances_ >= kMostInstances) continue;
      if (!pattern->isDefined()) {
        later.emplace_back(function, place);
        continue;
      }
      ++instances_;
      sema_->InstantiateFunctionDefinition(place, function);
    }
    wanted_ = std::move(later);
  }

  clang::Sema* sema_ = nullptr;
  std::deque<clang::Sema::PendingImplicitInstantiation> wanted_;
  unsigned instances_ = 0;
};

}  // namespace devsan::lint
