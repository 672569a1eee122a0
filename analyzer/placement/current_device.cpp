// Walks each function in the order in which it is written, with the guards that are in scope.
//
// A guard counts from where it stands to the end of its block. What sets the device for good
// (cudaSetDevice, a guard's set_device) counts for the rest of the function, whatever condition it
// stands under: the program has thought of it.
#include "current_device.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang_compat.h"
#include "expressions.h"
#include "module_types.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

using Use = CurrentDeviceUse;

// The function as it is written: the pattern of an instantiation.
const clang::FunctionDecl* as_written(const clang::FunctionDecl* function) {
  if (const auto* pattern = function->getTemplateInstantiationPattern()) function = pattern;
  if (const auto* primary = function->getPrimaryTemplate()) function = primary->getTemplatedDecl();
  return function->getCanonicalDecl();
}

bool names_a_guard(llvm::StringRef name) {
  return name.contains_insensitive("guard") || name.contains_insensitive("setdevice") ||
         name.contains_insensitive("set_device") || name.contains_insensitive("scopeddevice") ||
         name.contains_insensitive("devicescope");
}

// CUDAGuard and its kin, one in an optional or a pointer, and what a project calls a guard.
bool is_guard(clang::QualType type) {
  if (is_device_guard(type)) return true;
  const clang::CXXRecordDecl* record = record_of(type);
  if (record == nullptr) return false;
  const auto* holder = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (holder != nullptr && holder->isInStdNamespace()) {
    // Not a lock_guard.
    return holder->getTemplateArgs().size() > 0 &&
           holder->getTemplateArgs()[0].getKind() == clang::TemplateArgument::Type &&
           is_guard(holder->getTemplateArgs()[0].getAsType());
  }
  return !is_of_libtorch(*record) && names_a_guard(plain_name(record));
}

bool has_guard_member(const clang::CXXRecordDecl* record) {
  if (record == nullptr) return false;
  return llvm::any_of(record->fields(),
                      [](const clang::FieldDecl* field) { return is_guard(field->getType()); });
}

// The engine runs it on a thread of the gradients' device.
bool is_backward(const clang::CXXMethodDecl& method) {
  return plain_name(&method) == "backward" &&
         derives_from(method.getParent(), "autograd", "Function");
}

// Changes the current device, or asks which it is.
bool settles_device(llvm::StringRef name) {
  if (names_a_guard(name)) return true;
  return StringSwitch<bool>(name)
      .Cases({"reset_device", "set_index", "exchange_device", "maybe_exchange_device"}, true)
      .Cases({"ExchangeDevice", "MaybeExchangeDevice", "MaybeSetDevice", "exchangeDevice"}, true)
      .Cases({"setCurrentCUDAStream", "cuCtxPushCurrent", "cuCtxSetCurrent"}, true)
      .Cases({"current_device", "cudaGetDevice", "set_stream", "reset_stream"}, true)
      .Default(false);
}

bool is_launch(llvm::StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernelEx"}, true)
      .Cases({"cudaLaunchCooperativeKernel", "cuLaunchKernel", "cuLaunchKernelEx"}, true)
      .Default(false);
}

bool is_handle(llvm::StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"getCurrentCUDABlasHandle", "getCurrentCUDABlasLtHandle", "getCudnnHandle"}, true)
      .Cases({"getCurrentCUDASparseHandle", "getCurrentCUDASolverDnHandle"}, true)
      .Default(false);
}

// Asks for a stream without saying of which device.
bool is_indexless_stream(const clang::CallExpr& call, llvm::StringRef name) {
  const unsigned index = StringSwitch<unsigned>(name)
                             .Cases({"getCurrentCUDAStream", "getDefaultCUDAStream"}, 0)
                             .Case("getStreamFromPool", 1)
                             .Default(~0U);
  return index != ~0U && written_arguments(call) <= index;
}

// cub::DeviceScan::InclusiveSum and its kin launch kernels.
bool is_cub_launch(const clang::FunctionDecl& callee) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
  if (method == nullptr) return false;
  const clang::CXXRecordDecl* record = method->getParent();
  return plain_name(record).starts_with("Device") && is_named(record, "cub", plain_name(record));
}

