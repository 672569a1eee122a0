// Looks for tensors that outlive a call and are made in it once, on the device of an argument.
//
// Every mention of such a tensor in the translation unit is read: what is moved, asked for its
// device, registered, or changed outside of the check that makes it, is no cache, or is a right
// one.
#include "stale_device_cache.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../placement/caller_device.h"
#include "../placement/clang_compat.h"
#include "../placement/expressions.h"
#include "../placement/plain_device.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/AST/DeclTemplate.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

bool is_optional_tensor(clang::QualType type) {
  const auto* optional =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(type));
  if (!is_named(optional, "std", "optional")) return false;
  const clang::TemplateArgumentList& arguments = optional->getTemplateArgs();
  return arguments.size() > 0 && arguments[0].getKind() == clang::TemplateArgument::Type &&
         is_tensor(arguments[0].getAsType());
}

bool is_cacheable(clang::QualType type) {
  return !type->isReferenceType() && (is_tensor(type) || is_optional_tensor(type));
}

// The tensor that an expression names and that outlives the call, or is a local one. A member is
// meant through any object.
const clang::ValueDecl* tensor_named(const clang::Stmt* statement) {
  const clang::ValueDecl* named = nullptr;
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(statement)) {
    named = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
  } else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(statement)) {
    named = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (named == nullptr) named = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl());
  }
  return named != nullptr && is_cacheable(named->getType()) ? named : nullptr;
}

bool any_in(const clang::Stmt* statement, llvm::function_ref<bool(const clang::Stmt&)> wanted) {
  if (statement == nullptr) return false;
  if (wanted(*statement)) return true;
  return llvm::any_of(statement->children(),
                      [&](const clang::Stmt* child) { return any_in(child, wanted); });
}

bool mentions(const clang::Stmt* statement, const clang::ValueDecl* tensor) {
  return any_in(statement, [&](const clang::Stmt& part) { return tensor_named(&part) == tensor; });
}

bool sounds_like_device(llvm::StringRef name) {
  const std::string lower = name.lower();
  for (const char* part : {"dev", "gpu", "cuda", "is_cpu"}) {
    if (llvm::StringRef(lower).contains(part)) return true;
  }
  return lower == "options" || lower == "type" || lower == "rank";
}

// A name, a member or a call that has to do with devices.
bool asks_for_device(const clang::Stmt* condition) {
  return any_in(condition, [](const clang::Stmt& part) {
    const auto* expression = llvm::dyn_cast<clang::Expr>(&part);
    if (expression == nullptr) return false;
    if (is_device(expression->getType()) || is_device_type(expression->getType())) return true;
    const clang::NamedDecl* named = nullptr;
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&part)) {
      named = member->getMemberDecl();
    } else if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&part)) {
      named = reference->getDecl();
    }
    return sounds_like_device(plain_name(named));
  });
}

// Nothing but being defined, sizes, dtypes and numbers: no flags and no helpers, which may know of
// the device.
bool is_plain_check(const clang::Stmt* condition) {
  const auto unknown = [](const clang::Stmt& part) {
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&part)) {
      return reference->getType()->isBooleanType();
    }
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&part)) {
      return member->getType()->isBooleanType();
    }
    const auto* call = llvm::dyn_cast<clang::CallExpr>(&part);
    if (call == nullptr || llvm::isa<clang::CXXOperatorCallExpr>(call)) return false;
    if (llvm::isa_and_nonnull<clang::CXXConversionDecl>(call->getDirectCallee())) return false;
    return !StringSwitch<bool>(plain_name(call->getDirectCallee()))
                .Cases({"defined", "has_value", "value", "numel", "size", "sizes"}, true)
                .Cases({"dim", "ndimension", "dtype", "scalar_type", "equals", "vec"}, true)
                .Default(false);
  };
  return !any_in(condition, unknown) && !asks_for_device(condition);
}

