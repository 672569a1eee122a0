// Calls: moves, factories, ops, modules, and code that is not looked into.
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang_compat.h"
#include "evaluate.h"
#include "expressions.h"
#include "module_types.h"
#include "torch_ops.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

bool is_script_module(clang::QualType type) {
  return is_named(record_of(type), "jit", "Module");
}

// A tensor, or several in a list that an op takes.
bool holds_tensors(clang::QualType type) {
  if (is_tensor(type)) return true;
  const auto* record =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(type));
  if (record == nullptr || record->getTemplateArgs().size() == 0) return false;
  const bool wraps = StringSwitch<bool>(plain_name(record))
                         .Cases({"ArrayRef", "IListRef", "optional", "vector"}, true)
                         .Default(false);
  const clang::TemplateArgument& first = record->getTemplateArgs()[0];
  return wraps && first.getKind() == clang::TemplateArgument::Type && is_tensor(first.getAsType());
}

// A tensor, or a tuple of tensors that ops return.
bool gives_tensors(clang::QualType type) {
  if (is_tensor(type)) return true;
  const clang::CXXRecordDecl* record = record_of(type);
  const llvm::StringRef name = plain_name(record);
  return record != nullptr && record->isInStdNamespace() && (name == "tuple" || name == "pair");
}

// True when a function may move what it is given, or where that cannot be seen.
bool may_move_arguments(const clang::FunctionDecl* callee) {
  if (callee == nullptr) return true;
  if (is_of_libtorch(*callee)) return false;
  const clang::FunctionDecl* definition = nullptr;
  if (!callee->hasBody(definition)) return true;
  // A body that moves anything is not looked into further.
  struct Moves : clang::RecursiveASTVisitor<Moves> {
    bool found = false;
    bool VisitCallExpr(clang::CallExpr* call) {
      const llvm::StringRef name = plain_name(call->getDirectCallee());
      found |= name == "to" || name == "cuda" || name == "cpu" || name == "copy_" ||
               call->getDirectCallee() == nullptr;
      return !found;
    }
  } moves;
  moves.TraverseStmt(definition->getBody());
  return moves.found;
}

// A number, by itself or put into LibTorch's container of numbers and lists, as in
// `torch::tensor(1.0)`.
bool is_number(const clang::Expr* expression) {
  expression = written(expression);
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression);
  if (made != nullptr && made->getNumArgs() == 1 && !made->isListInitialization()) {
    expression = written(made->getArg(0));
  }
  return expression->getType()->isArithmeticType() || expression->getType()->isEnumeralType();
}

}  // namespace

Placement Evaluator::call(const clang::CallExpr& call) {
  if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call)) {
    return operator_call(*operation);
  }
  if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call)) {
    return method_call(*method);
  }
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) {
    unknown_call(call);
    return Placement::unknown();
  }
  const llvm::StringRef name = plain_name(callee);
  if (callee->isInStdNamespace() && call.getNumArgs() == 1 &&
      (name == "move" || name == "forward" || name == "get" || name == "as_const")) {
    return evaluate(call.getArg(0));
  }
  if (!is_of_libtorch(*callee)) {
    unknown_call(call);
    return Placement::unknown();
  }
  if (is_tensor_options(callee->getReturnType())) {
    if (name == "device" && call.getNumArgs() > 0) {
      return device_of_type_and_index(call.getArg(0),
                                      call.getNumArgs() > 1 ? call.getArg(1) : nullptr, &call);
    }
    Placement unset = Placement::on(DeviceValue::cpu(), &call);
    unset.by_default = true;
    return unset;
  }
  if (name == "load" && is_script_module(callee->getReturnType())) {
    if (call.getNumArgs() > 1 && !llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(1))) {
      Placement device = evaluate(call.getArg(1));
      device.made = &call;
      return device;
    }
    return Placement::unknown();
  }
  if (is_factory(*callee)) return factory(call, *callee);
  llvm::SmallVector<Operand, 4> operands;
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    if (holds_tensors(argument->getType())) {
      add_operands(argument, operands);
      continue;
    }
    evaluate(argument);
    if (i < callee->getNumParams()) {
      forget_if_changed(argument, callee->getParamDecl(i)->getType());
    }
  }
  if (name == "load") {
    for (const Operand& operand : operands) assign(operand.expression, Placement::unknown());
  }
  if (is_like_factory(name) && !operands.empty()) {
    Placement like = operands.front().placement;
    for (unsigned i = 1; i < call.getNumArgs(); ++i) {
      if (!is_tensor_options(call.getArg(i)->getType())) continue;
      const Placement options = evaluate(call.getArg(i));
      if (!llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(i)) && !options.by_default) {
        like.devices = options.devices;
        like.known = options.known;
      }
    }
    return like;
  }
  return libtorch_op(call, *callee, operands);
}