bool is_device_code(const clang::FunctionDecl& function) {
  return function.hasAttr<clang::CUDAGlobalAttr>() ||
         (function.hasAttr<clang::CUDADeviceAttr>() && !function.hasAttr<clang::CUDAHostAttr>());
}

class Body {
 public:
  Body(const clang::ASTContext& context, CurrentDeviceFacts& facts, UnitCurrentDevice& unit)
      : context_(context), facts_(facts), unit_(unit) {
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(facts.function);
    in_scope_ =
        method != nullptr && (is_backward(*method) || has_guard_member(method->getParent()));
  }

  void walk(const clang::Stmt* statement) {
    if (statement == nullptr) return;
    if (llvm::isa<clang::CompoundStmt, clang::IfStmt, clang::ForStmt, clang::CXXForRangeStmt,
                  clang::WhileStmt, clang::SwitchStmt>(statement)) {
      const bool before = in_scope_;
      walk_children(statement);
      in_scope_ = before;
    } else if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(statement)) {
      const bool scope = in_scope_;
      const bool settled = settled_;
      walk(lambda->getBody());
      in_scope_ = scope;
      settled_ = settled;
    } else if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
      walk_declarations(*declaration);
    } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
      walk_call(*call);
    } else if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
      walk_expression(*expression);
    } else {
      walk_children(statement);
    }
  }

 private:
  bool guarded() const { return in_scope_ || settled_; }

  void walk_children(const clang::Stmt* statement) {
    for (const clang::Stmt* child : statement->children()) walk(child);
  }

  void walk_declarations(const clang::DeclStmt& statement) {
    for (const clang::Decl* declaration : statement.decls()) {
      if (declaration->isInvalidDecl()) facts_.wholly_seen = false;
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
      if (variable == nullptr) continue;
      walk(variable->getInit());
      if (is_guard(variable->getType())) in_scope_ = true;
    }
  }

  void walk_expression(const clang::Expr& expression) {
    if (expression.containsErrors()) facts_.wholly_seen = false;
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expression)) {
      hand_on(reference->getDecl());
    } else if (const auto* candidates = llvm::dyn_cast<clang::OverloadExpr>(&expression)) {
      for (const clang::NamedDecl* one : candidates->decls()) hand_on(one);
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&expression)) {
      // TORCH_FN(f) is a type that has f in its name.
      if (const auto* type = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(
              made->getConstructor()->getParent())) {
        hand_on(type->getTemplateArgs());
      }
    }
    walk_children(&expression);
  }

  void walk_call(const clang::CallExpr& call) {
    if (call.containsErrors()) facts_.wholly_seen = false;
    const clang::Expr* asked = call.getCallee()->IgnoreParenImpCasts();
    // What is called is not handed on; an object that has the method is looked into.
    if (!llvm::isa<clang::DeclRefExpr, clang::OverloadExpr>(asked)) walk(asked);
    if (const auto* launch = llvm::dyn_cast<clang::CUDAKernelCallExpr>(&call)) {
      walk(launch->getConfig());
    }
    for (const clang::Expr* argument : call.arguments()) walk(argument);

    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (llvm::isa<clang::CUDAKernelCallExpr>(call)) {
      add(Use::Kind::kLaunch, call,
          callee == nullptr ? quoted(asked, context_) : plain_name(callee));
      return;
    }
    if (callee == nullptr) {
      if (const auto* candidates = llvm::dyn_cast<clang::OverloadExpr>(asked)) {
        settled_ |= settles_device(candidates->getName().getAsString());
        for (const clang::NamedDecl* one : candidates->decls()) add_call(call, one);
      }
      return;
    }
    if (const auto* arguments = callee->getTemplateSpecializationArgs()) hand_on(*arguments);
    const llvm::StringRef name = plain_name(callee);
    if (settles_device(name)) {
      settled_ = true;
    } else if (is_launch(name) || is_cub_launch(*callee)) {
      add(Use::Kind::kLaunch, call, name);
    } else if (is_handle(name) && is_of_libtorch(*callee)) {
      add(Use::Kind::kHandle, call, name);
    } else if (is_indexless_stream(call, name) && is_of_libtorch(*callee)) {
      add(Use::Kind::kStream, call, name);
    } else if (const clang::FunctionDecl* forward = forward_of_apply(*callee)) {
      add_call(call, forward);
    } else {
      add_call(call, callee);
    }
  }

  // `Scale::apply(x)`, which is Function<Scale>::apply, calls Scale::forward.
  static const clang::FunctionDecl* forward_of_apply(const clang::FunctionDecl& callee) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
    if (method == nullptr || plain_name(method) != "apply") return nullptr;
    const auto* function =
        llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(method->getParent());
    if (!is_named(function, "autograd", "Function") || function->getTemplateArgs().size() == 0 ||
        function->getTemplateArgs()[0].getKind() != clang::TemplateArgument::Type) {
      return nullptr;
    }
    const clang::CXXRecordDecl* record = record_of(function->getTemplateArgs()[0].getAsType());
    if (record == nullptr || !record->hasDefinition()) return nullptr;
    for (const clang::CXXMethodDecl* candidate : record->methods()) {
      if (plain_name(candidate) == "forward") return candidate;
    }
    return nullptr;
  }

  void add(Use::Kind kind, const clang::Expr& place, llvm::StringRef name) {
    if (!guarded()) facts_.unguarded.push_back({kind, &place, name.str()});
  }

  // The project's own function that a declaration is; null when it is none.
  const clang::FunctionDecl* own_function(const clang::NamedDecl* declaration) const {
    if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      declaration = pattern->getTemplatedDecl();
    }
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (function == nullptr || is_device_code(*function) || is_of_libtorch(*function)) {
      return nullptr;
    }
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::SourceLocation place = sources.getExpansionLoc(function->getLocation());
    return place.isInvalid() || sources.isInSystemHeader(place) ? nullptr : as_written(function);
  }

  void add_call(const clang::CallExpr& call, const clang::NamedDecl* callee) {
    const clang::FunctionDecl* function = own_function(callee);
    if (function == nullptr) return;
    const bool pointer = llvm::any_of(call.arguments(), [](const clang::Expr* argument) {
      const clang::QualType type = argument->getType();
      return type->isPointerType() && !type->getPointeeType()->isAnyCharacterType();
    });
    facts_.calls.push_back({&call, function, guarded(), pointer});
  }

  void hand_on(const clang::NamedDecl* declaration) {
    if (const auto* function = own_function(declaration)) unit_.handed_on.insert(function);
  }
  void hand_on(const clang::TemplateArgumentList& arguments) {
    for (const clang::TemplateArgument& argument : arguments.asArray()) {
      if (argument.getKind() == clang::TemplateArgument::Declaration) {
        hand_on(argument.getAsDecl());
      }
    }
  }

  const clang::ASTContext& context_;
  CurrentDeviceFacts& facts_;
  UnitCurrentDevice& unit_;
  bool in_scope_ = false;
  bool settled_ = false;
};

