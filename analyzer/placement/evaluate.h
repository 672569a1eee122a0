// What expressions do to devices: transfer functions over clang's AST.
#pragma once

#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "device_state.h"
#include "placement.h"

namespace devsan::lint {

class UnitAnalysis;

// One side of a meeting.
struct Operand {
  const clang::Expr* expression = nullptr;
  Placement placement;
  bool module = false;
  // Of a meeting inside a called function: the member of `expression` that comes there, as
  // "inputs.pixels", or what the function itself has there.
  std::string inner = {};
  bool of_callee = false;  // nothing of the caller's comes there: `expression` is the call
};

// Two values that an op, or a module's forward, needs on one device.
struct Meeting {
  const clang::Expr* op = nullptr;
  std::string name;  // "matmul", "operator+", "forward"
  Operand first;
  Operand second;
  bool elements = false;  // a CPU tensor without dimensions may stand beside the other
  Conflict conflict = Conflict::kNone;
  std::vector<SummaryStep> steps = {};  // when `op` is a call: from there to the op itself
};

using OnMeeting = llvm::function_ref<void(const Meeting&)>;

class Evaluator {
 public:
  // `state` is changed by what is evaluated. Meetings without a conflict are handed on as well.
  Evaluator(UnitAnalysis& unit, DeviceState& state, OnMeeting on_meeting);

  // An expression or a declaration that stands alone.
  void statement(const clang::Stmt* statement);

  Placement evaluate(const clang::Expr* expression);

  // What an expression names, to be set. In a container it is one of several; behind a pointer that
  // others hold too, others change it.
  struct Target {
    const Path* path = nullptr;
    bool element = false;
    bool aliased = false;
  };
  Target target(const clang::Expr* expression) const;
  Target pointed_to(const clang::Expr* pointer) const;
  Target target_of(const clang::ValueDecl& variable) const;

 private:
  // Values: evaluate.cpp.
  void declaration(const clang::VarDecl& variable);
  Placement evaluate_bare(const clang::Expr* bare);
  Placement reference(const clang::DeclRefExpr& reference);
  Placement member(const clang::MemberExpr& member);
  Placement constant_device_type(const clang::Expr* expression) const;
  Placement device_string(llvm::StringRef text, const clang::Expr* made) const;
  Placement choice(const clang::AbstractConditionalOperator& choice);
  Placement either(const clang::Expr* where, const Placement& a, const Placement& b);
  Placement list(llvm::ArrayRef<const clang::Expr*> elements);
  Placement lambda(const clang::LambdaExpr& lambda);
  Placement device_of_type_and_index(const clang::Expr* type, const clang::Expr* index,
                                     const clang::Expr* made);
  void assign(const clang::Expr* expression, Placement placement);
  void set(const Target& target, Placement placement);
  void forget(const clang::Expr* target) { assign(target, Placement::unknown()); }
  void forget_if_changed(const clang::Expr* argument, clang::QualType parameter);

  // Objects, and what is built of values: evaluate_objects.cpp.
  Placement construction(const clang::CXXConstructExpr& made);
  Placement options_of(const clang::CXXConstructExpr& made);
  Placement aggregate(const clang::InitListExpr& list);
  Placement fresh_object(const clang::CXXRecordDecl& record);
  bool std_function(const clang::CallExpr& call, llvm::StringRef name, Placement& result);
  bool wrapper_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object,
                      Placement& result);
  Placement container_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement loaded_batch(const clang::CXXMemberCallExpr& call);

  // Calls: evaluate_calls.cpp.
  Placement call(const clang::CallExpr& call);
  Placement operator_call(const clang::CXXOperatorCallExpr& call);
  Placement method_call(const clang::CXXMemberCallExpr& call);
  Placement module_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement forward(const clang::CallExpr& call, const clang::Expr& module,
                    const clang::FunctionDecl* callee, unsigned first_argument);
  // A call into code that is not looked into: what it may change is not known afterwards.
  void unknown_call(const clang::CallExpr& call);
  Placement argument(const clang::Expr* argument);

  // Tensors and options: evaluate_tensors.cpp.
  Placement torch_function(const clang::CallExpr& call, const clang::FunctionDecl& callee);
  Placement tensor_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement move(const clang::CXXMemberCallExpr& call, Placement object);
  Placement options_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object);
  Placement factory(const clang::CallExpr& call, const clang::FunctionDecl& callee);
  Placement libtorch_op(const clang::CallExpr& call, const clang::FunctionDecl& callee,
                        llvm::ArrayRef<Operand> operands);
  // The tensors of an argument: itself, or each of a list that is written out.
  void add_operands(const clang::Expr* argument, llvm::SmallVectorImpl<Operand>& operands);
  void meet(Meeting meeting);

  // Summaries of what is called: evaluate_summaries.cpp.
  struct Site {
    const clang::Expr* call = nullptr;  // a call or a construction
    const clang::FunctionDecl* callee = nullptr;
    std::string name;                     // of the callee, for messages
    const clang::Expr* object = nullptr;  // null: `this`, or none
    Placement object_placement = {};      // of what `this` is inside
    llvm::SmallVector<const clang::Expr*, 4> arguments = {};
    llvm::SmallVector<Placement, 4> placements = {};  // of the arguments
  };
  // Nothing when it is not known what the callee does. The arguments have been evaluated.
  const FunctionSummary* summary_of(const clang::FunctionDecl* callee) const;
  // Hands on what meets inside, changes what is changed, gives the result.
  Placement apply(const FunctionSummary& summary, const Site& site);
  void meet_inside(const FunctionSummary& summary, const Site& site);
  Placement input(const InputPath& input, const Site& site) const;
  Target input_target(const InputPath& input, const Site& site) const;
  Placement instance(const SummaryPlacement& summary, const Site& site);
  Operand operand(const RequiredOperand& required, const Site& site);
  void lambda_handed_on(const clang::CallExpr& call);

  UnitAnalysis& unit_;
  const clang::ASTContext& context_;
  DeviceState& state_;
  OnMeeting on_meeting_;
};

}  // namespace devsan::lint