void Evaluator::add_operands(const clang::Expr* argument,
                             llvm::SmallVectorImpl<Operand>& operands) {
  const clang::Expr* bare = written(argument);
  while (!is_tensor(bare->getType())) {
    const clang::Expr* inner = nullptr;
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
        made != nullptr && written_arguments(*made) == 1) {
      inner = made->getArg(0);
    } else if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(bare)) {
      inner = list->getSubExpr();
    }
    if (inner == nullptr) break;
    bare = written(inner);
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(bare)) {
    for (const clang::Expr* element : list->inits()) {
      operands.push_back({element, evaluate(element)});
    }
    return;
  }
  operands.push_back({argument, evaluate(argument)});
}

Placement Evaluator::operator_call(const clang::CXXOperatorCallExpr& call) {
  const auto kind = call.getOperator();
  const clang::Expr* first = call.getArg(0);
  if (kind == clang::OO_Equal && call.getNumArgs() == 2) {
    Placement placement = evaluate(call.getArg(1));
    if (named_value(first) == nullptr) evaluate(first);
    assign(first, placement);
    return placement;
  }
  if (kind == clang::OO_Arrow || (kind == clang::OO_Star && call.getNumArgs() == 1)) {
    return evaluate(first);
  }
  if (kind == clang::OO_Subscript) {
    Placement element = evaluate(first);
    evaluate(call.getArg(1));
    element.rank = Rank::kUnknown;
    const bool followed = is_tensor(first->getType()) || !element_of(first->getType()).isNull();
    return followed ? element : Placement::unknown();
  }
  if (kind == clang::OO_Call && (module_of(first->getType()) != nullptr)) {
    return forward(call, *first, call.getDirectCallee(), 1);
  }
  const clang::FunctionDecl* callee = call.getDirectCallee();
  llvm::SmallVector<Operand, 2> operands;
  for (const clang::Expr* argument : call.arguments()) {
    Placement placement = evaluate(argument);
    if (is_tensor(argument->getType())) operands.push_back({argument, std::move(placement)});
  }
  if (callee == nullptr || !is_of_libtorch(*callee) || !is_tensor(call.getType())) {
    unknown_call(call);
    return Placement::unknown();
  }
  return libtorch_op(call, *callee, operands);
}