class Functions : public clang::RecursiveASTVisitor<Functions> {
 public:
  explicit Functions(const clang::ASTContext& context) : context_(context) {}

  UnitCurrentDevice unit;

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (!function->doesThisDeclarationHaveABody() || function->isDefaulted() ||
        is_device_code(*function)) {
      return true;
    }
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    if (method != nullptr && method->getParent()->isLambda()) return true;  // its function's
    CurrentDeviceFacts facts;
    facts.function = as_written(function);
    facts.wholly_seen = !function->isInvalidDecl();
    Body body(context_, facts, unit);
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) {
      for (const clang::CXXCtorInitializer* init : constructor->inits()) body.walk(init->getInit());
    }
    body.walk(function->getBody());
    unit.functions.push_back(std::move(facts));
    return true;
  }

  // `static auto ops = torch::RegisterOperators().op("scale", &scale);`
  bool VisitVarDecl(clang::VarDecl* variable) {
    if (variable->isFileVarDecl() && variable->hasInit()) {
      CurrentDeviceFacts outside;
      Body(context_, outside, unit).walk(variable->getInit());
    }
    return true;
  }

 private:
  const clang::ASTContext& context_;
};

}  // namespace

UnitCurrentDevice current_device_facts(clang::ASTContext& context,
                                       llvm::ArrayRef<clang::Decl*> declarations) {
  Functions functions(context);
  for (clang::Decl* declaration : declarations) functions.TraverseDecl(declaration);
  return std::move(functions.unit);
}

}  // namespace devsan::lint
