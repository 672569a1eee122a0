// From a construction or call to the device it names, through constants, `?:` and strings.
#include "device_literal.h"

#include "clang_compat.h"
#include "expressions.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

struct Named {
  std::string name;
  bool accelerator = false;
  bool indexed = false;
  const clang::ValueDecl* constant = nullptr;
  const clang::ConditionalOperator* choice = nullptr;
};

bool is_accelerator_enumerator(llvm::StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"CUDA", "HIP", "XPU", "MPS", "MTIA", "HPU", "PrivateUse1"}, true)
      .Default(false);
}

bool is_accelerator_string(llvm::StringRef type) {
  return StringSwitch<bool>(type)
      .Cases({"cuda", "hip", "xpu", "mps", "mtia", "hpu"}, true)
      .Default(false);
}

bool is_string(clang::QualType type) {
  type = type.getNonReferenceType().getCanonicalType();
  if (const auto* array = llvm::dyn_cast<clang::ArrayType>(type.getTypePtr())) {
    return array->getElementType()->isCharType();
  }
  if (type->isPointerType()) return type->getPointeeType()->isCharType();
  const clang::CXXRecordDecl* record = record_of(type);
  return record != nullptr && record->isInStdNamespace() &&
         (plain_name(record) == "basic_string" || plain_name(record) == "basic_string_view");
}

// True when something in `statement` assigns to `variable`, or takes its address.
bool changes(const clang::Stmt* statement, const clang::ValueDecl* variable) {
  if (statement == nullptr) return false;
  if (const auto* assignment = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
    if (assignment->isAssignmentOp() && named_value(assignment->getLHS()) == variable) return true;
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(statement)) {
    if (call->isAssignmentOp() && named_value(call->getArg(0)) == variable) return true;
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(statement)) {
    if (unary->getOpcode() == clang::UO_AddrOf && named_value(unary->getSubExpr()) == variable) {
      return true;
    }
  }
  for (const clang::Stmt* child : statement->children()) {
    if (changes(child, variable)) return true;
  }
  return false;
}

// The initialiser of a variable whose value is the same wherever it is read.
const clang::Expr* constant_value(const clang::ValueDecl* value,
                                  const clang::FunctionDecl* function) {
  if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(value)) {
    return field->getType().isConstQualified() ? field->getInClassInitializer() : nullptr;
  }
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(value);
  if (variable == nullptr || llvm::isa<clang::ParmVarDecl>(variable)) return nullptr;
  const bool fixed = variable->isConstexpr() || variable->getType().isConstQualified() ||
                     (variable->isLocalVarDecl() && function != nullptr &&
                      !changes(function->getBody(), variable));
  return fixed ? variable->getAnyInitializer() : nullptr;
}

bool of_libtorch(const clang::ValueDecl* value) {
  const auto* space =
      llvm::dyn_cast<clang::NamespaceDecl>(value->getDeclContext()->getEnclosingNamespaceContext());
  const llvm::StringRef name = plain_name(space);
  return name == "c10" || name == "at" || name == "torch";
}

// A DeviceType or a string, read through constants and `?:`.
std::optional<Named> read_name(const clang::Expr* expression, const clang::FunctionDecl* function,
                               const clang::ASTContext& context, int depth = 0) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest || expression->isValueDependent()) return std::nullopt;
  const clang::Expr* bare = written(expression);

  if (const auto* text = llvm::dyn_cast<clang::StringLiteral>(bare)) {
    if (!text->isOrdinary()) return std::nullopt;
    const auto [type, index] = text->getString().split(':');
    Named named;
    named.name = ("\"" + text->getString() + "\"").str();
    named.accelerator = is_accelerator_string(type);
    named.indexed = !index.empty();
    return named;
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(bare)) {
    const auto first = read_name(choice->getTrueExpr(), function, context, depth + 1);
    const auto second = read_name(choice->getFalseExpr(), function, context, depth + 1);
    if (!first || !second) return std::nullopt;
    Named named = first->accelerator ? *first : *second;
    named.choice = choice;
    return named;
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
    if (!is_string(made->getType()) || written_arguments(*made) != 1) return std::nullopt;
    return read_name(made->getArg(0), function, context, depth + 1);
  }
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(bare);
  const clang::ValueDecl* value = named_value(bare);
  if (value == nullptr) return std::nullopt;
  if (const auto* enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(value)) {
    if (!is_device_type(enumerator->getType())) return std::nullopt;
    Named named;
    named.name = quoted(bare, context);
    named.accelerator = is_accelerator_enumerator(plain_name(enumerator));
    return named;
  }
  const clang::Expr* initialiser = constant_value(value, function);
  if (initialiser == nullptr) return std::nullopt;
  auto named = read_name(initialiser, function, context, depth + 1);
  if (!named) return std::nullopt;
  if (reference != nullptr && of_libtorch(value)) {
    named->name = quoted(bare, context);
  } else {
    named->constant = value;
  }
  return named;
}

