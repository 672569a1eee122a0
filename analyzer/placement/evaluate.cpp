// Variables, constants, constructions and statements; calls are in evaluate_calls.cpp.
#include "evaluate.h"

#include "clang/AST/DeclTemplate.h"
#include "expressions.h"
#include "module_types.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

bool is_string(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return record != nullptr && record->isInStdNamespace() && plain_name(record) == "basic_string";
}

// Of the types whose values are followed.
bool is_followed(clang::QualType type) {
  return is_tensor(type) || is_device(type) || is_device_type(type) || is_optional_device(type) ||
         is_tensor_options(type) || module_of(type) != nullptr ||
         is_named(record_of(type), "jit", "Module") || !element_of(type).isNull();
}

// True when something in `body` gives `variable` a new value.
bool changes(const clang::Stmt* body, const clang::ValueDecl* variable) {
  if (body == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(body)) {
    if (call->isAssignmentOp() && named_value(call->getArg(0)) == variable) return true;
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(body)) {
    const clang::Expr* object = call->getImplicitObjectArgument();
    const bool in_place =
        object != nullptr && call->getMethodDecl() != nullptr && !call->getMethodDecl()->isConst();
    if (in_place && named_value(object) == variable) return true;
  }
  return llvm::any_of(body->children(),
                      [variable](const clang::Stmt* child) { return changes(child, variable); });
}

}  // namespace

void Evaluator::statement(const clang::Stmt* statement) {
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* one : declaration->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(one);
      if (variable == nullptr) continue;
      const clang::Expr* value = variable->getInit();
      Placement placement = value == nullptr ? Placement::unknown() : evaluate(value);
      const clang::QualType type = variable->getType();
      // A static's value is that of an earlier call; a reference may change under another name.
      const bool alias = type->isReferenceType() && !type.getNonReferenceType().isConstQualified();
      if (variable->isStaticLocal() || (alias && !type->isRValueReferenceType())) {
        placement = Placement::unknown();
      }
      if (alias && value != nullptr) {
        if (const clang::ValueDecl* aliased = named_value(value)) state_.forget(aliased);
      }
      if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(variable)) {
        for (const clang::BindingDecl* part : parts->bindings()) state_.set(part, placement);
      }
      state_.set(variable, placement);
    }
    return;
  }
  if (const auto* result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
    if (result->getRetValue() != nullptr) evaluate(result->getRetValue());
    return;
  }
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) evaluate(expression);
}

Placement Evaluator::evaluate(const clang::Expr* expression) {
  const clang::Expr* bare = written(expression);
  if (bare->isTypeDependent() || llvm::isa<clang::CXXDefaultArgExpr>(bare)) {
    return Placement::unknown();
  }
  if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(bare)) {
    return text->isOrdinary() ? device_string(text->getString(), bare) : Placement::unknown();
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare)) return this->call(*call);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) return construction(*made);
  if (const auto* either = llvm::dyn_cast<clang::AbstractConditionalOperator>(bare)) {
    return choice(*either);
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare)) {
    const clang::InitListExpr* semantic =
        list->isSemanticForm() || list->getSemanticForm() == nullptr ? list
                                                                     : list->getSemanticForm();
    llvm::SmallVector<const clang::Expr*, 8> elements(semantic->inits().begin(),
                                                      semantic->inits().end());
    return this->list(elements);
  }
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(bare)) {
    return evaluate(list->getSubExpr());
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(bare)) {
    this->lambda(*lambda);
    return Placement::unknown();
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(bare);
      unary != nullptr && unary->getOpcode() == clang::UO_AddrOf) {
    // Whoever has the address may change it.
    if (const clang::ValueDecl* variable = named_value(unary->getSubExpr())) {
      state_.forget(variable);
    }
    return Placement::unknown();
  }
  if (const clang::ValueDecl* variable = named_value(bare)) return reference(bare, variable);
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(bare);
      operation != nullptr && operation->getOpcode() == clang::BO_Assign) {
    Placement placement = evaluate(operation->getRHS());
    assign(operation->getLHS(), placement);
    return placement;
  }
  for (const clang::Stmt* child : bare->children()) {
    if (const auto* part = llvm::dyn_cast_or_null<clang::Expr>(child)) evaluate(part);
  }
  return Placement::unknown();
}

