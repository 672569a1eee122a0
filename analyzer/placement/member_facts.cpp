// Reads all methods of a class; each mention of a member is followed upwards to what is done with
// it.
#include "member_facts.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang_compat.h"
#include "expressions.h"
#include "llvm/ADT/DenseMap.h"
#include "mention_names.h"
#include "module_methods.h"
#include "module_types.h"
#include "stack_walk.h"
#include "torch_types.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

// What is done with a mention of a member.
enum class Mention { kAsked, kUsed, kMade, kFilled, kRegistered, kReplaced, kEscapes };

class Reader : public StackWalk<Reader> {
 public:
  Reader(ModuleFacts& facts, const SetUpMethods& set_up) : set_up_(set_up) {
    for (MemberFacts& member : facts.members) by_field_[member.field] = &member;
  }

  void read(const clang::CXXMethodDecl& method, const clang::FunctionDecl& definition) {
    function_ = &definition;
    in_set_up_ = set_up_.contains(method);
    if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&definition)) {
      for (const clang::CXXCtorInitializer* init : constructor->inits()) read_initialiser(*init);
    }
    TraverseStmt(definition.getBody());
  }

  void read_default(const clang::FieldDecl& field) {
    function_ = nullptr;
    in_set_up_ = true;
    clang::Expr* value = field.getInClassInitializer();
    if (value == nullptr) return;
    if (MemberFacts* member = member_of(&field)) add_made(*member, value, {});
    TraverseStmt(value);
  }

  void visit(const clang::Stmt* statement, Around around) {
    if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(statement)) {
      for (const clang::Decl* one : declaration->decls()) note_alias(one);
      return;
    }
    if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(statement)) {
      // The loop's variable stands for each element.
      if (MemberFacts* member = mentioned(written(loop->getRangeInit()))) {
        aliases_[loop->getLoopVariable()] = member;
      }
      return;
    }
    const auto* expression = llvm::dyn_cast<clang::Expr>(statement);
    if (expression == nullptr) return;
    if (MemberFacts* member = mentioned(expression)) {
      note(*member, expression, around);
    }
  }

 private:
  MemberFacts* member_of(const clang::ValueDecl* value) const {
    const auto field = by_field_.find(value);
    if (field != by_field_.end()) return field->second;
    const auto alias = aliases_.find(value);
    return alias == aliases_.end() ? nullptr : alias->second;
  }

  MemberFacts* mentioned(const clang::Expr* expression) const {
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
      const bool own = llvm::isa<clang::CXXThisExpr>(written(member->getBase()));
      return own ? member_of(member->getMemberDecl()) : nullptr;
    }
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expression);
    return reference == nullptr ? nullptr : member_of(reference->getDecl());
  }

  // `auto& layer = layers[i];`: what is done to the reference is done to the element.
  void note_alias(const clang::Decl* declaration) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (variable == nullptr || variable->getInit() == nullptr ||
        !variable->getType()->isReferenceType()) {
      return;
    }
    const clang::Expr* value = written(variable->getInit());
    if (const auto* element = llvm::dyn_cast<clang::CXXOperatorCallExpr>(value);
        element != nullptr && element->getOperator() == clang::OO_Subscript) {
      value = written(element->getArg(0));
    }
    MemberFacts* member = mentioned(value);
    const bool whole_container = member != nullptr && member->kind == MemberKind::kContainer &&
                                 value == written(variable->getInit());
    if (member != nullptr && !whole_container) aliases_[variable] = member;
  }

  void read_initialiser(const clang::CXXCtorInitializer& init) {
    clang::Expr* value = init.getInit();
    if (value == nullptr || llvm::isa<clang::CXXDefaultInitExpr>(value)) return;
    MemberFacts* member = init.getMember() == nullptr ? nullptr : member_of(init.getMember());
    if (member != nullptr && init.isWritten()) add_made(*member, value, {});
    if (init.isWritten()) TraverseStmt(value);
  }

  MemberPlace place(const clang::Expr* expression, Around around) const {
    MemberPlace result;
    result.expression = expression;
    result.function = function_;
    for (const clang::Stmt* statement : around) {
      if (llvm::isa<clang::IfStmt, clang::SwitchStmt, clang::ConditionalOperator>(statement)) {
        result.branches.push_back(statement);
      }
    }
    return result;
  }

  // A value given during set-up. One that is a registration's result is registered with it.
  void add_made(MemberFacts& member, const clang::Expr* value, Around around, bool filled = false) {
    MemberPlace made = place(value, around);
    made.filled = filled;
    if (contains_registration(value)) {
      member.registered.push_back(made);
    } else {
      member.made.push_back(made);
    }
  }

  static bool contains_registration(const clang::Stmt* statement) {
    if (statement == nullptr) return false;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
      if (is_registration(callee_name(*call))) return true;
    }
    for (const clang::Stmt* child : statement->children()) {
      if (contains_registration(child)) return true;
    }
    return false;
  }

  void note(MemberFacts& member, const clang::Expr* mention, Around around) {
    const clang::Expr* value = nullptr;
    const Mention kind = classify(member, mention, around, value);
    switch (kind) {
      case Mention::kAsked:
        return;
      case Mention::kUsed:
        if (!in_set_up_) member.used.push_back(place(mention, around));
        return;
      case Mention::kRegistered:
        member.registered.push_back(place(mention, around));
        return;
      case Mention::kMade:
      case Mention::kFilled:
        if (in_set_up_) {
          add_made(member, value, around, kind == Mention::kFilled);
        } else {
          member.replaced = true;
        }
        return;
      case Mention::kReplaced:
        member.replaced = true;
        return;
      case Mention::kEscapes:
        member.escapes = true;
        return;
    }
  }

  // Climbs from a mention to what takes it. `value` is what a kMade or kFilled gives the member.
  Mention classify(const MemberFacts& member, const clang::Stmt* child, Around around,
                   const clang::Expr*& value) const {
    // Of a container, or the container itself. An alias of a container stands for its elements.
    bool element = member.kind == MemberKind::kContainer && llvm::isa<clang::DeclRefExpr>(child);
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(parent)) {
        const auto kind = call->getOperator();
        const bool dereferences =
            kind == clang::OO_Arrow || (kind == clang::OO_Star && call->getNumArgs() == 1);
        if (dereferences || kind == clang::OO_Subscript) {
          if (call->getArg(0) != child && is_tensor(call->getArg(0)->getType())) {
            return Mention::kAsked;  // `x[mask]`: an index may be on the CPU
          }
          element |= kind == clang::OO_Subscript;
          child = parent;
          continue;
        }
        if (call->isAssignmentOp()) return assigned(member, *call, child, element, value);
        if (kind == clang::OO_Call) {
          return call->getArg(0) == child || is_module_call(*call) ? Mention::kUsed
                                                                   : Mention::kEscapes;
        }
        return is_tensor(call->getType()) ? Mention::kUsed : Mention::kAsked;
      }
      if (const auto* call = llvm::dyn_cast<clang::CallExpr>(parent)) {
        const auto* method = llvm::dyn_cast<clang::MemberExpr>(call->getCallee()->IgnoreParens());
        if (call->getCallee() == child) {
          const Mention mention = called(member, *call, element, value);
          // `mask.unsqueeze(0)` is the mask still; `mask.mul(x)` and `layer->forward(x)` are not.
          const bool view = method != nullptr && is_tensor(method->getBase()->getType()) &&
                            !has_tensor_argument(*call);
          const bool goes_on = view && mention == Mention::kUsed && is_tensor(call->getType());
          const llvm::StringRef name =
              method == nullptr ? llvm::StringRef() : plain_name(method->getMemberDecl());
          element |= gives_element(name);
          if (!goes_on && !gives_element(name) && !gives_itself(name)) return mention;
          child = parent;
          continue;
        }
        if (wraps(call->getDirectCallee())) {
          child = parent;
          continue;
        }
        return passed(member, *call);
      }
      if (llvm::isa<clang::MemberExpr>(parent)) {
        child = parent;  // of a method, or `layer->weight`
        continue;
      }
      if (const auto* variable = llvm::dyn_cast<clang::DeclStmt>(parent)) {
        return declared(*variable);
      }
      // Captured: what the body does with it are mentions of their own.
      if (llvm::isa<clang::LambdaExpr>(parent)) return Mention::kAsked;
      if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(parent)) {
        if (unary->getOpcode() == clang::UO_AddrOf) return Mention::kEscapes;
        if (unary->getOpcode() == clang::UO_LNot) return Mention::kAsked;
      }
      if (llvm::isa<clang::ReturnStmt>(parent)) {
        const bool to_change = function_ != nullptr &&
                               function_->getReturnType()->isReferenceType() &&
                               !function_->getReturnType()->getPointeeType().isConstQualified();
        return to_change ? Mention::kEscapes : Mention::kAsked;
      }
      if (llvm::isa<clang::CXXForRangeStmt>(parent)) return Mention::kAsked;
      if (!llvm::isa<clang::Expr>(parent)) return Mention::kAsked;  // a statement of its own
      child = parent;
    }
    return Mention::kAsked;
  }

  static bool has_tensor_argument(const clang::CallExpr& call) {
    return llvm::any_of(call.arguments(),
                        [](const clang::Expr* argument) { return is_tensor(argument->getType()); });
  }

  static bool is_module_call(const clang::CXXOperatorCallExpr& call) {
    return module_of(call.getArg(0)->getType()) != nullptr;
  }

  Mention assigned(const MemberFacts& member, const clang::CXXOperatorCallExpr& assignment,
                   const clang::Stmt* child, bool element, const clang::Expr*& value) const {
    if (assignment.getNumArgs() != 2) return Mention::kEscapes;
    const bool target = assignment.getArg(0) == child;
    if (assignment.getOperator() != clang::OO_Equal) return Mention::kUsed;
    if (!target) {
      // `pe = pe.unsqueeze(0)`
      const bool itself = mentioned(written(assignment.getArg(0))) == &member;
      return itself ? Mention::kAsked : Mention::kEscapes;
    }
    // `mask[0] = 1` writes into the tensor that is there.
    if (element && member.kind == MemberKind::kTensor) return Mention::kUsed;
    value = assignment.getArg(1);
    return element ? Mention::kFilled : Mention::kMade;
  }

  // A method called on the member, on an element of it, or on `layer->weight`.
  Mention called(const MemberFacts& member, const clang::CallExpr& call, bool element,
                 const clang::Expr*& value) const {
    const llvm::StringRef method = callee_name(call);
    if (method == "set_data") return Mention::kReplaced;
    const bool container = member.kind == MemberKind::kContainer && !element;
    const bool filled = (container || member.kind == MemberKind::kModule) && fills(method);
    if (filled) {
      if (call.getNumArgs() == 0) return Mention::kEscapes;
      value = call.getArg(call.getNumArgs() - 1);
      return Mention::kFilled;
    }
    if (container) {
      const bool known = asks_container(method) || gives_element(method);
      if (method == "clear" || method == "resize" || method == "assign") return Mention::kReplaced;
      return known ? Mention::kAsked : Mention::kEscapes;
    }
    const auto* object = llvm::dyn_cast<clang::MemberExpr>(call.getCallee()->IgnoreParens());
    const bool on_tensor = object != nullptr && is_tensor(object->getBase()->getType());
    if (on_tensor) return asks_tensor(method) ? Mention::kAsked : Mention::kUsed;
    if (method == "to" || method == "cuda" || method == "cpu") return Mention::kReplaced;
    return asks_module(method) ? Mention::kAsked : Mention::kUsed;
  }

  Mention passed(const MemberFacts& member, const clang::CallExpr& call) const {
    const llvm::StringRef callee = callee_name(call);
    if (is_registration(callee)) return Mention::kRegistered;
    const clang::FunctionDecl* function = call.getDirectCallee();
    const bool of_libtorch = function != nullptr && is_of_libtorch(*function);
    if (takes_any_device(callee)) return Mention::kAsked;
    if (member.kind != MemberKind::kTensor) {
      const bool tensor_of_it = of_libtorch && is_tensor(call.getType());
      return tensor_of_it ? Mention::kUsed : Mention::kEscapes;
    }
    if (callee == "forward") return Mention::kUsed;
    if (!of_libtorch) return Mention::kEscapes;
    const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(function->getDeclContext());
    if (plain_name(space) == "init") return Mention::kAsked;
    return is_tensor(call.getType()) ? Mention::kUsed : Mention::kAsked;
  }

  Mention declared(const clang::DeclStmt& declaration) const {
    for (const clang::Decl* one : declaration.decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(one);
      if (variable != nullptr && aliases_.contains(variable)) return Mention::kAsked;
    }
    return Mention::kEscapes;
  }

  const SetUpMethods& set_up_;
  llvm::DenseMap<const clang::ValueDecl*, MemberFacts*> by_field_;
  llvm::DenseMap<const clang::ValueDecl*, MemberFacts*> aliases_;
  const clang::FunctionDecl* function_ = nullptr;
  bool in_set_up_ = false;
};