Placement Evaluator::libtorch_op(const clang::CallExpr& call, const clang::FunctionDecl& callee,
                                 llvm::ArrayRef<Operand> operands) {
  const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  const std::string name =
      operation != nullptr
          ? std::string("operator") + clang::getOperatorSpelling(operation->getOperator())
          : plain_name(&callee).str();
  if (operands.empty()) return Placement::unknown();
  // Each is held against each; a list that is longer was written by a machine.
  constexpr std::size_t kMostOperands = 64;
  operands = operands.take_front(kMostOperands);
  const bool elements = operation != nullptr || works_on_elements(name);
  if (needs_one_device(callee)) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      for (std::size_t j = i + 1; j < operands.size(); ++j) {
        // Without dimensions a CPU tensor may stand beside any other, and often none is known.
        const auto may_be_scalar = [&](const Operand& operand) {
          return elements && operand.placement.rank != Rank::kSome;
        };
        const auto on_cpu = [](const Operand& operand) {
          const DeviceValue* device = operand.placement.single();
          return device != nullptr && device->is_cpu();
        };
        const bool allowed = (on_cpu(operands[i]) && may_be_scalar(operands[i])) ||
                             (on_cpu(operands[j]) && may_be_scalar(operands[j]));
        if (!allowed) meet(&call, name, operands[i], operands[j]);
      }
    }
  }
  if (!gives_tensors(call.getType())) return Placement::unknown();
  // The result is where the arguments are, when they agree.
  Placement result;
  bool first = true;
  bool some = false;
  for (const Operand& operand : operands) {
    const Placement& placement = operand.placement;
    some |= placement.rank == Rank::kSome;
    const bool scalar = elements && operands.size() > 1 && placement.rank == Rank::kScalar;
    if (scalar || (placement.known && placement.devices.empty())) continue;
    if (first || (result.by_default && !placement.by_default)) {
      // Beside one that names no device, and may be the mistake, the other counts.
      result = placement;
    } else if (placement.by_default && !result.by_default) {
      continue;
    } else if (const DeviceValue* one = result.single(), *other = placement.single();
               one != nullptr && other != nullptr && one->is_symbol() && !other->is_cpu()) {
      // The op worked, so they are on one device, which the more certain names.
      if (!other->is_symbol()) result = placement;
    } else if (!placement.known || !result.known || placement.devices != result.devices) {
      result = Placement::unknown();
    }
    first = false;
  }
  if (first) result = operands.front().placement;
  result.put = nullptr;
  result.rank = some && keeps_rank(operation != nullptr ? "" : llvm::StringRef(name))
                    ? Rank::kSome
                    : Rank::kUnknown;
  if (reduces_to_scalar(name) && written_arguments(call) == 1 &&
      !llvm::isa<clang::CXXMemberCallExpr>(call)) {
    result.rank = Rank::kScalar;
  }
  return result;
}

Placement Evaluator::method_call(const clang::CXXMemberCallExpr& call) {
  const clang::Expr* object = call.getImplicitObjectArgument();
  if (object == nullptr || call.getMethodDecl() == nullptr) {
    unknown_call(call);
    return Placement::unknown();
  }
  const clang::Expr* bare = written(object);
  const clang::CXXRecordDecl* owner = call.getMethodDecl()->getParent();
  if (is_named(owner, "at", "Tensor") || is_named(owner, "at", "TensorBase")) {
    return tensor_method(call, *bare);
  }
  if (is_named(owner, "c10", "TensorOptions")) return options_method(call, *bare);
  if (is_named(owner, "c10", "Device")) {
    evaluate(bare);
    return Placement::unknown();
  }
  if (is_script_module(bare->getType()) || derives_from(owner, "nn", "Module")) {
    if (llvm::isa<clang::CXXThisExpr>(bare) && !call.getMethodDecl()->isConst() &&
        !is_of_libtorch(*owner)) {
      unknown_call(call);
      return Placement::unknown();
    }
    return module_method(call, *bare);
  }
  if (!element_of(bare->getType()).isNull()) return container_method(call, *bare);
  unknown_call(call);
  return Placement::unknown();
}

Placement Evaluator::tensor_method(const clang::CXXMemberCallExpr& call,
                                   const clang::Expr& object) {
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  Placement placement = evaluate(&object);
  if (method == "cpu") {
    Placement moved = Placement::on(DeviceValue::cpu(), &call);
    moved.rank = placement.rank;
    return moved;
  }
  if (method == "cuda") {
    Placement moved = Placement::on(DeviceValue::cuda(), &call);
    moved.rank = placement.rank;
    return moved;
  }
  if (method == "to") return move(call, std::move(placement));
  if (method == "device") return placement;
  if (method == "options") {
    placement.by_default = false;
    return placement;
  }
  if (is_new_factory(method)) {
    for (const clang::Expr* argument : call.arguments()) {
      if (!is_tensor_options(argument->getType()) ||
          llvm::isa<clang::CXXDefaultArgExpr>(argument)) {
        continue;
      }
      const Placement options = evaluate(argument);
      if (!options.by_default) placement = options;
    }
    placement.rank = Rank::kSome;
    placement.by_default = false;
    return placement;
  }
  if (method == "set_data" || method == "swap" || method == "reset") {
    assign(&object, Placement::unknown());
  }
  llvm::SmallVector<Operand, 4> operands;
  operands.push_back({&object, placement});
  for (const clang::Expr* argument : call.arguments()) {
    Placement other = evaluate(argument);
    if (holds_tensors(argument->getType()) && !llvm::isa<clang::CXXDefaultArgExpr>(argument)) {
      operands.push_back({argument, std::move(other)});
    }
  }
  if (!needs_one_device(*call.getMethodDecl())) {
    placement.rank = Rank::kUnknown;
    return gives_tensors(call.getType()) ? placement : Placement::unknown();
  }
  Placement result = libtorch_op(call, *call.getMethodDecl(), operands);
  if (reduces_to_scalar(method) && written_arguments(call) == 0) result.rank = Rank::kScalar;
  return result;
}