Index read_index(const clang::Expr* index, const clang::ASTContext& context) {
  clang::Expr::EvalResult result;
  if (index->isValueDependent() || !index->EvaluateAsInt(result, context)) return Index::kComputed;
  return result.Val.getInt().isNegative() ? Index::kNone : Index::kLiteral;
}

template <typename Call>
std::optional<DeviceSource> from_arguments(const Call& call, const clang::FunctionDecl* function,
                                           const clang::ASTContext& context) {
  const unsigned count = written_arguments(call);
  if (count == 0 || count > 2) return std::nullopt;
  const clang::QualType type = written(call.getArg(0))->getType();
  if (!is_device_type(type) && !is_string(type)) return std::nullopt;
  const auto named = read_name(call.getArg(0), function, context);
  if (!named || !named->accelerator) return std::nullopt;
  DeviceSource source;
  source.made = &call;
  source.first = call.getArg(0);
  source.last = call.getArg(count - 1);
  source.name = named->name;
  source.constant = named->constant;
  source.choice = named->choice;
  source.index = named->indexed ? Index::kLiteral : Index::kNone;
  if (count == 2) source.index = read_index(call.getArg(1), context);
  return source;
}

// `x` of `x.is_cuda()`, `x.device().is_cuda()`, `x.device().type()`, `x.device()`.
const clang::Expr* asked_tensor(const clang::Expr* expression) {
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(written(expression));
  if (call == nullptr || call->getImplicitObjectArgument() == nullptr) return nullptr;
  const llvm::StringRef method = plain_name(call->getMethodDecl());
  if (method != "is_cuda" && method != "is_cpu" && method != "device" && method != "type") {
    return nullptr;
  }
  const clang::Expr* object = written(call->getImplicitObjectArgument());
  return is_tensor(object->getType()) ? object : asked_tensor(object);
}

}  // namespace

std::optional<DeviceSource> device_source(const clang::Expr* expression,
                                          const clang::FunctionDecl* function,
                                          const clang::ASTContext& context) {
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) {
    const clang::QualType type = made->getType();
    if (!is_device(type) && !is_tensor_options(type) && !is_optional_device(type)) {
      return std::nullopt;
    }
    return from_arguments(*made, function, context);
  }
  const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression);
  if (call == nullptr || call->getMethodDecl() == nullptr) return std::nullopt;
  const llvm::StringRef method = plain_name(call->getMethodDecl());
  const clang::QualType object = call->getMethodDecl()->getThisType()->getPointeeType();
  if (method == "device" && is_tensor_options(object)) {
    return from_arguments(*call, function, context);
  }
  if (method == "cuda" && is_tensor(object) && call->getNumArgs() == 0) {
    DeviceSource source;
    source.made = call;
    source.name = ".cuda()";
    return source;
  }
  return std::nullopt;
}

DeviceQuestion device_question(const clang::Expr* condition) {
  DeviceQuestion question;
  const clang::Expr* bare = written(condition);
  question.tensor = asked_tensor(bare);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare)) {
    const llvm::StringRef callee =
        plain_name(llvm::dyn_cast_or_null<clang::NamedDecl>(call->getCalleeDecl()));
    question.availability = callee == "is_available" || callee == "device_count" ||
                            callee == "hasCUDA" || callee == "hasHIP" || callee == "hasXPU";
  }
  for (const clang::Stmt* child : bare->children()) {
    const auto* part = llvm::dyn_cast_or_null<clang::Expr>(child);
    if (part == nullptr) continue;
    const DeviceQuestion inner = device_question(part);
    if (question.tensor == nullptr) question.tensor = inner.tensor;
    question.availability |= inner.availability;
  }
  return question;
}

}  // namespace devsan::lint
