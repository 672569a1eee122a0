// Keeps clang from instantiating the bodies of function templates at the end of a translation unit.
//
// The rules read what is written, not what templates become, and the bodies are a fifth of the time
// that a parse takes. What the parse itself needs (constexpr functions, deduced return types) is
// instantiated on the spot and is not touched. A PCH made with this holds no pending bodies for its
// users either.
#pragma once

#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"

namespace devsan::lint {

class NoInstantiation : public clang::SemaConsumer {
 public:
  void InitializeSema(clang::Sema& sema) override { sema_ = &sema; }
  void ForgetSema() override { sema_ = nullptr; }

  bool HandleTopLevelDecl(clang::DeclGroupRef) override {
    forget_pending();
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext&) override { forget_pending(); }

 protected:
  void forget_pending() {
    if (sema_ == nullptr) return;
    sema_->PendingInstantiations.clear();
    sema_->UndefinedButUsed.clear();  // or each of them would now be an error
  }

 private:
  clang::Sema* sema_ = nullptr;
};

}  // namespace devsan::lint
