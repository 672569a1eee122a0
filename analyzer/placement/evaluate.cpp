// Variables, members, constants and statements. Calls, objects and tensors are in the other
// evaluate_ files.
#include "evaluate.h"

#include "clang/AST/DeclTemplate.h"
#include "expressions.h"
#include "module_types.h"
#include "torch_types.h"
#include "unit_analysis.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

// The variable that an expression names, or names a part of.
const clang::ValueDecl* whole_of(const clang::Expr* expression) {
  while (true) {
    expression = written(expression);
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
      expression = member->getBase();
    } else if (const auto* element = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
               element != nullptr && element->getNumArgs() > 0) {
      expression = element->getArg(0);
    } else {
      return named_value(expression);
    }
  }
}

// True when something in `body` gives `variable`, or a part of it, a new value.
bool changes(const clang::Stmt* body, const clang::ValueDecl* variable) {
  if (body == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(body)) {
    if (call->isAssignmentOp() && whole_of(call->getArg(0)) == variable) return true;
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(body)) {
    const clang::Expr* object = call->getImplicitObjectArgument();
    const bool in_place =
        object != nullptr && call->getMethodDecl() != nullptr && !call->getMethodDecl()->isConst();
    if (in_place && whole_of(object) == variable) return true;
  }
  return llvm::any_of(body->children(),
                      [variable](const clang::Stmt* child) { return changes(child, variable); });
}

// The step from the whole to what a structured binding names.
std::string step_of(const clang::BindingDecl& part) {
  if (const clang::Expr* binding = part.getBinding()) {
    const auto* field = llvm::dyn_cast<clang::MemberExpr>(binding->IgnoreParenImpCasts());
    if (field != nullptr && part.getHoldingVar() == nullptr) {
      return std::string(member_step(*field->getMemberDecl()));
    }
  }
  const auto* whole = llvm::cast<clang::DecompositionDecl>(part.getDecomposedDecl());
  unsigned position = 0;
  for (const clang::BindingDecl* one : whole->bindings()) {
    if (one == &part) break;
    ++position;
  }
  return std::to_string(position);
}

// A constant whose initialiser is all there is to know of it.
const clang::Expr* constant_value(const clang::ValueDecl& declaration) {
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration);
  const bool constant = variable != nullptr && variable->hasGlobalStorage() &&
                        variable->getType().isConstQualified() && names_device(variable->getType());
  return constant ? variable->getAnyInitializer() : nullptr;
}

}  // namespace

Evaluator::Evaluator(UnitAnalysis& unit, DeviceState& state, OnMeeting on_meeting)
    : unit_(unit), context_(unit.context()), state_(state), on_meeting_(on_meeting) {}

void Evaluator::statement(const clang::Stmt* statement) {
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl* one : declaration->decls()) {
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(one)) this->declaration(*variable);
    }
    return;
  }
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) evaluate(expression);
}

void Evaluator::declaration(const clang::VarDecl& variable) {
  const clang::Expr* value = variable.getInit();
  Placement placement = value == nullptr ? Placement::unknown() : evaluate(value);
  const clang::QualType type = variable.getType();
  // A static's value is that of an earlier call. A reference is another name, where it is known for
  // what; else what it names may change under the other name.
  const bool alias = type->isReferenceType() && !type.getNonReferenceType().isConstQualified();
  if (variable.isStaticLocal() || (alias && !type->isRValueReferenceType())) {
    placement = Placement::unknown();
  }
  if (is_followed(type)) state_.set(state_.paths().of(&variable), std::move(placement));
}

Placement Evaluator::evaluate(const clang::Expr* expression) {
  const clang::Expr* bare = written(expression);
  if (bare->isTypeDependent() || llvm::isa<clang::CXXDefaultArgExpr>(bare)) {
    return Placement::unknown();
  }
  const UnitAnalysis::Nested nested(unit_);
  if (nested.too_deep()) return Placement::unknown();
  Placement placement = evaluate_bare(bare);
  placement.names = names_device(bare->getType());
  return placement;
}

Placement Evaluator::evaluate_bare(const clang::Expr* bare) {
  if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(bare)) {
    return text->isOrdinary() ? device_string(text->getString(), bare) : Placement::unknown();
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare)) return this->call(*call);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) return construction(*made);
  if (const auto* either = llvm::dyn_cast<clang::AbstractConditionalOperator>(bare)) {
    return choice(*either);
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare)) return aggregate(*list);
  if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(bare)) {
    return evaluate(list->getSubExpr());
  }
  if (const auto* value = llvm::dyn_cast<clang::CXXDefaultInitExpr>(bare)) {
    return evaluate(value->getExpr());
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(bare)) return this->lambda(*lambda);
  if (llvm::isa<clang::CXXThisExpr>(bare)) return state_.value(state_.paths().this_object());
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(bare)) {
    return this->reference(*reference);
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(bare)) return this->member(*member);
  if (const auto* made = llvm::dyn_cast<clang::CXXNewExpr>(bare)) {
    const clang::Expr* value = made->getInitializer();
    return value == nullptr ? Placement::unknown() : evaluate(value);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(bare)) {
    Placement value = evaluate(unary->getSubExpr());
    if (unary->getOpcode() == clang::UO_Deref) return value;
    // Whoever has the address may change it.
    if (unary->getOpcode() == clang::UO_AddrOf) forget(unary->getSubExpr());
    return Placement::unknown();
  }
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(bare)) {
    return evaluate(element->getBase());
  }
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

