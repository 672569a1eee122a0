// Calls: to whom they go, modules, and code that is not looked into.
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang_compat.h"
#include "evaluate.h"
#include "expressions.h"
#include "module_types.h"
#include "torch_types.h"
#include "unit_analysis.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

bool is_script_module(clang::QualType type) {
  return is_named(record_of(type), "jit", "Module");
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

// The one `forward` of a module that a call of the module itself reaches.
const clang::FunctionDecl* forward_of(const clang::CXXRecordDecl* module) {
  const clang::CXXRecordDecl* definition = module == nullptr ? nullptr : module->getDefinition();
  const clang::FunctionDecl* callee = nullptr;
  if (definition == nullptr) return nullptr;
  for (const clang::CXXMethodDecl* one : definition->methods()) {
    if (plain_name(one) != "forward") continue;
    if (callee != nullptr) return nullptr;
    callee = one;
  }
  return callee;
}

// `h` and `c` of `std::make_tuple(h, c)`, where an op takes the tuple.
llvm::SmallVector<const clang::Expr*, 2> listed_in_tuple(const clang::Expr* argument) {
  const clang::Expr* bare = written(argument);
  while (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
    if (written_arguments(*made) != 1) break;
    bare = written(made->getArg(0));
  }
  llvm::SmallVector<const clang::Expr*, 2> elements;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(bare);
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
  if (call != nullptr && call->getDirectCallee() != nullptr &&
      is_of_std(*call->getDirectCallee()) && plain_name(call->getDirectCallee()) == "make_tuple") {
    elements.append(call->arg_begin(), call->arg_end());
  } else if (made != nullptr && is_tuple(made->getType())) {
    elements.append(made->arg_begin(), made->arg_end());
  }
  llvm::erase_if(elements, [](const clang::Expr* one) { return !is_tensor(one->getType()); });
  return elements;
}

bool is_closure(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return record != nullptr && record->isLambda();
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
  if (is_of_std(*callee)) {
    Placement result;
    if (std_function(call, plain_name(callee), result)) return result;
  } else if (is_of_libtorch(*callee)) {
    return torch_function(call, *callee);
  }
  if (const FunctionSummary* summary = summary_of(callee)) {
    Site site{&call, callee, callee->getNameAsString()};
    for (const clang::Expr* argument : call.arguments()) {
      site.arguments.push_back(argument);
      site.placements.push_back(this->argument(argument));
    }
    return apply(*summary, site);
  }
  lambda_handed_on(call);
  unknown_call(call);
  return Placement::unknown();
}

Placement Evaluator::operator_call(const clang::CXXOperatorCallExpr& call) {
  const auto kind = call.getOperator();
  const clang::Expr* first = call.getArg(0);
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (kind == clang::OO_Equal && call.getNumArgs() == 2) {
    const Placement placement = evaluate(call.getArg(1));
    const clang::Expr* target = written(first);
    if (const auto* tie = llvm::dyn_cast<clang::CallExpr>(target);
        tie != nullptr && plain_name(tie->getDirectCallee()) == "tie") {
      for (unsigned i = 0; i < tie->getNumArgs(); ++i) {
        assign(tie->getArg(i), placement.part(std::to_string(i)));
      }
      return placement;
    }
    if (this->target(first).path == nullptr) evaluate(first);
    assign(first, placement);
    return placement;
  }
  if (kind == clang::OO_Arrow || (kind == clang::OO_Star && call.getNumArgs() == 1)) {
    return evaluate(first);
  }
  if (kind == clang::OO_PlusPlus && is_named(record_of(first->getType()), "data", "Iterator")) {
    // The next batch is where the first was made.
    const auto* iterator = llvm::dyn_cast_or_null<clang::VarDecl>(named_value(first));
    if (iterator != nullptr && iterator->getInit() != nullptr) declaration(*iterator);
    return Placement::unknown();
  }
  if (kind == clang::OO_Subscript) {
    Placement element = evaluate(first);
    evaluate(call.getArg(1));
    element.rank = Rank::kUnknown;
    return element;
  }
  if (kind == clang::OO_Call && module_of(first->getType()) != nullptr) {
    return forward(call, *first, callee, 1);
  }
  if (kind == clang::OO_Call && is_closure(first->getType())) {
    if (const FunctionSummary* summary = summary_of(callee)) {
      // What is called where it is written changes nothing out of sight.
      const bool here = llvm::isa<clang::LambdaExpr>(written(first));
      Site site{&call, callee, "the lambda", first};
      if (!here) site.object_placement = evaluate(first);
      for (unsigned i = 1; i < call.getNumArgs(); ++i) {
        site.arguments.push_back(call.getArg(i));
        site.placements.push_back(evaluate(call.getArg(i)));
      }
      return apply(*summary, site);
    }
  }
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

Placement Evaluator::method_call(const clang::CXXMemberCallExpr& call) {
  const clang::Expr* object = call.getImplicitObjectArgument();
  const clang::CXXMethodDecl* method = call.getMethodDecl();
  if (object == nullptr || method == nullptr) {
    unknown_call(call);
    return Placement::unknown();
  }
  const clang::Expr* bare = written(object);
  const clang::CXXRecordDecl* owner = method->getParent();
  if (is_named(owner, "at", "Tensor") || is_named(owner, "at", "TensorBase")) {
    return tensor_method(call, *bare);
  }
  if (is_named(owner, "c10", "TensorOptions")) return options_method(call, *bare);
  if (is_named(owner, "c10", "Device")) {
    Placement device = evaluate(bare);
    return plain_name(method) == "type" ? device : Placement::unknown();
  }
  if (is_named(owner, "data", "DataLoaderBase") && plain_name(method) == "begin") {
    return loaded_batch(call);
  }
  Placement result;
  if (wrapper_method(call, *bare, result)) return result;
  const bool module = is_script_module(bare->getType()) || derives_from(owner, "nn", "Module");
  const bool of_this = llvm::isa<clang::CXXThisExpr>(bare);
  if (module && (is_of_libtorch(*owner) || (plain_name(method) == "forward" && !of_this))) {
    return module_method(call, *bare);
  }
  if (!element_of(bare->getType()).isNull()) return container_method(call, *bare);
  if (const FunctionSummary* summary = summary_of(method)) {
    Site site{&call, method, method->getNameAsString(), bare, evaluate(bare)};
    for (const clang::Expr* argument : call.arguments()) {
      site.arguments.push_back(argument);
      site.placements.push_back(this->argument(argument));
    }
    return apply(*summary, site);
  }
  if (module && !of_this) return module_method(call, *bare);
  lambda_handed_on(call);
  unknown_call(call);
  return Placement::unknown();
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
      target.names = false;
      assign(&object, target);
      return Placement::unknown();
    }
    return Placement::unknown();  // a dtype: stays
  }
  if (method == "forward") return forward(call, object, call.getMethodDecl(), 0);
  if (method == "clone" && call.getNumArgs() == 1) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(0))) return Placement::unknown();
    Placement copy = evaluate(call.getArg(0));
    copy.made = &call;
    copy.names = false;
    return copy;
  }
  llvm::SmallVector<Placement, 2> arguments;
  for (const clang::Expr* argument : call.arguments()) arguments.push_back(evaluate(argument));
  // Registration gives back what is registered.
  const bool registers = StringSwitch<bool>(method)
                             .Cases({"register_module", "register_buffer"}, true)
                             .Case("register_parameter", true)
                             .Default(false);
  if (registers) return arguments.size() > 1 ? arguments[1] : Placement::unknown();
  const bool asks = StringSwitch<bool>(method)
                        .Cases({"eval", "train", "zero_grad", "parameters", "buffers"}, true)
                        .Cases({"named_parameters", "named_buffers", "is_training"}, true)
                        .Case("save", true)
                        .Default(call.getMethodDecl()->isConst());
  if (!asks) forget(&object);
  return Placement::unknown();
}

