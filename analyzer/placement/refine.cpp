// Conditions that ask for a device, through negation and the macros of checks.
#include "refine.h"

#include <optional>

#include "clang/AST/ExprCXX.h"
#include "evaluate.h"
#include "expressions.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

struct Question {
  const clang::Expr* subject = nullptr;  // a tensor or a device
  bool cuda = true;                      // asks for CUDA; else for the CPU
};

// What `x.device().type()`, `x.device()`, `device.type()` or `device` is about: `x`, `device`.
const clang::Expr* subject_of(const clang::Expr* expression) {
  const clang::Expr* bare = written(expression);
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare)) {
    const llvm::StringRef method = plain_name(call->getMethodDecl());
    if (method != "device" && method != "type") return nullptr;
    return call->getImplicitObjectArgument() == nullptr
               ? nullptr
               : subject_of(call->getImplicitObjectArgument());
  }
  const clang::ValueDecl* value = named_value(bare);
  const clang::QualType type = bare->getType();
  const bool constant = llvm::isa_and_nonnull<clang::EnumConstantDecl>(value) ||
                        (is_device_type(type) && type.isConstQualified());
  const bool has_device = is_tensor(type) || is_device(type) || is_device_type(type);
  return has_device && !constant ? bare : nullptr;
}

// kCUDA or kCPU, by name: what a device is compared with.
std::optional<bool> is_cuda_constant(const clang::Expr* expression) {
  const clang::Expr* bare = written(expression);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
      made != nullptr && written_arguments(*made) == 1) {
    return is_cuda_constant(made->getArg(0));
  }
  const llvm::StringRef name = plain_name(named_value(bare));
  if (name == "kCUDA" || name == "CUDA") return true;
  if (name == "kCPU" || name == "CPU") return false;
  return std::nullopt;
}

std::optional<Question> compared(const clang::Expr* left, const clang::Expr* right) {
  for (const auto& [asked, constant] : {std::pair(left, right), std::pair(right, left)}) {
    const std::optional<bool> cuda = is_cuda_constant(constant);
    const clang::Expr* subject = subject_of(asked);
    if (cuda && subject != nullptr) return Question{subject, *cuda};
  }
  return std::nullopt;
}

// Sets `condition` to what the question's answer is on this branch.
std::optional<Question> question_of(const clang::Expr* expression, bool& condition) {
  const clang::Expr* bare = written(expression);
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(bare);
      unary != nullptr && unary->getOpcode() == clang::UO_LNot) {
    condition = !condition;
    return question_of(unary->getSubExpr(), condition);
  }
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(bare)) {
    // Each side has a block of its own; this one's is the right.
    if (operation->isLogicalOp()) return question_of(operation->getRHS(), condition);
    if (operation->getOpcode() != clang::BO_EQ && operation->getOpcode() != clang::BO_NE) {
      return std::nullopt;
    }
    if (operation->getOpcode() == clang::BO_NE) condition = !condition;
    return compared(operation->getLHS(), operation->getRHS());
  }
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare)) {
    const auto kind = operation->getOperator();
    if (kind != clang::OO_EqualEqual && kind != clang::OO_ExclaimEqual) return std::nullopt;
    if (kind == clang::OO_ExclaimEqual) condition = !condition;
    return compared(operation->getArg(0), operation->getArg(1));
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(bare);
  if (call == nullptr) return std::nullopt;
  const llvm::StringRef name = plain_name(call->getDirectCallee());
  if (name == "__builtin_expect") return question_of(call->getArg(0), condition);
  const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare);
  if (method == nullptr || method->getImplicitObjectArgument() == nullptr) return std::nullopt;
  if (name != "is_cuda" && name != "is_cpu") return std::nullopt;
  const clang::Expr* subject = subject_of(method->getImplicitObjectArgument());
  if (subject == nullptr) return std::nullopt;
  return Question{subject, name == "is_cuda"};
}

const clang::Expr* condition_of(const clang::Stmt* terminator) {
  if (terminator == nullptr) return nullptr;
  if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(terminator)) return branch->getCond();
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(terminator)) {
    return choice->getCond();
  }
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(terminator)) return loop->getCond();
  const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(terminator);
  return operation != nullptr && operation->isLogicalOp() ? operation->getLHS() : nullptr;
}

}  // namespace

Refinement refine(DeviceState& state, UnitAnalysis& unit, const clang::CFGBlock& block,
                  bool condition) {
  Refinement refinement;
  const clang::Expr* asked = condition_of(block.getTerminatorStmt());
  if (asked == nullptr) return refinement;
  const std::optional<Question> question = question_of(asked, condition);
  if (!question) return refinement;
  const auto ignore = [](const Meeting&) {};
  Evaluator evaluator(unit, state, ignore);
  const Path* path = evaluator.target(question->subject).path;
  if (path == nullptr) return refinement;
  const Placement placement = state.value(path);
  if (const DeviceValue* device = placement.single(); device != nullptr && device->is_symbol()) {
    refinement.symbol = device->symbol;
  }
  refinement.cuda = question->cuda == condition;
  refinement.dead = !state.assume_cuda(path, placement, refinement.cuda);
  return refinement;
}

}  // namespace devsan::lint
