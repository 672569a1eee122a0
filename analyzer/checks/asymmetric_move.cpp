// Looks at calls whose tensors are moved where they are written: `net->forward(a.to(d), b.to(d),
// c)`.
//
// Ops of LibTorch are left to the rules that follow devices.
#include "asymmetric_move.h"

#include <string>
#include <vector>

#include "../placement/expressions.h"
#include "../placement/module_types.h"
#include "../placement/plain_device.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "meeting_text.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

// Where `x.to(device)` or `x.cuda()` moves to, as written. Empty for anything else.
std::string target_of(const clang::Expr* tensor, const clang::FunctionDecl* function,
                      const clang::ASTContext& context) {
  const clang::Expr* bare = written(tensor);
  if (const clang::Expr* value = only_value(named_value(bare), function)) bare = written(value);
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare);
  if (call == nullptr || call->getMethodDecl() == nullptr || !is_tensor(call->getType())) return {};
  const llvm::StringRef name = plain_name(call->getMethodDecl());
  if (name == "cuda") return "torch::kCUDA";
  const clang::Expr* device = name == "to" ? device_argument(call) : nullptr;
  if (device == nullptr || named_device(device, function) == PlainDevice::kCpu) return {};
  return quoted(device, context);
}

// Indices may be on the CPU; only names and what makes them tell them.
bool is_index(const clang::Expr* tensor, const clang::FunctionDecl* function) {
  const clang::ValueDecl* variable = named_value(tensor);
  const std::string name = llvm::StringRef(plain_name(variable)).lower();
  for (const char* part : {"idx", "index", "indices", "length", "lens", "offset"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  const clang::Expr* value = only_value(variable, function);
  const auto* call = value == nullptr ? nullptr : llvm::dyn_cast<clang::CallExpr>(written(value));
  const llvm::StringRef made =
      call == nullptr ? llvm::StringRef() : plain_name(call->getDirectCallee());
  return made == "arange" || made == "randperm" || made == "randint" || made == "nonzero" ||
         made == "argmax" || made == "argsort";
}

class Walk : public FunctionWalk<Walk> {
 public:
  Walk(const clang::ASTContext& context, bool unproven, Report report)
      : context_(context), unproven_(unproven), report_(report) {}

  void visit(const clang::Stmt* statement, Around) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(statement);
    if (call == nullptr || function_ == nullptr) return;
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr) return;
    const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    if (operation != nullptr && operation->getOperator() != clang::OO_Call) return;
    const bool forward = plain_name(callee) == "forward" || operation != nullptr;
    if (is_of_libtorch(*callee) && !forward) return;
    // One that moves what it is given needs no help.
    if (callee->hasBody() && !takes_as_it_is(callee)) return;
    std::vector<const clang::Expr*> tensors;
    for (unsigned i = operation == nullptr ? 0 : 1; i < call->getNumArgs(); ++i) {
      add_tensors(call->getArg(i), tensors);
    }
    judge(*call, tensors);
  }

 private:
  static void add_tensors(const clang::Expr* argument, std::vector<const clang::Expr*>& tensors) {
    const clang::Expr* bare = written(argument);
    if (is_tensor(bare->getType())) {
      tensors.push_back(bare);
    } else if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare)) {
      for (const clang::Expr* element : list->inits()) add_tensors(element, tensors);
    } else if (const auto* standard = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(bare)) {
      add_tensors(standard->getSubExpr(), tensors);
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
               made != nullptr && written_arguments(*made) == 1) {
      add_tensors(made->getArg(0), tensors);
    }
  }

  void judge(const clang::CallExpr& call, const std::vector<const clang::Expr*>& tensors) const {
    std::vector<const clang::Expr*> moved;
    std::vector<const clang::Expr*> left;
    std::string target;
    for (const clang::Expr* tensor : tensors) {
      const std::string to = target_of(tensor, function_, context_);
      if (!to.empty()) {
        if (!target.empty() && to != target) return;
        target = to;
        moved.push_back(tensor);
        continue;
      }
      const bool named = llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(tensor) &&
                         named_value(tensor) != nullptr;
      const bool factory = plain_device(tensor, function_) == PlainDevice::kCpu;
      if (named || factory) left.push_back(tensor);
    }
    constexpr std::size_t kFewestMoved = 2;
    constexpr std::size_t kMostLeft = 2;
    if (moved.size() < kFewestMoved || left.size() > kMostLeft || left.size() >= moved.size()) {
      return;
    }
    for (const clang::Expr* tensor : left) {
      if (is_plain_scalar(tensor, function_) || is_index(tensor, function_)) continue;
      const PlainDevice device = plain_device(tensor, function_);
      if (device == PlainDevice::kCpu) say(call, *tensor, *moved.front(), target, Level::kWarning);
      if (device == PlainDevice::kUnknown && unproven_ && was_not_moved(tensor)) {
        say(call, *tensor, *moved.front(), target, Level::kNote);
      }
    }
  }

  // A parameter, or a variable that nothing in the function sets: where it is, others decide.
  bool was_not_moved(const clang::Expr* tensor) const {
    const clang::ValueDecl* variable = named_value(tensor);
    return llvm::isa_and_nonnull<clang::ParmVarDecl>(variable) &&
           !may_change(function_->getBody(), variable);
  }

  void say(const clang::CallExpr& call, const clang::Expr& tensor, const clang::Expr& other,
           const std::string& target, Level level) const {
    const std::string name = quoted(&tensor, context_);
    const std::string move = ".to(" + target + ")";
    Diagnostic diagnostic;
    diagnostic.rule = kAsymmetricMove;
    diagnostic.level = level;
    diagnostic.tokens = tensor.getSourceRange();
    diagnostic.message = "'" + name + "' " +
                         (level == Level::kWarning ? "is on the CPU and enters" : "enters") + " '" +
                         plain_name(call.getDirectCallee()).str() + "' as it is, beside '" +
                         quoted(&other, context_) + "'" +
                         (level == Level::kWarning ? "" : ": the other tensors are moved there");
    if (plain_name(call.getDirectCallee()).empty()) {
      diagnostic.message = "'" + name + "' enters the call as it is, beside '" +
                           quoted(&other, context_) + "': the other tensors are moved there";
    }
    diagnostic.advice = "move it as well: '" + name + move + "'";
    if (const auto range = file_range(tensor.getSourceRange(), context_)) {
      diagnostic.edits.push_back(
          {clang::CharSourceRange::getCharRange(range->getEnd(), range->getEnd()), move});
    }
    report_(diagnostic);
  }

  const clang::ASTContext& context_;
  const bool unproven_;
  Report report_;
};

}  // namespace

void check_asymmetric_moves(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                            bool unproven, Report report) {
  Walk walk(context, unproven, report);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
}

}  // namespace devsan::lint