Placement Evaluator::forward(const clang::CallExpr& call, const clang::Expr& module,
                             const clang::FunctionDecl* callee, unsigned first_argument) {
  const clang::CXXRecordDecl* record = module_of(module.getType());
  const bool script = is_script_module(module.getType());
  // A call through a holder's operator() is one of the module's forward.
  if (record != nullptr && first_argument == 1) callee = forward_of(record);
  const bool of_libtorch = script || (record != nullptr && is_of_libtorch(*record));
  const bool takes_as_is = of_libtorch || !may_move_arguments(callee);
  Operand self{&module, evaluate(&module), true};
  Site site{&call, callee, "forward", &module, self.placement};
  Placement last = Placement::unknown();
  unsigned tensors = 0;
  for (unsigned i = first_argument; i < call.getNumArgs(); ++i) {
    const clang::Expr* argument = call.getArg(i);
    Placement placement = evaluate(argument);
    site.arguments.push_back(argument);
    site.placements.push_back(placement);
    // The states of an LSTM come in a tuple, written out where it is called.
    if (of_libtorch && !script) {
      for (const clang::Expr* state : listed_in_tuple(argument)) {
        Operand operand{state, evaluate(state)};
        if (operand.placement.rank == Rank::kSome) meet({&call, "forward", operand, self});
      }
    }
    const bool tensor = is_tensor(argument->getType()) || script;
    if (!tensor || llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    ++tensors;
    last = placement;
    if (!takes_as_is || placement.rank == Rank::kScalar) continue;
    meet({&call, "forward", Operand{argument, std::move(placement)}, self});
  }
  if (script) return Placement::unknown();
  if (!of_libtorch) {
    const FunctionSummary* summary = callee == nullptr ? nullptr : summary_of(callee);
    const Placement result = summary == nullptr ? Placement::unknown() : apply(*summary, site);
    // What a module of the project gives is where its weights and inputs are, wherever that is.
    if (result.known || result.parts != nullptr) return result;
    return Placement::on(DeviceValue::of(state_.paths().of(&call)));
  }
  if (!is_tensor(call.getType()) && !is_tuple(call.getType())) return Placement::unknown();
  const bool stateless = record != nullptr && !may_have_state(*record);
  Placement result = stateless && tensors == 1 ? last : self.placement;
  result.rank = Rank::kSome;
  result.by_default = false;
  result.parts = nullptr;
  return result;
}

// A function that is summarised says what it does to what a pointer points to.
Placement Evaluator::argument(const clang::Expr* argument) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(written(argument));
  const bool pointer = address != nullptr && address->getOpcode() == clang::UO_AddrOf;
  return evaluate(pointer ? address->getSubExpr() : argument);
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
  const bool reads = method->getMethodDecl() != nullptr && method->getMethodDecl()->isConst();
  if (llvm::isa<clang::CXXThisExpr>(object)) {
    if (!reads) state_.forget(state_.paths().this_object());
    return;
  }
  evaluate(object);
  if (!reads) forget(object);
}

}  // namespace devsan::lint
