// What expressions do to devices: transfer functions over clang's AST.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "device_state.h"
#include "placement.h"

namespace devsan::lint {

// One side of a meeting.
struct Operand {
  const clang::Expr* expression = nullptr;
  Placement placement;
  bool module = false;
};

// Two values that an op, or a module's forward, needs on one device.
struct Meeting {
  const clang::Expr* op = nullptr;
  std::string name;  // "matmul", "operator+", "forward"
  Operand first;
  Operand second;
  Conflict conflict = Conflict::kNone;
};

using OnMeeting = llvm::function_ref<void(const Meeting&)>;

class Evaluator {
 public:
  // `state` is changed by what is evaluated. Only conflicts are handed on.
  Evaluator(const clang::ASTContext& context, DeviceState& state, OnMeeting on_meeting)
      : context_(context), state_(state), on_meeting_(on_meeting) {}

  // An expression or a declaration that stands alone.
  void statement(const clang::Stmt* statement);

  Placement evaluate(const clang::Expr* expression);

 private:
  Placement reference(const clang::Expr* expression, const clang::ValueDecl* variable);
  Placement constant_device_type(const clang::Expr* expression) const;
  Placement device_string(llvm::StringRef text, const clang::Expr* made) const;
  Placement choice(const clang::AbstractConditionalOperator& choice);
  Placement construction(const clang::CXXConstructExpr& made);
  Placement list(llvm::ArrayRef<const clang::Expr*> elements);
  void lambda(const clang::LambdaExpr& lambda);

  Placement call(const clang::CallExpr& call);
  Placement operator_call(const clang::CXXOperatorCallExpr& call);
  Placement method_call(const clang::CXXMemberCallExpr& call);
  Placement tensor_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement move(const clang::CXXMemberCallExpr& call, Placement object);
  Placement options_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement module_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement container_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement forward(const clang::CallExpr& call, const clang::Expr& module,
                    const clang::FunctionDecl* callee, unsigned first_argument);
  Placement factory(const clang::CallExpr& call, const clang::FunctionDecl& callee);
  Placement libtorch_op(const clang::CallExpr& call, const clang::FunctionDecl& callee,
                        llvm::ArrayRef<Operand> operands);
  Placement device_of_type_and_index(const clang::Expr* type, const clang::Expr* index,
                                     const clang::Expr* made);
  // The tensors of an argument: itself, or each of a list that is written out.
  void add_operands(const clang::Expr* argument, llvm::SmallVectorImpl<Operand>& operands);
  // A call into code that is not looked into: what it may change is not known afterwards.
  void unknown_call(const clang::CallExpr& call);
  void forget_if_changed(const clang::Expr* argument, clang::QualType parameter);

  void meet(const clang::Expr* op, llvm::StringRef name, const Operand& a, const Operand& b);
  void assign(const clang::Expr* target, Placement placement);

  const clang::ASTContext& context_;
  DeviceState& state_;
  OnMeeting on_meeting_;
};

}  // namespace devsan::lint