std::vector<MemberFacts> candidates(const clang::CXXRecordDecl& module) {
  std::vector<MemberFacts> members;
  for (const clang::FieldDecl* field : module.fields()) {
    MemberFacts member;
    member.field = field;
    clang::QualType type = field->getType();
    // A reference or a raw pointer: somebody else owns it.
    if (type->isReferenceType() || type->isPointerType()) continue;
    const clang::QualType element = element_of(type);
    if (!element.isNull()) type = element;
    const clang::CXXRecordDecl* inner = module_of(type);
    const bool any = is_named(record_of(type), "nn", "AnyModule");
    const bool module = any || (inner != nullptr && may_have_state(*inner));
    if (!is_tensor(type) && !module) continue;
    member.kind = !element.isNull() ? MemberKind::kContainer
                  : module          ? MemberKind::kModule
                                    : MemberKind::kTensor;
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

llvm::StringRef callee_name(const clang::CallExpr& call) {
  if (const clang::FunctionDecl* callee = call.getDirectCallee()) return plain_name(callee);
  const clang::Expr* callee = call.getCallee()->IgnoreParenImpCasts();
  clang::DeclarationName name;
  if (const auto* unresolved = llvm::dyn_cast<clang::OverloadExpr>(callee)) {
    name = unresolved->getName();
  } else if (const auto* dependent = llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(callee)) {
    name = dependent->getMember();
  }
  const clang::IdentifierInfo* identifier = name.getAsIdentifierInfo();
  return identifier == nullptr ? llvm::StringRef() : identifier->getName();
}

bool is_registration(llvm::StringRef callee) {
  return StringSwitch<bool>(callee)
      .Cases({"register_buffer", "register_parameter", "register_module"}, true)
      .Case("replace_module", true)
      .Default(false);
}

ModuleFacts module_facts(const clang::CXXRecordDecl& module) {
  ModuleFacts facts;
  facts.members = candidates(module);
  if (facts.members.empty()) return facts;
  const std::vector<const clang::CXXMethodDecl*> methods = methods_of(module);
  for (const clang::CXXMethodDecl* method : methods) {
    if (!needs_body(*method)) continue;
    const clang::FunctionDecl* definition = definition_of(*method);
    // Who derives from a class with pure methods may register for it.
    if (definition == nullptr || !is_wholly_parsed(*definition)) facts.wholly_seen = false;
    if (!facts.wholly_seen) return facts;
  }
  const SetUpMethods set_up(methods, derives_from(&module, "nn", "Cloneable"));
  Reader reader(facts, set_up);
  for (const MemberFacts& member : facts.members) reader.read_default(*member.field);
  for (const clang::CXXMethodDecl* method : methods) {
    if (!needs_body(*method)) continue;
    reader.read(*method, *definition_of(*method));
  }
  return facts;
}

}  // namespace devsan::lint