Placement Evaluator::reference(const clang::DeclRefExpr& reference) {
  const clang::ValueDecl* variable = reference.getDecl();
  if (is_device_type(variable->getType())) {
    const Placement constant = constant_device_type(&reference);
    if (constant.known) return constant;
  }
  if (const clang::Expr* value = constant_value(*variable)) return evaluate(value);
  if (!is_followed(variable->getType()) && !llvm::isa<clang::BindingDecl>(variable)) {
    return Placement::unknown();
  }
  const Target target = this->target(&reference);
  if (target.path == nullptr) return Placement::unknown();
  Placement placement = state_.value(target.path);
  if (target.element && is_tensor(variable->getType())) placement.rank = Rank::kUnknown;
  return placement;
}

Placement Evaluator::member(const clang::MemberExpr& member) {
  const clang::ValueDecl* declaration = member.getMemberDecl();
  if (const clang::Expr* value = constant_value(*declaration)) return evaluate(value);
  if (!llvm::isa<clang::FieldDecl>(declaration) || !is_followed(declaration->getType())) {
    return Placement::unknown();
  }
  const Placement whole = evaluate(member.getBase());
  const llvm::StringRef step = member_step(*declaration);
  return unit_.is_moved_with(*llvm::cast<clang::FieldDecl>(declaration), whole)
             ? whole.part(step)
             : Placement::unknown();
}

Evaluator::Target Evaluator::target_of(const clang::ValueDecl& declaration) const {
  Paths& paths = state_.paths();
  if (const auto* part = llvm::dyn_cast<clang::BindingDecl>(&declaration)) {
    const auto* whole = llvm::dyn_cast_or_null<clang::VarDecl>(part->getDecomposedDecl());
    if (whole == nullptr) return {};
    Target of_whole = target_of(*whole);
    of_whole.path = of_whole.path->member(step_of(*part));
    return of_whole;
  }
  // A reference is another name. The variables behind a range-for stand for what they run over.
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration);
  const bool alias = variable != nullptr && !llvm::isa<clang::ParmVarDecl>(variable) &&
                     !variable->isStaticLocal() && variable->getInit() != nullptr &&
                     (variable->getType()->isReferenceType() || variable->isImplicit());
  if (alias) {
    const Target aliased = target(variable->getInit());
    if (aliased.path != nullptr) return aliased;
  }
  return {paths.of(&declaration)};
}

Evaluator::Target Evaluator::target(const clang::Expr* expression) const {
  const clang::Expr* bare = written(expression);
  Paths& paths = state_.paths();
  if (llvm::isa<clang::CXXThisExpr>(bare)) return {paths.this_object()};
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(bare)) {
    return target_of(*reference->getDecl());
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(bare)) {
    if (!llvm::isa<clang::FieldDecl>(member->getMemberDecl())) {
      return {paths.of(member->getMemberDecl())};
    }
    Target whole = member->isArrow() ? pointed_to(member->getBase()) : target(member->getBase());
    if (whole.path != nullptr)
      whole.path = whole.path->member(member_step(*member->getMemberDecl()));
    return whole;
  }
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare)) {
    const auto kind = operation->getOperator();
    const bool dereferences =
        kind == clang::OO_Arrow || (kind == clang::OO_Star && operation->getNumArgs() == 1);
    const bool element = kind == clang::OO_Subscript && !is_tensor(operation->getArg(0)->getType());
    if (!dereferences && !element) return {};
    Target whole = pointed_to(operation->getArg(0));
    whole.element |= element;
    return whole;
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(bare)) {
    if (unary->getOpcode() == clang::UO_Deref) return pointed_to(unary->getSubExpr());
    return unary->getOpcode() == clang::UO_AddrOf ? target(unary->getSubExpr()) : Target{};
  }
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(bare)) {
    Target whole = target(element->getBase());
    whole.element = true;
    return whole;
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare)) {
    const clang::Expr* object = call->getImplicitObjectArgument();
    if (object == nullptr) return {};
    const Access access = access_of(*call);
    if (access == Access::kNone) return {};
    Target whole = target(object);
    whole.element |= access == Access::kElement;
    return whole;
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(bare);
  if (call == nullptr || call->getNumArgs() != 1) return {};
  if (const auto number = got_element(*call)) {
    Target whole = target(call->getArg(0));
    if (whole.path != nullptr) whole.path = whole.path->member(*number);
    return whole;
  }
  return passes_on(*call) ? target(call->getArg(0)) : Target{};
}