Placement Evaluator::reference(const clang::Expr* expression, const clang::ValueDecl* variable) {
  if (is_device_type(variable->getType())) {
    const Placement constant = constant_device_type(expression);
    if (constant.known) return constant;
  }
  return is_followed(variable->getType()) || llvm::isa<clang::BindingDecl>(variable)
             ? state_.value(variable)
             : Placement::unknown();
}

Placement Evaluator::constant_device_type(const clang::Expr* expression) const {
  clang::Expr::EvalResult result;
  if (expression->isValueDependent() || !expression->EvaluateAsRValue(result, context_) ||
      !result.Val.isInt()) {
    return Placement::unknown();
  }
  switch (result.Val.getInt().getExtValue()) {
    case 0:
      return Placement::on(DeviceValue::cpu(), expression);
    case 1:
      return Placement::on(DeviceValue::cuda(), expression);
    default:
      return Placement::unknown();
  }
}

Placement Evaluator::device_string(llvm::StringRef text, const clang::Expr* made) const {
  const auto [type, index_text] = text.split(':');
  if (type == "cpu") return Placement::on(DeviceValue::cpu(), made);
  if (type != "cuda") return Placement::unknown();
  if (index_text.empty()) return Placement::on(DeviceValue::cuda(), made);
  int index = 0;
  if (index_text.getAsInteger(10, index)) return Placement::unknown();
  return Placement::on(DeviceValue::cuda(index), made);
}

// A choice between devices is one device from there on: what is moved to it agrees, whichever it
// was. A choice between tensors is either.
Placement Evaluator::choice(const clang::AbstractConditionalOperator& choice) {
  evaluate(choice.getCond());
  const Placement yes = evaluate(choice.getTrueExpr());
  const Placement no = evaluate(choice.getFalseExpr());
  if (!is_device(choice.getType()) && !is_device_type(choice.getType()) &&
      !is_optional_device(choice.getType())) {
    return join(yes, no);
  }
  if (!yes.known || !no.known || yes.devices == no.devices) return join(yes, no);
  llvm::SmallVector<DeviceValue, 4> devices(yes.devices.begin(), yes.devices.end());
  devices.append(no.devices.begin(), no.devices.end());
  state_.set_facts(&choice, facts_of_choice(devices, state_));
  return Placement::on(DeviceValue::of(static_cast<const clang::Expr*>(&choice)), &choice);
}

Placement Evaluator::construction(const clang::CXXConstructExpr& made) {
  const clang::QualType type = made.getType();
  const unsigned count = written_arguments(made);
  if (is_device(type)) {
    if (count == 0) return Placement::unknown();
    return device_of_type_and_index(made.getArg(0), count > 1 ? made.getArg(1) : nullptr, &made);
  }
  if (is_tensor_options(type)) {
    if (count == 0) {
      Placement unset = Placement::on(DeviceValue::cpu(), &made);
      unset.by_default = true;
      return unset;
    }
    const clang::QualType argument = written(made.getArg(0))->getType();
    const bool device = is_device(argument) || is_device_type(argument) ||
                        is_optional_device(argument) || is_string(argument) ||
                        argument->isArrayType() || argument->isPointerType() ||
                        is_tensor_options(argument);
    if (device) {
      return device_of_type_and_index(made.getArg(0), count > 1 ? made.getArg(1) : nullptr, &made);
    }
    // A dtype, a layout.
    Placement unset = Placement::on(DeviceValue::cpu(), &made);
    unset.by_default = true;
    return unset;
  }
  if (is_tensor(type)) return count == 0 ? Placement::undefined() : evaluate(made.getArg(0));
  // A module of LibTorch begins on the CPU; the project's own may move itself.
  if (const clang::CXXRecordDecl* module = module_of(type)) {
    for (const clang::Expr* argument : made.arguments()) evaluate(argument);
    const bool null =
        count == 1 && llvm::isa<clang::CXXNullPtrLiteralExpr>(written(made.getArg(0)));
    const bool fresh = is_of_libtorch(*module) && !null && !is_module_container(*module);
    return fresh ? Placement::on(DeviceValue::cpu(), &made) : Placement::unknown();
  }
  if (!element_of(type).isNull() && count == 0) return Placement::undefined();
  // optional<T>, IValue, vector{...}, ArrayRef and what else wraps one value.
  Placement only = Placement::unknown();
  for (unsigned i = 0; i < count; ++i) {
    const Placement argument = evaluate(made.getArg(i));
    forget_if_changed(made.getArg(i),
                      made.getConstructor()
                          ->getParamDecl(std::min(i, made.getConstructor()->getNumParams() - 1))
                          ->getType());
    if (count == 1) only = argument;
  }
  return only;
}

