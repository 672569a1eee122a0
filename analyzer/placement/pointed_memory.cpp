// From the pointer back to what made it.
#include "pointed_memory.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang_compat.h"
#include "expressions.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

const clang::Expr* without_casts(const clang::Expr* expression) {
  expression = written(expression);
  while (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(expression)) {
    expression = written(cast->getSubExpr());
  }
  return expression;
}

// Its elements are on the heap or the stack of the host: no allocator of the program's own.
bool is_host_container(clang::QualType type) {
  const auto* container =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(type));
  if (container == nullptr || !is_of_std(*container)) return false;
  const llvm::StringRef name = plain_name(container);
  if (name == "array") return true;
  if (name != "vector") return false;
  const clang::TemplateArgumentList& arguments = container->getTemplateArgs();
  if (arguments.size() < 2) return true;
  return arguments[1].getKind() == clang::TemplateArgument::Type &&
         plain_name(record_of(arguments[1].getAsType())) == "allocator";
}

// What happens to a pointer variable in a body.
class Mentions : public clang::RecursiveASTVisitor<Mentions> {
 public:
  explicit Mentions(const clang::ValueDecl* variable) : variable_(variable) {}

  int assigned = 0;
  int addresses = 0;       // taken
  int device_memory = 0;   // of these, by cudaMalloc
  bool registers = false;  // host memory that the device may use

  bool VisitBinaryOperator(clang::BinaryOperator* operation) {
    assigned += operation->getOpcode() == clang::BO_Assign &&
                llvm::isa<clang::DeclRefExpr>(written(operation->getLHS())) &&
                named_value(operation->getLHS()) == variable_;
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* operation) {
    addresses += is_address(operation);
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const llvm::StringRef name = plain_name(call->getDirectCallee());
    registers |= name == "cudaHostRegister";
    const bool allocates = name == "cudaMalloc" || name == "cudaMallocAsync";
    if (allocates && call->getNumArgs() > 0) {
      device_memory += is_address(without_casts(call->getArg(0)));
    }
    return true;
  }

 private:
  bool is_address(const clang::Expr* expression) const {
    const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(expression);
    return operation != nullptr && operation->getOpcode() == clang::UO_AddrOf &&
           llvm::isa<clang::DeclRefExpr>(written(operation->getSubExpr())) &&
           named_value(operation->getSubExpr()) == variable_;
  }

  const clang::ValueDecl* variable_;
};

PointedMemory host(const clang::Expr* owner, const clang::Expr* made) {
  return {PlainDevice::kCpu, owner, made, nullptr};
}

PointedMemory of_method(const clang::CXXMemberCallExpr& call, const clang::FunctionDecl* function) {
  const clang::Expr* object = call.getImplicitObjectArgument();
  const llvm::StringRef method = plain_name(call.getMethodDecl());
  if (object == nullptr) return {};
  if (is_tensor(object->getType())) {
    const bool gives = StringSwitch<bool>(method)
                           .Cases({"data_ptr", "const_data_ptr", "mutable_data_ptr"}, true)
                           .Default(false);
    if (!gives) return {};
    return {plain_device(object, function), object, &call, object};
  }
  return method == "data" && is_host_container(object->getType()) ? host(object, &call)
                                                                  : PointedMemory();
}

PointedMemory of_pointer(const clang::Expr* pointer, const clang::FunctionDecl* function);

// `&samples[0]`, `&value`.
PointedMemory of_address(const clang::Expr* object, const clang::FunctionDecl* function) {
  object = written(object);
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(object)) {
    return of_pointer(element->getBase(), function);
  }
  if (const auto* element = llvm::dyn_cast<clang::CXXOperatorCallExpr>(object);
      element != nullptr && element->getOperator() == clang::OO_Subscript &&
      is_host_container(element->getArg(0)->getType())) {
    return host(element->getArg(0), object);
  }
  const auto* local = llvm::dyn_cast_or_null<clang::VarDecl>(named_value(object));
  const bool value = local != nullptr && llvm::isa<clang::DeclRefExpr>(object) &&
                     local->isLocalVarDecl() && local->getType()->isArithmeticType();
  return value ? host(object, object) : PointedMemory();
}

PointedMemory of_variable(const clang::Expr* mention, const clang::VarDecl& variable,
                          const clang::FunctionDecl* function) {
  const bool of_device =
      variable.hasAttr<clang::CUDADeviceAttr>() || variable.hasAttr<clang::HIPManagedAttr>() ||
      variable.hasAttr<clang::CUDASharedAttr>() || variable.hasAttr<clang::CUDAConstantAttr>();
  if (of_device || function == nullptr || !variable.isLocalVarDecl()) return {};
  if (variable.getType()->isConstantArrayType()) return host(mention, mention);
  if (!variable.getType()->isPointerType() || !function->hasBody()) return {};
  Mentions mentions(&variable);
  mentions.TraverseStmt(function->getBody());
  if (mentions.assigned > 0 || mentions.addresses > 1) return {};
  if (mentions.addresses == 1) {
    if (mentions.device_memory == 0) return {};
    return {PlainDevice::kCuda, mention, mention, nullptr};
  }
  const clang::Expr* value = only_value(&variable, function);
  return value == nullptr ? PointedMemory() : of_pointer(value, function);
}

PointedMemory of_pointer(const clang::Expr* pointer, const clang::FunctionDecl* function) {
  const clang::Expr* bare = without_casts(pointer);
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare)) {
    return of_method(*call, function);
  }
  if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(bare)) {
    const bool address = operation->getOpcode() == clang::UO_AddrOf;
    return address ? of_address(operation->getSubExpr(), function) : PointedMemory();
  }
  if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(bare);
      operation != nullptr && operation->isAdditiveOp() && bare->getType()->isPointerType()) {
    const bool left = operation->getLHS()->getType()->isAnyPointerType();
    return of_pointer(left ? operation->getLHS() : operation->getRHS(), function);
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXNewExpr>(bare)) {
    return made->getNumPlacementArgs() == 0 ? host(nullptr, bare) : PointedMemory();
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare)) {
    const bool allocates = StringSwitch<bool>(plain_name(call->getDirectCallee()))
                               .Cases({"malloc", "calloc", "aligned_alloc"}, true)
                               .Default(false);
    return allocates ? host(nullptr, bare) : PointedMemory();
  }
  const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(named_value(bare));
  if (variable == nullptr || !llvm::isa<clang::DeclRefExpr>(bare)) return {};
  return of_variable(bare, *variable, function);
}

}  // namespace

PointedMemory pointed_memory(const clang::Expr* pointer, const clang::FunctionDecl* function) {
  PointedMemory memory = of_pointer(pointer, function);
  if (memory.device != PlainDevice::kCpu || function == nullptr || !function->hasBody()) {
    return memory;
  }
  Mentions mentions(nullptr);
  mentions.TraverseStmt(function->getBody());
  return mentions.registers ? PointedMemory() : memory;
}

}  // namespace devsan::lint