Evaluator::Target Evaluator::pointed_to(const clang::Expr* pointer) const {
  Target whole = target(pointer);
  if (whole.path == nullptr) return whole;
  const Path* root = whole.path->root();
  const bool given =
      root->begins_at_this() || (root->variable() != nullptr && state_.is_given(root->variable()));
  whole.aliased |= !given && may_be_aliased(written(pointer)->getType());
  return whole;
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
  if (!names_device(choice.getType())) {
    return state_.joined(state_.paths().of(&choice), yes, no, state_);
  }
  return either(&choice, yes, no);
}

Placement Evaluator::either(const clang::Expr* where, const Placement& a, const Placement& b) {
  if (!a.known || !b.known) return Placement::unknown();
  if (a.devices == b.devices) return a;
  llvm::SmallVector<DeviceValue, 4> devices(a.devices.begin(), a.devices.end());
  devices.append(b.devices.begin(), b.devices.end());
  const Path* symbol = state_.paths().of(where);
  state_.set_facts(symbol, state_.facts_of(devices));
  return Placement::on(DeviceValue::of(symbol), where);
}

// What is in a list counts as on a device when it is known to be on one, whatever else is in it.
Placement Evaluator::list(llvm::ArrayRef<const clang::Expr*> elements) {
  Placement all = Placement::undefined();
  for (const clang::Expr* element : elements) {
    Placement placement = evaluate(element);
    if (placement.put == nullptr) placement.put = element;
    all = all.is_undefined() ? placement
                             : state_.joined(state_.paths().of(element), all, placement, state_);
  }
  return all;
}

// Keeps what is captured by copy. The body runs later, perhaps: what it changes of what is captured
// by reference is not known from here on.
Placement Evaluator::lambda(const clang::LambdaExpr& lambda) {
  Placement closure = Placement::unknown();
  for (const clang::LambdaCapture& capture : lambda.captures()) {
    if (!capture.capturesVariable()) continue;
    const clang::ValueDecl* variable = capture.getCapturedVar();
    if (!is_followed(variable->getType())) continue;
    const Path* path = state_.paths().of(variable);
    if (capture.getCaptureKind() == clang::LCK_ByCopy) {
      const auto* made = llvm::dyn_cast<clang::VarDecl>(variable);
      const bool inits = made != nullptr && made->isInitCapture() && made->getInit() != nullptr;
      closure.set_part(variable->getName(), inits ? evaluate(made->getInit()) : state_.value(path));
    } else if (changes(lambda.getBody(), variable)) {
      state_.forget(path);
    }
  }
  return closure;
}

// `Device(kCUDA, rank)` is a CUDA device, whichever: one for each variable that names its index.
Placement Evaluator::device_of_type_and_index(const clang::Expr* type, const clang::Expr* index,
                                              const clang::Expr* made) {
  Placement device = evaluate(type);
  device.made = made;
  device.by_default = false;
  if (index == nullptr || llvm::isa<clang::CXXDefaultArgExpr>(index)) return device;
  const DeviceValue* known = device.single();
  if (known == nullptr || known->is_cpu()) return device;
  clang::Expr::EvalResult result;
  if (known->is_symbol() || index->isValueDependent()) return Placement::unknown();
  if (!index->EvaluateAsInt(result, context_)) {
    const clang::ValueDecl* variable = named_value(index);
    const Path* symbol = variable != nullptr ? state_.paths().of(variable)->member(kIndexed)
                                             : state_.paths().of(index);
    state_.set_facts(symbol, SymbolFacts{false, true, true});
    return Placement::on(DeviceValue::of(symbol), made);
  }
  const auto number = result.Val.getInt().getExtValue();
  return Placement::on(
      number < 0 ? DeviceValue::cuda() : DeviceValue::cuda(static_cast<int>(number)), made);
}

void Evaluator::assign(const clang::Expr* expression, Placement placement) {
  if (!is_followed(expression->getType())) return;
  const Target target = this->target(expression);
  if (target.path != nullptr) set(target, std::move(placement));
}

void Evaluator::set(const Target& target, Placement placement) {
  if (target.aliased) {
    placement = Placement::unknown();
  } else if (target.element) {
    placement = state_.joined(target.path, state_.value(target.path), placement, state_);
  }
  state_.set(target.path, std::move(placement));
}

void Evaluator::forget_if_changed(const clang::Expr* argument, clang::QualType parameter) {
  if (is_shared(parameter) || is_shared(argument->getType().getNonReferenceType())) {
    forget(argument);
  }
}

}  // namespace devsan::lint