// The check in whose branch a mention stands and that asks for the same tensor. Null when none.
const clang::IfStmt* guard_of(const clang::ValueDecl* tensor, const clang::Stmt* mention,
                              Around around) {
  const clang::Stmt* child = mention;
  for (const clang::Stmt* parent : llvm::reverse(around)) {
    const auto* check = llvm::dyn_cast<clang::IfStmt>(parent);
    if (check != nullptr && check->getThen() == child && mentions(check->getCond(), tensor)) {
      return check;
    }
    child = parent;
  }
  return nullptr;
}

bool other_check_asks_for_device(const clang::IfStmt* guard, Around around) {
  return llvm::any_of(around, [&](const clang::Stmt* parent) {
    const auto* check = llvm::dyn_cast<clang::IfStmt>(parent);
    const bool asks = check != nullptr && check != guard && asks_for_device(check->getCond());
    return asks || llvm::isa<clang::LambdaExpr>(parent);
  });
}

// The function compares devices, or asks a parameter for its own: it knows where it works.
bool knows_device(const clang::FunctionDecl& function) {
  return any_in(function.getBody(), [](const clang::Stmt& part) {
    if (const auto* compared = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&part)) {
      return compared->isComparisonOp() && is_device(compared->getArg(0)->getType());
    }
    const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(&part);
    return call != nullptr && (plain_name(call->getMethodDecl()) == "is_cuda" ||
                               plain_name(call->getMethodDecl()) == "is_cpu");
  });
}

bool is_registration_call(llvm::StringRef name) {
  return name.starts_with("register_");
}

bool registers(const clang::Stmt* value) {
  return any_in(value, [](const clang::Stmt& part) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(&part);
    return call != nullptr && is_registration_call(plain_name(call->getDirectCallee()));
  });
}

struct Cache {
  const clang::ValueDecl* tensor = nullptr;
  const clang::ParmVarDecl* caller = nullptr;
  const clang::IfStmt* guard = nullptr;  // null for the initialiser of a static
  const clang::Expr* target = nullptr;   // `cache_` of `cache_ = ...`
  clang::SourceRange tokens;
};

enum class Use { kRead, kMoved, kChanged };

class Walk : public FunctionWalk<Walk> {
 public:
  std::vector<Cache> caches;                // in the order of the source
  std::set<const clang::ValueDecl*> other;  // moved, asked, registered or changed
  std::map<const clang::ValueDecl*, const clang::ValueDecl*> copies;  // local, of what

  bool TraverseConstructorInitializer(clang::CXXCtorInitializer* init) {
    if (init->getMember() != nullptr && registers(init->getInit())) {
      other.insert(init->getMember());
    }
    return StackWalk<Walk>::TraverseConstructorInitializer(init);
  }

  void visit(const clang::Stmt* statement, Around around) {
    if (function_ == nullptr) return;
    if (const auto* declared = llvm::dyn_cast<clang::DeclStmt>(statement)) {
      for (const clang::Decl* each : declared->decls()) made_by_initialiser(each, around);
    }
    if (const clang::ValueDecl* tensor = tensor_named(statement)) read(tensor, statement, around);
  }