// `to` in all its overloads: a device, options, another tensor, or a dtype alone.
Placement Evaluator::move(const clang::CXXMemberCallExpr& call, Placement object) {
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    const clang::QualType type = call.getMethodDecl()->getParamDecl(i)->getType();
    const bool names =
        is_device(type) || is_optional_device(type) || is_tensor_options(type) || is_tensor(type);
    if (!names) continue;
    Placement target = evaluate(argument);
    if (is_tensor_options(type) && target.by_default) return object;
    target.rank = object.rank;
    target.by_default = false;
    target.made = &call;
    target.put = nullptr;
    return target;
  }
  return object;
}

Placement Evaluator::options_method(const clang::CXXMemberCallExpr& call,
                                    const clang::Expr& object) {
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  const Placement options = evaluate(&object);
  if (method == "device" && written_arguments(call) > 0) {
    const clang::Expr* index = written_arguments(call) > 1 ? call.getArg(1) : nullptr;
    return device_of_type_and_index(call.getArg(0), index, &call);
  }
  if (method == "device_index") return Placement::unknown();
  return options;  // dtype, layout, requires_grad; device() asks
}

Placement Evaluator::module_method(const clang::CXXMemberCallExpr& call,
                                   const clang::Expr& object) {
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  if (method == "to") {
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
      const clang::Expr* argument = call.getArg(i);
      if (!is_device(call.getMethodDecl()->getParamDecl(i)->getType())) continue;
      Placement target = evaluate(argument);
      target.made = &call;
      assign(&object, target);
      return Placement::unknown();
    }
    return Placement::unknown();  // a dtype: stays
  }
  if (method == "forward") return forward(call, object, call.getMethodDecl(), 0);
  for (const clang::Expr* argument : call.arguments()) evaluate(argument);
  const bool asks = StringSwitch<bool>(method)
                        .Cases({"eval", "train", "zero_grad", "parameters", "buffers"}, true)
                        .Cases({"named_parameters", "named_buffers", "is_training"}, true)
                        .Cases({"register_module", "register_buffer", "save"}, true)
                        .Default(call.getMethodDecl()->isConst());
  if (!asks) assign(&object, Placement::unknown());
  return Placement::unknown();
}

