// LibTorch's functions and the methods of tensors and options: moves, factories, ops.
#include "clang/AST/DeclTemplate.h"
#include "clang_compat.h"
#include "evaluate.h"
#include "expressions.h"
#include "module_types.h"
#include "torch_ops.h"
#include "torch_types.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

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

// A tensor, or several that ops return.
bool gives_tensors(clang::QualType type) {
  return is_tensor(type) || is_tuple(type) || is_tensor(element_of(type));
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

// `w` of `CrossEntropyFuncOptions().weight(w)`: a tensor that options take along.
const clang::Expr* weight_in_options(const clang::Expr* argument) {
  const auto is_options = [](clang::QualType type) {
    const clang::CXXRecordDecl* record = record_of(type);
    return record != nullptr && is_of_libtorch(*record) && plain_name(record).ends_with("Options");
  };
  const clang::Expr* bare = written(argument);
  while (is_options(bare->getType())) {
    const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare);
    if (call == nullptr || call->getImplicitObjectArgument() == nullptr) break;
    const llvm::StringRef name = plain_name(call->getMethodDecl());
    const bool weight = name == "weight" || name == "pos_weight";
    if (weight && call->getNumArgs() == 1) return call->getArg(0);
    bare = written(call->getImplicitObjectArgument());
  }
  return nullptr;
}

bool is_script_module(clang::QualType type) {
  return is_named(record_of(type), "jit", "Module");
}

}  // namespace

Placement Evaluator::torch_function(const clang::CallExpr& call,
                                    const clang::FunctionDecl& callee) {
  const llvm::StringRef name = plain_name(&callee);
  if (is_tensor_options(callee.getReturnType())) {
    if (name == "device" && call.getNumArgs() > 0) {
      return device_of_type_and_index(call.getArg(0),
                                      call.getNumArgs() > 1 ? call.getArg(1) : nullptr, &call);
    }
    Placement unset = Placement::on(DeviceValue::cpu(), &call);
    unset.by_default = true;
    return unset;
  }
  if (name == "load" && is_script_module(callee.getReturnType())) {
    if (call.getNumArgs() > 1 && !llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(1))) {
      Placement device = evaluate(call.getArg(1));
      device.made = &call;
      device.names = false;
      return device;
    }
    return Placement::unknown();
  }
  if (name == "device_of" && call.getNumArgs() == 1) return evaluate(call.getArg(0));
  if (is_factory(callee)) return factory(call, callee);
  llvm::SmallVector<Operand, 4> operands;
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    if (holds_tensors(argument->getType())) {
      add_operands(argument, operands);
      continue;
    }
    if (const clang::Expr* weight = weight_in_options(argument)) {
      // Without dimensions it may stay on the CPU.
      Placement placement = evaluate(weight);
      if (placement.rank == Rank::kSome) operands.push_back({weight, std::move(placement)});
      continue;
    }
    evaluate(argument);
    if (i < callee.getNumParams()) {
      forget_if_changed(argument, callee.getParamDecl(i)->getType());
    }
  }
  if (name == "load") {
    for (const Operand& operand : operands) forget(operand.expression);
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
  return libtorch_op(call, callee, operands);
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
        meet({&call, name, operands[i], operands[j], elements});
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
    if (scalar || placement.is_undefined()) continue;
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
  result.parts = nullptr;
  result.rank = some && keeps_rank(operation != nullptr ? "" : llvm::StringRef(name))
                    ? Rank::kSome
                    : Rank::kUnknown;
  if (name == "stack" || name == "cat") result.rank = Rank::kSome;  // never without dimensions
  if (reduces_to_scalar(name) && written_arguments(call) == 1 &&
      !llvm::isa<clang::CXXMemberCallExpr>(call)) {
    result.rank = Rank::kScalar;
  }
  return result;
}

Placement Evaluator::tensor_method(const clang::CXXMemberCallExpr& call,
                                   const clang::Expr& object) {
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  Placement placement = evaluate(&object);
  if (method == "cpu" || method == "cuda") {
    Placement moved =
        Placement::on(method == "cpu" ? DeviceValue::cpu() : DeviceValue::cuda(), &call);
    moved.rank = placement.rank;
    return moved;
  }
  if (method == "to" || method == "type_as") return move(call, std::move(placement));
  if (method == "device" || method == "options") {
    if (method == "options") placement.by_default = false;
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
  if (method == "set_data" || method == "swap" || method == "reset") forget(&object);
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
    target.names = false;
    target.made = &call;
    target.put = nullptr;
    target.steps = nullptr;
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

// Hands on what two operands are to each other.
void Evaluator::meet(Meeting meeting) {
  // Without dimensions a CPU tensor may stand beside any other, and often none is known. What is
  // given is judged by the caller, who knows.
  const auto may_stand_beside = [&](const Operand& operand) {
    const DeviceValue* device = operand.placement.single();
    const bool scalar = meeting.elements && operand.placement.rank != Rank::kSome;
    return scalar && device != nullptr && device->is_cpu();
  };
  if (may_stand_beside(meeting.first) || may_stand_beside(meeting.second)) return;
  meeting.conflict = state_.conflict(meeting.first.placement, meeting.second.placement);
  // On one of the paths that lead here, what a factory made without being told a device.
  for (Operand* operand : {&meeting.first, &meeting.second}) {
    if (meeting.conflict != Conflict::kNone) break;
    const clang::Expr* factory = operand->placement.default_on_a_path;
    if (factory == nullptr) continue;
    const Operand& other = operand == &meeting.first ? meeting.second : meeting.first;
    Placement on_path = Placement::on(DeviceValue::cpu(), factory);
    on_path.by_default = true;
    if (state_.conflict(on_path, other.placement) != Conflict::kPossible) continue;
    meeting.conflict = Conflict::kPossible;
    operand->placement = on_path;
  }
  on_meeting_(meeting);
}

}  // namespace devsan::lint