 private:
  void made_by_initialiser(const clang::Decl* declaration, Around around) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (variable == nullptr || !variable->isStaticLocal() || !is_cacheable(variable->getType()) ||
        variable->getInit() == nullptr || other_check_asks_for_device(nullptr, around) ||
        knows_device(*function_)) {
      return;
    }
    const clang::ParmVarDecl* caller = caller_device(variable->getInit(), *function_);
    if (caller == nullptr) return;
    caches.push_back({variable, caller, nullptr, nullptr, variable->getLocation()});
  }

  void read(const clang::ValueDecl* tensor, const clang::Stmt* mention, Around around) {
    const clang::IfStmt* guard = guard_of(tensor, mention, around);
    const clang::CXXOperatorCallExpr* assigned = nullptr;
    const Use use = use_of(tensor, mention, around, assigned);
    const bool builds = guard != nullptr && use == Use::kChanged && assigned == nullptr;
    if (use == Use::kRead || builds) return;
    if (assigned != nullptr && guard != nullptr) {
      made_by_assignment(tensor, *assigned, *guard, around);
      return;
    }
    // Where a constructor makes it first does not matter.
    const bool first = assigned != nullptr && llvm::isa<clang::CXXConstructorDecl>(function_);
    if (!first || registers(assigned)) other.insert(tensor);
  }

  void made_by_assignment(const clang::ValueDecl* tensor,
                          const clang::CXXOperatorCallExpr& assigned, const clang::IfStmt& guard,
                          Around around) {
    const clang::ParmVarDecl* caller = caller_device(assigned.getArg(1), *function_);
    if (registers(&assigned)) other.insert(tensor);
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(tensor);
    // A member that is told its device once, by a device, is set up and not cached.
    const bool lasts = variable != nullptr ? variable->hasGlobalStorage()
                                           : caller != nullptr && is_tensor(caller->getType()) &&
                                                 named_value(assigned.getArg(0)) == tensor;
    if (caller == nullptr || !lasts || llvm::isa<clang::CXXConstructorDecl>(function_) ||
        !is_plain_check(guard.getCond()) || other_check_asks_for_device(&guard, around) ||
        knows_device(*function_)) {
      return;
    }
    caches.push_back({tensor, caller, &guard, assigned.getArg(0), assigned.getSourceRange()});
  }

  // What becomes of the tensor, or of a view of it.
  Use use_of(const clang::ValueDecl* tensor, const clang::Stmt* mention, Around around,
             const clang::CXXOperatorCallExpr*& assigned) {
    const clang::Stmt* child = mention;
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(parent)) {
        if (method->getCallee()->IgnoreParens() != child) return use_as_argument(*method);
        const Use use = use_of_method(*method);
        const bool goes_on = is_cacheable(method->getType().getNonReferenceType());
        if (use != Use::kRead || !goes_on) return use;
      } else if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(parent)) {
        const clang::OverloadedOperatorKind kind = operation->getOperator();
        const bool first = operation->getArg(0) == child;
        if (operation->isAssignmentOp()) {
          if (!first) return copied(named_value(operation->getArg(0)), tensor);
          if (kind == clang::OO_Equal && tensor_named(written(operation->getArg(0))) == tensor) {
            assigned = operation;
          }
          return Use::kChanged;
        }
        const bool looks_in =
            kind == clang::OO_Star || kind == clang::OO_Arrow || kind == clang::OO_Subscript;
        if (!first || !looks_in) return Use::kRead;
      } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(parent)) {
        return use_as_argument(*call);
      } else if (const auto* declared = llvm::dyn_cast<clang::DeclStmt>(parent)) {
        const auto* local = declared->isSingleDecl()
                                ? llvm::dyn_cast<clang::VarDecl>(declared->getSingleDecl())
                                : nullptr;
        if (local == nullptr) return Use::kRead;
        const clang::QualType type = local->getType();
        const bool changeable =
            type->isReferenceType() && !type.getNonReferenceType().isConstQualified();
        return changeable ? Use::kChanged : copied(local, tensor);
      } else if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(parent)) {
        return unary->getOpcode() == clang::UO_AddrOf ? Use::kChanged : Use::kRead;
      } else if (!llvm::isa<clang::Expr>(parent)) {
        return Use::kRead;
      }
      child = parent;
    }
    return Use::kRead;
  }

  Use copied(const clang::ValueDecl* to, const clang::ValueDecl* tensor) {
    if (to != nullptr && to != tensor) copies[to] = tensor;
    return Use::kRead;
  }

  static Use use_of_method(const clang::CXXMemberCallExpr& call) {
    const llvm::StringRef name = plain_name(call.getMethodDecl());
    if (name == "to" || name == "type") {
      for (unsigned i = 0; i < written_arguments(call); ++i) {
        const clang::QualType type = call.getArg(i)->getType();
        const bool place = is_device(type) || is_tensor_options(type) || is_tensor(type) ||
                           is_optional_device(type) || name == "type";
        if (place) return Use::kMoved;
      }
      return name == "type" ? Use::kMoved : Use::kRead;
    }
    return StringSwitch<Use>(name)
        .Cases({"cuda", "cpu", "device", "options", "type_as"}, Use::kMoved)
        .Cases({"is_cuda", "is_cpu", "get_device", "device_type", "key_set"}, Use::kMoved)
        .Cases({"reset", "emplace", "swap", "set_data"}, Use::kChanged)
        .Default(name.ends_with("_") ? Use::kChanged : Use::kRead);
  }

  // Only LibTorch's functions, and bodies that are here and move nothing, take it as it is.
  static Use use_as_argument(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    const llvm::StringRef name = plain_name(callee);
    if (is_registration_call(name) || name == "to" || name.ends_with("_out")) return Use::kMoved;
    const bool makes = name == "make_tuple" || name == "make_pair";
    if (callee != nullptr && is_of_std(*callee)) return makes ? Use::kRead : Use::kMoved;
    return takes_as_it_is(callee) ? Use::kRead : Use::kMoved;
  }
};