// What is in a list counts as on a device when it is known to be on one, whatever else is in it.
Placement Evaluator::list(llvm::ArrayRef<const clang::Expr*> elements) {
  Placement all = Placement::undefined();
  for (const clang::Expr* element : elements) {
    Placement placement = evaluate(element);
    if (placement.put == nullptr) placement.put = element;
    all = all.devices.empty() && all.known ? placement : join(all, placement);
  }
  return all;
}

// The body runs later, perhaps: what it changes is not known from here on.
void Evaluator::lambda(const clang::LambdaExpr& lambda) {
  for (const clang::LambdaCapture& capture : lambda.captures()) {
    if (!capture.capturesVariable() || capture.getCaptureKind() != clang::LCK_ByRef) continue;
    const clang::ValueDecl* variable = capture.getCapturedVar();
    if (is_followed(variable->getType()) && changes(lambda.getBody(), variable)) {
      state_.forget(variable);
    }
  }
}

Placement Evaluator::device_of_type_and_index(const clang::Expr* type, const clang::Expr* index,
                                              const clang::Expr* made) {
  Placement device = evaluate(type);
  device.made = made;
  device.by_default = false;
  if (index == nullptr || llvm::isa<clang::CXXDefaultArgExpr>(index)) return device;
  const DeviceValue* known = device.single();
  if (known == nullptr || known->is_cpu()) return device;
  clang::Expr::EvalResult result;
  if (known->is_symbol() || index->isValueDependent() || !index->EvaluateAsInt(result, context_)) {
    return Placement::unknown();
  }
  const auto number = result.Val.getInt().getExtValue();
  return Placement::on(
      number < 0 ? DeviceValue::cuda() : DeviceValue::cuda(static_cast<int>(number)), made);
}

void Evaluator::assign(const clang::Expr* target, Placement placement) {
  const clang::ValueDecl* variable = named_value(target);
  if (variable != nullptr && is_followed(variable->getType())) {
    state_.set(variable, std::move(placement));
  }
}

void Evaluator::forget_if_changed(const clang::Expr* argument, clang::QualType parameter) {
  const bool can_change =
      parameter->isLValueReferenceType() && !parameter.getNonReferenceType().isConstQualified();
  // A module is moved through a copy of its holder as well.
  const bool module = module_of(argument->getType()) != nullptr ||
                      is_named(record_of(argument->getType()), "jit", "Module");
  if (!can_change && !module) return;
  const clang::ValueDecl* variable = named_value(argument);
  if (variable != nullptr && is_followed(variable->getType())) state_.forget(variable);
}

void Evaluator::meet(const clang::Expr* op, llvm::StringRef name, const Operand& a,
                     const Operand& b) {
  Meeting meeting;
  meeting.op = op;
  meeting.name = name.str();
  meeting.first = a;
  meeting.second = b;
  meeting.conflict = state_.conflict(a.placement, b.placement);
  // On one of the paths that lead here, what a factory made without being told a device.
  for (Operand* operand : {&meeting.first, &meeting.second}) {
    if (meeting.conflict != Conflict::kNone) break;
    const clang::Expr* factory = operand->placement.default_on_a_path;
    if (factory == nullptr) continue;
    const Operand& other = operand == &meeting.first ? b : a;
    Placement on_path = Placement::on(DeviceValue::cpu(), factory);
    on_path.by_default = true;
    if (state_.conflict(on_path, other.placement) != Conflict::kPossible) continue;
    meeting.conflict = Conflict::kPossible;
    operand->placement = on_path;
  }
  if (meeting.conflict != Conflict::kNone) on_meeting_(meeting);
}

}  // namespace devsan::lint
