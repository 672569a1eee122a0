// Objects: what is constructed, listed, wrapped, put into containers and taken out again.
#include "clang_compat.h"
#include "evaluate.h"
#include "expressions.h"
#include "loader.h"
#include "module_types.h"
#include "torch_types.h"
#include "unit_analysis.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

bool is_string(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  return record != nullptr && record->isInStdNamespace() && plain_name(record) == "basic_string";
}

void set_at(Placement& whole, llvm::ArrayRef<std::string> steps, Placement placement) {
  if (steps.empty()) {
    whole = std::move(placement);
    return;
  }
  Placement part = whole.part(steps.front());
  set_at(part, steps.drop_front(), std::move(placement));
  whole.set_part(steps.front(), std::move(part));
}

Placement unset_options(const clang::Expr* made) {
  Placement unset = Placement::on(DeviceValue::cpu(), made);
  unset.by_default = true;
  unset.names = true;
  return unset;
}

}  // namespace

Placement Evaluator::options_of(const clang::CXXConstructExpr& made) {
  const unsigned count = written_arguments(made);
  if (count == 0) return unset_options(&made);
  const clang::QualType argument = written(made.getArg(0))->getType();
  const bool device = names_device(argument) || is_string(argument) || argument->isArrayType() ||
                      argument->isPointerType();
  if (!device) return unset_options(&made);  // a dtype, a layout
  return device_of_type_and_index(made.getArg(0), count > 1 ? made.getArg(1) : nullptr, &made);
}

Placement Evaluator::construction(const clang::CXXConstructExpr& made) {
  const clang::QualType type = made.getType();
  const unsigned count = written_arguments(made);
  if (is_device(type)) {
    if (count == 0) return Placement::unknown();
    return device_of_type_and_index(made.getArg(0), count > 1 ? made.getArg(1) : nullptr, &made);
  }
  if (is_tensor_options(type)) return options_of(made);
  if (is_tensor(type)) return count == 0 ? Placement::undefined() : evaluate(made.getArg(0));
  if (is_tuple(type) && count > 1) {
    Placement tuple = Placement::unknown();
    for (unsigned i = 0; i < count; ++i) {
      tuple.set_part(std::to_string(i), evaluate(made.getArg(i)));
    }
    return tuple;
  }
  // A module of LibTorch begins on the CPU; the project's own does what its constructor says.
  const clang::CXXRecordDecl* module = module_of(type);
  if (module != nullptr &&
      (is_of_libtorch(*module) || is_wrapper(type) || module != type->getAsCXXRecordDecl())) {
    for (const clang::Expr* argument : made.arguments()) evaluate(argument);
    const bool null =
        count == 1 && llvm::isa<clang::CXXNullPtrLiteralExpr>(written(made.getArg(0)));
    const bool fresh = is_of_libtorch(*module) && !null && !is_module_container(*module);
    return fresh ? Placement::on(DeviceValue::cpu(), &made) : Placement::unknown();
  }
  if ((!element_of(type).isNull() || is_wrapper(type)) && count == 0) return Placement::undefined();
  const clang::CXXConstructorDecl* constructor = made.getConstructor();
  if (count == 0 && (constructor->isImplicit() || constructor->isDefaulted())) {
    return fresh_object(*constructor->getParent());
  }
  // optional<T>, IValue, vector{...}, ArrayRef and what else wraps one value.
  Site site{&made, constructor, constructor->getParent()->getNameAsString()};
  Placement only = Placement::unknown();
  for (unsigned i = 0; i < made.getNumArgs(); ++i) {
    site.arguments.push_back(made.getArg(i));
    site.placements.push_back(evaluate(made.getArg(i)));
    if (count == 1 && i == 0) only = site.placements.back();
  }
  if (const FunctionSummary* summary = summary_of(constructor)) {
    Placement object = fresh_object(*constructor->getParent());
    site.object_placement = object;
    apply(*summary, site);
    for (const auto& [input, placement] : summary->effects) {
      if (input.front() == kThisInput) {
        set_at(object, llvm::ArrayRef(input).drop_front(), instance(placement, site));
      }
    }
    return object;
  }
  for (unsigned i = 0; i < count && constructor->getNumParams() > 0; ++i) {
    const unsigned parameter = std::min(i, constructor->getNumParams() - 1);
    forget_if_changed(made.getArg(i), constructor->getParamDecl(parameter)->getType());
  }
  const bool followed = constructor->isImplicit() || is_wrapper(type) ||
                        !element_of(type).isNull() || is_of_libtorch(*constructor) ||
                        is_of_std(*constructor);
  return followed ? only : Placement::unknown();
}

// Members as an object has them that nobody has given any.
Placement Evaluator::fresh_object(const clang::CXXRecordDecl& record) {
  const clang::CXXRecordDecl* definition = record.getDefinition();
  if (definition == nullptr || is_of_libtorch(record) || is_of_std(record)) {
    return Placement::unknown();
  }
  Placement object = Placement::unknown();
  for (const clang::FieldDecl* field : definition->fields()) {
    if (!is_followed(field->getType())) continue;
    Placement member = Placement::unknown();
    if (const clang::Expr* value = field->getInClassInitializer()) {
      member = evaluate(value);
    } else if (is_tensor(field->getType())) {
      member = Placement::undefined();
    } else if (const clang::CXXRecordDecl* inner = field->getType()->getAsCXXRecordDecl();
               inner != nullptr && inner->isAggregate()) {
      member = fresh_object(*inner);
    }
    object.set_part(plain_name(field), std::move(member));
  }
  return object;
}

