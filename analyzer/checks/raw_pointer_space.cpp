// Two questions: does from_blob's label agree with the memory, and does the host read what is its
// own.
#include "raw_pointer_space.h"

#include <utility>

#include "../placement/clang_compat.h"
#include "../placement/expressions.h"
#include "../placement/pointed_memory.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

// Where a tensor of these options goes; the CPU when they say nothing of a device.
PlainDevice device_of_options(const clang::Expr* options, const clang::FunctionDecl* function) {
  if (llvm::isa<clang::CXXDefaultArgExpr>(options)) return PlainDevice::kCpu;
  const clang::Expr* bare = written(options);
  const clang::QualType type = bare->getType();
  if (plain_name(type->getAsTagDecl()) == "ScalarType") return PlainDevice::kCpu;
  if (is_device(type) || is_device_type(type)) return named_device(bare, function);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
    return written_arguments(*made) == 0 ? PlainDevice::kCpu
                                         : device_of_options(made->getArg(0), function);
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(bare)) {
    const llvm::StringRef name = plain_name(call->getDirectCallee());
    if (name == "device" && call->getNumArgs() > 0) return named_device(bare, function);
    const bool keeps = StringSwitch<bool>(name)
                           .Cases({"dtype", "layout", "requires_grad", "memory_format"}, true)
                           .Default(false);
    const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(bare);
    if (method == nullptr) return keeps ? PlainDevice::kCpu : PlainDevice::kUnknown;
    const clang::Expr* object = method->getImplicitObjectArgument();
    if (object == nullptr) return PlainDevice::kUnknown;
    if (is_tensor(object->getType())) {
      return name == "options" ? plain_device(object, function) : PlainDevice::kUnknown;
    }
    return keeps && is_tensor_options(object->getType()) ? device_of_options(object, function)
                                                         : PlainDevice::kUnknown;
  }
  const clang::Expr* value = only_value(named_value(bare), function);
  return value == nullptr ? PlainDevice::kUnknown : device_of_options(value, function);
}

class Walk : public FunctionWalk<Walk> {
 public:
  Walk(const clang::ASTContext& context, Report report) : context_(context), report_(report) {}