// `|| cache.device() != x.device()` behind the check. Nothing where that would not be right.
std::vector<Edit> edit_of(const Cache& cache, const clang::ASTContext& context,
                          const std::string& question) {
  if (cache.guard == nullptr || !is_tensor(cache.caller->getType())) return {};
  const clang::Expr* condition = cache.guard->getCond();
  const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(condition->IgnoreImpCasts());
  const bool binds_less = operation != nullptr &&
                          (operation->getOpcode() == clang::BO_LAnd || operation->isAssignmentOp());
  if (binds_less || llvm::isa<clang::ConditionalOperator>(condition->IgnoreImpCasts())) return {};
  const auto place = file_range(condition->getSourceRange(), context);
  if (!place) return {};
  return {
      {clang::CharSourceRange::getCharRange(place->getEnd(), place->getEnd()), " || " + question}};
}

void report_cache(const Cache& cache, const clang::ASTContext& context, Report report) {
  const std::string name = cache.tensor->getNameAsString();
  const std::string caller = cache.caller->getNameAsString();
  Diagnostic diagnostic;
  diagnostic.rule = kStaleDeviceCache;
  diagnostic.tokens = cache.tokens;
  diagnostic.message =
      "'" + name + "' is made once, on the device of '" + caller +
      "' in the call that came first; a call for another device gets it from there";
  diagnostic.notes.push_back({cache.caller->getLocation(), "'" + caller + "' is given here"});
  if (cache.guard == nullptr) {
    diagnostic.advice = "make it in each call, or keep one for each device";
  } else {
    const bool optional = is_optional_tensor(cache.tensor->getType());
    const std::string question = quoted(cache.target, context) + (optional ? "->" : ".") +
                                 "device() != " + caller +
                                 (is_device(cache.caller->getType()) ? "" : ".device()");
    diagnostic.notes.push_back(
        {cache.guard->getCond()->getBeginLoc(), "this check does not ask for the device"});
    diagnostic.advice = "make it anew for another device: '|| " + question + "'";
    diagnostic.edits = edit_of(cache, context, question);
  }
  report(diagnostic);
}

}  // namespace

void check_stale_device_cache(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                              Report report) {
  Walk walk;
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
  // What becomes of a copy becomes of the cache; copies of copies need as many rounds.
  for (std::size_t before = walk.other.size() + 1; before != walk.other.size();) {
    before = walk.other.size();
    for (const auto& [copy, tensor] : walk.copies) {
      if (walk.other.count(copy) > 0) walk.other.insert(tensor);
    }
  }
  std::set<const clang::IfStmt*> reported;  // one edit a check
  for (const Cache& cache : walk.caches) {
    if (walk.other.count(cache.tensor) > 0) continue;
    if (cache.guard != nullptr && !reported.insert(cache.guard).second) continue;
    report_cache(cache, context, report);
  }
}

}  // namespace devsan::lint