Placement Evaluator::forward(const clang::CallExpr& call, const clang::Expr& module,
                             const clang::FunctionDecl* callee, unsigned first_argument) {
  const clang::CXXRecordDecl* record = module_of(module.getType());
  const bool script = is_script_module(module.getType());
  // A call through a holder's operator() is one of the module's forward.
  if (record != nullptr && first_argument == 1) {
    callee = nullptr;
    if (const clang::CXXRecordDecl* definition = record->getDefinition()) {
      for (const clang::CXXMethodDecl* one : definition->methods()) {
        if (plain_name(one) == "forward") callee = one;
      }
    }
  }
  const bool of_libtorch = script || (record != nullptr && is_of_libtorch(*record));
  const bool takes_as_is = of_libtorch || !may_move_arguments(callee);
  Operand self{&module, evaluate(&module), true};
  Placement last = Placement::unknown();
  unsigned tensors = 0;
  for (unsigned i = first_argument; i < call.getNumArgs(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    Placement placement = evaluate(argument);
    const bool tensor = is_tensor(argument->getType()) || script;
    if (!tensor || llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    ++tensors;
    last = placement;
    if (!takes_as_is || placement.rank == Rank::kScalar) continue;
    Operand operand{argument, std::move(placement)};
    meet(&call, "forward", operand, self);
  }
  if (script) return Placement::unknown();
  // What a module of the project gives is where its weights and inputs are, wherever that is.
  if (!of_libtorch) return Placement::on(DeviceValue::of(static_cast<const clang::Expr*>(&call)));
  if (!gives_tensors(call.getType())) return Placement::unknown();
  const bool stateless = record != nullptr && !may_have_state(*record);
  Placement result = stateless && tensors == 1 ? last : self.placement;
  result.rank = Rank::kSome;
  result.by_default = false;
  return result;
}

Placement Evaluator::container_method(const clang::CXXMemberCallExpr& call,
                                      const clang::Expr& object) {
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  Placement content = evaluate(&object);
  if (method == "push_back" || method == "emplace_back") {
    Placement placement = call.getNumArgs() == 1 ? evaluate(call.getArg(0)) : Placement::unknown();
    if (call.getNumArgs() == 1) placement.put = call.getArg(0);
    const bool empty = content.known && content.devices.empty();
    assign(&object, empty ? placement : join(content, placement));
    return Placement::unknown();
  }
  for (const clang::Expr* argument : call.arguments()) evaluate(argument);
  if (method == "clear") {
    assign(&object, Placement::undefined());
    return Placement::unknown();
  }
  if (method == "back" || method == "front" || method == "at") {
    content.rank = Rank::kUnknown;
    return content;
  }
  if (!call.getMethodDecl()->isConst() && method != "begin" && method != "end" &&
      method != "reserve" && method != "size") {
    assign(&object, Placement::unknown());
  }
  return Placement::unknown();
}

Placement Evaluator::factory(const clang::CallExpr& call, const clang::FunctionDecl& callee) {
  Placement made = Placement::on(DeviceValue::cpu(), &call);
  made.by_default = true;
  const llvm::StringRef name = plain_name(&callee);
  made.rank = Rank::kSome;
  if (name == "scalar_tensor") made.rank = Rank::kScalar;
  if (call.getNumArgs() > 0) {
    const clang::Expr* first = call.getArg(0);
    if (name == "tensor" && is_number(first)) made.rank = Rank::kScalar;
    const bool sized = name == "zeros" || name == "ones" || name == "empty" || name == "full" ||
                       name == "rand" || name == "randn";
    if (sized && is_empty_list(first)) made.rank = Rank::kScalar;
  }
  for (unsigned i = 0; i < call.getNumArgs() && i < callee.getNumParams(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    const clang::QualType type = callee.getParamDecl(i)->getType();
    if (!is_tensor_options(type) && !is_optional_device(type)) {
      evaluate(argument);
      continue;
    }
    const Placement options = evaluate(argument);
    made.known = options.known;
    made.devices = options.devices;
    made.by_default = options.by_default && options.known;
  }
  return made;
}

void Evaluator::unknown_call(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  // An operator that is a method has its object as first argument and no parameter for it.
  const unsigned shift =
      operation != nullptr && llvm::isa_and_nonnull<clang::CXXMethodDecl>(callee) ? 1 : 0;
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    if (operation == nullptr) evaluate(argument);
    if (i < shift) continue;
    const bool seen = callee != nullptr && i - shift < callee->getNumParams();
    forget_if_changed(argument, seen ? callee->getParamDecl(i - shift)->getType()
                                     : context_.getLValueReferenceType(argument->getType()));
  }
  const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  if (method == nullptr || method->getImplicitObjectArgument() == nullptr) return;
  const clang::Expr* object = written(method->getImplicitObjectArgument());
  if (llvm::isa<clang::CXXThisExpr>(object)) {
    const bool reads = method->getMethodDecl() != nullptr && method->getMethodDecl()->isConst();
    if (!reads) state_.forget_members();
  } else {
    evaluate(object);
  }
}

}  // namespace devsan::lint