  // What is not evaluated reads nothing.
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; }

  void visit(const clang::Stmt* statement, Around around) {
    if (function_ == nullptr) return;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
      visit_call(*call);
    } else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(statement)) {
      if (!takes_address(around)) read(*element, element->getBase());
    } else if (const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(statement);
               operation != nullptr && operation->getOpcode() == clang::UO_Deref) {
      if (!takes_address(around)) read(*operation, operation->getSubExpr());
    }
  }

 private:
  static bool takes_address(Around around) {
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      if (llvm::isa<clang::ParenExpr>(parent)) continue;
      const auto* operation = llvm::dyn_cast<clang::UnaryOperator>(parent);
      return operation != nullptr && operation->getOpcode() == clang::UO_AddrOf;
    }
    return false;
  }

  void visit_call(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    const llvm::StringRef name = plain_name(callee);
    if (name == "from_blob" && is_of_libtorch(*callee)) {
      wrap(call, *callee);
    } else if (name == "memcpy" || name == "memmove") {
      for (unsigned i = 0; i < call.getNumArgs() && i < 2; ++i) read(call, call.getArg(i));
    } else if (name == "accessor") {
      access(call);
    }
  }

  void wrap(const clang::CallExpr& call, const clang::FunctionDecl& callee) {
    const clang::Expr* options = nullptr;
    for (unsigned i = 0; i < call.getNumArgs() && i < callee.getNumParams(); ++i) {
      const clang::QualType type = callee.getParamDecl(i)->getType();
      const bool given = !llvm::isa<clang::CXXDefaultArgExpr>(call.getArg(i));
      if (is_optional_device(type) && given) return;  // says itself where the memory is
      if (is_tensor_options(type)) options = call.getArg(i);
    }
    if (options == nullptr || call.getNumArgs() == 0) return;
    const PlainDevice label = device_of_options(options, function_);
    const PointedMemory memory = pointed_memory(call.getArg(0), function_);
    const bool known = label != PlainDevice::kUnknown && memory.device != PlainDevice::kUnknown;
    if (!known || label == memory.device) return;
    Diagnostic diagnostic = about(call, memory);
    if (label == PlainDevice::kCpu) {
      diagnostic.message = "from_blob labels memory of " + owner_of(memory) +
                           ", which is on a CUDA device, as the CPU's: the host cannot read it";
      diagnostic.advice = "give it options that name the device of the memory";
      if (memory.tensor != nullptr) name_device(call, *options, *memory.tensor, diagnostic);
    } else {
      diagnostic.message = "from_blob labels memory of " + owner_of(memory) +
                           ", which is the host's, as a CUDA device's: it throws";
      diagnostic.advice = "wrap it without a device, then move the tensor with .to(device)";
    }
    report_(diagnostic);
  }

  void read(const clang::Expr& place, const clang::Expr* pointer) {
    // An answer reads the whole function: loops that index a pointer ask once.
    const bool variable = llvm::isa<clang::DeclRefExpr>(written(pointer));
    const std::pair asked(function_, variable ? named_value(pointer) : nullptr);
    if (variable && not_of_device_.contains(asked)) return;
    const PointedMemory memory = pointed_memory(pointer, function_);
    if (memory.device != PlainDevice::kCuda) {
      if (variable) not_of_device_.insert(asked);
      return;
    }
    Diagnostic diagnostic = about(place, memory);
    diagnostic.message =
        "the host reads or writes memory of " + owner_of(memory) + ", which is on a CUDA device";
    diagnostic.advice =
        memory.tensor == nullptr
            ? "copy it to the host first, with cudaMemcpy"
            : "read a copy on the CPU: " + quoted(memory.tensor, context_) + ".cpu()";
    report_(diagnostic);
  }

  void access(const clang::CallExpr& call) {
    const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
    const clang::Expr* tensor = method == nullptr ? nullptr : method->getImplicitObjectArgument();
    if (tensor == nullptr || !is_tensor(tensor->getType())) return;
    if (plain_device(tensor, function_) != PlainDevice::kCuda) return;
    Diagnostic diagnostic = about(call, {});
    diagnostic.message =
        "an accessor reads on the host, and '" + quoted(tensor, context_) + "' is on a CUDA device";
    diagnostic.advice = "make it of " + quoted(tensor, context_) + ".cpu()";
    report_(diagnostic);
  }

  static Diagnostic about(const clang::Expr& place, const PointedMemory& memory) {
    Diagnostic diagnostic;
    diagnostic.rule = kRawPointerSpace;
    diagnostic.tokens = place.getSourceRange();
    if (memory.made != nullptr) {
      diagnostic.notes.push_back({memory.made->getBeginLoc(), "the pointer comes from here"});
    }
    return diagnostic;
  }

  std::string owner_of(const PointedMemory& memory) const {
    if (memory.owner == nullptr) return "'" + quoted(memory.made, context_) + "'";
    return "'" + quoted(memory.owner, context_) + "'";
  }

  // Only where no options are written: theirs may say more than can be kept.
  void name_device(const clang::CallExpr& call, const clang::Expr& options,
                   const clang::Expr& tensor, Diagnostic& diagnostic) const {
    const clang::ValueDecl* owner = named_value(&tensor);
    const bool local = owner != nullptr && llvm::isa<clang::VarDecl>(owner);
    if (!llvm::isa<clang::CXXDefaultArgExpr>(options) || !local) return;
    const auto range = file_range(call.getSourceRange(), context_);
    if (!range) return;
    const std::string device = "torch::device(" + owner->getNameAsString() + ".device())";
    const clang::SourceLocation at = call.getRParenLoc();
    if (at.isMacroID()) return;
    diagnostic.edits.push_back({clang::CharSourceRange::getCharRange(at, at), ", " + device});
    diagnostic.advice = "name the device: " + device;
  }

  const clang::ASTContext& context_;
  Report report_;
  llvm::DenseSet<std::pair<const clang::FunctionDecl*, const clang::ValueDecl*>> not_of_device_;
};

}  // namespace

void check_raw_pointer_space(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                             Report report) {
  Walk walk(context, report);
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
}

}  // namespace devsan::lint