Placement Evaluator::aggregate(const clang::InitListExpr& written_list) {
  const clang::InitListExpr* list =
      written_list.isSemanticForm() || written_list.getSemanticForm() == nullptr
          ? &written_list
          : written_list.getSemanticForm();
  const clang::CXXRecordDecl* record = list->getType()->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || record->isUnion()) {
    return this->list(llvm::SmallVector<const clang::Expr*, 8>(list->inits()));
  }
  Placement object = Placement::unknown();
  // Bases are initialised first.
  unsigned i = record->getNumBases();
  for (const clang::FieldDecl* field : record->getDefinition()->fields()) {
    if (field->isUnnamedBitField()) continue;
    if (i >= list->getNumInits()) break;
    const clang::Expr* value = list->getInit(i++);
    const bool empty = llvm::isa<clang::ImplicitValueInitExpr>(value);
    if (!is_followed(field->getType())) {
      if (!empty) evaluate(value);
      continue;
    }
    object.set_part(plain_name(field), empty ? Placement::undefined() : evaluate(value));
  }
  return object;
}

// Functions of the standard library that make tuples and smart pointers.
bool Evaluator::std_function(const clang::CallExpr& call, llvm::StringRef name, Placement& result) {
  if (passes_on(call)) {
    result = evaluate(call.getArg(0));
    return true;
  }
  if (const auto number = got_element(call)) {
    result = evaluate(call.getArg(0)).part(*number);
    return true;
  }
  if (name == "make_tuple" || name == "make_pair" || name == "tie" || name == "forward_as_tuple") {
    result = Placement::unknown();
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
      result.set_part(std::to_string(i), evaluate(call.getArg(i)));
    }
    return true;
  }
  if (name == "make_optional" && call.getNumArgs() == 1) {
    result = evaluate(call.getArg(0));
    return true;
  }
  if (name == "make_shared" || name == "make_unique") {
    for (const clang::Expr* argument : call.arguments()) evaluate(argument);
    const clang::CXXRecordDecl* module = module_of(call.getType());
    const bool fresh =
        module != nullptr && is_of_libtorch(*module) && !is_module_container(*module);
    result = fresh ? Placement::on(DeviceValue::cpu(), &call) : Placement::unknown();
    return true;
  }
  return false;
}

bool Evaluator::wrapper_method(const clang::CXXMemberCallExpr& call, const clang::Expr& object,
                               Placement& result) {
  const Access access = access_of(call);
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  const bool wraps = is_wrapper(object.getType());
  if (access == Access::kNone && !wraps) return false;
  Placement whole = evaluate(&object);
  llvm::SmallVector<Placement, 2> arguments;
  for (const clang::Expr* argument : call.arguments()) arguments.push_back(evaluate(argument));
  if (access != Access::kNone) {
    result = whole;
    if (access == Access::kElement) result.rank = Rank::kUnknown;
    return true;
  }
  result = Placement::unknown();
  if (method == "value_or" && arguments.size() == 1) {
    result = names_device(call.getType())
                 ? either(&call, whole, arguments[0])
                 : state_.joined(state_.paths().of(&call), whole, arguments[0], state_);
  } else if (method == "reset") {
    assign(&object, arguments.empty() ? Placement::undefined() : Placement::unknown());
  } else if (method == "emplace") {
    assign(&object, arguments.size() == 1 ? arguments[0] : Placement::unknown());
  } else if (!call.getMethodDecl()->isConst()) {
    forget(&object);
  }
  return true;
}

// `loader->begin()`: what a loader gives is made by its dataset, anew each time.
Placement Evaluator::loaded_batch(const clang::CXXMemberCallExpr& call) {
  Placement batch = loads_on_cpu(*call.getMethodDecl()->getParent())
                        ? Placement::on(DeviceValue::cpu(), &call)
                        : Placement::unknown();
  batch.rank = Rank::kSome;
  return batch;
}

Placement Evaluator::container_method(const clang::CXXMemberCallExpr& call,
                                      const clang::Expr& object) {
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  const Placement content = evaluate(&object);
  const bool adds = StringSwitch<bool>(method)
                        .Cases({"push_back", "emplace_back", "push_front", "insert"}, true)
                        .Cases({"emplace", "insert_or_assign", "try_emplace"}, true)
                        .Default(false);
  if (adds) {
    Placement placement = Placement::unknown();
    for (const clang::Expr* argument : call.arguments()) placement = evaluate(argument);
    // The value comes last: behind a key, or a place.
    if (call.getNumArgs() > 0) placement.put = call.getArg(call.getNumArgs() - 1);
    const bool one =
        call.getNumArgs() == 1 || method.starts_with("insert") || method.contains("emplace");
    if (!one || (method == "emplace_back" && call.getNumArgs() != 1)) {
      placement = Placement::unknown();
    }
    assign(&object, content.is_undefined()
                        ? placement
                        : state_.joined(state_.paths().of(&call), content, placement, state_));
    return Placement::unknown();
  }
  for (const clang::Expr* argument : call.arguments()) evaluate(argument);
  if (method == "clear") {
    assign(&object, Placement::undefined());
    return Placement::unknown();
  }
  const bool keeps = StringSwitch<bool>(method)
                         .Cases({"reserve", "size", "empty", "capacity", "pop_back"}, true)
                         .Default(call.getMethodDecl()->isConst());
  if (!keeps) forget(&object);
  return Placement::unknown();
}

}  // namespace devsan::lint
