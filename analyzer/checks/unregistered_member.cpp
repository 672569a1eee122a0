// The policy: which members are state, what is said, where the registration is written.
#include "unregistered_member.h"

#include <algorithm>
#include <optional>

#include "../placement/expressions.h"
#include "../placement/member_facts.h"
#include "../placement/module_types.h"
#include "../placement/torch_types.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "member_origin.h"

namespace devsan::lint {
namespace {

// Members that code outside their class registers, moves or gives a value to.
class Outsiders : public clang::RecursiveASTVisitor<Outsiders> {
 public:
  explicit Outsiders(const clang::FieldDecl* field) : field_(field) {}
  bool found = false;

  bool VisitCallExpr(clang::CallExpr* call) {
    const llvm::StringRef callee = callee_name(*call);
    if (is_registration(callee)) {
      for (const clang::Expr* argument : call->arguments()) note(argument);
    }
    if (callee == "to") {
      if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
        note(method->getImplicitObjectArgument());
      }
    }
    const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    if (operation != nullptr && operation->isAssignmentOp()) note(operation->getArg(0));
    return !found;
  }

 private:
  // A mention through another object: through `this` it is the class's own business.
  void note(const clang::Stmt* statement) {
    if (statement == nullptr) return;
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(statement)) {
      const bool own = llvm::isa<clang::CXXThisExpr>(written(member->getBase()));
      found |= member->getMemberDecl() == field_ && !own;
    }
    for (const clang::Stmt* child : statement->children()) note(child);
  }

  const clang::FieldDecl* field_;
};

// A derived class that registers its base's member.
class Heirs : public clang::RecursiveASTVisitor<Heirs> {
 public:
  explicit Heirs(const clang::FieldDecl* field) : field_(field) {}
  bool found = false;

  bool VisitMemberExpr(clang::MemberExpr* member) {
    if (member->getMemberDecl() != field_) return true;
    const clang::CXXRecordDecl* through = record_of(member->getBase()->IgnoreImpCasts()->getType());
    if (const auto* pointer =
            member->getBase()->IgnoreImpCasts()->getType()->getAs<clang::PointerType>()) {
      through = record_of(pointer->getPointeeType());
    }
    const auto* owner = llvm::cast<clang::CXXRecordDecl>(field_->getParent());
    found |= through != nullptr && through->getCanonicalDecl() != owner->getCanonicalDecl();
    return !found;
  }

 private:
  const clang::FieldDecl* field_;
};

class Policy {
 public:
  Policy(const clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations, Report report)
      : context_(context), declarations_(declarations), report_(report) {}

  void judge(const clang::CXXRecordDecl& module) const {
    if (!derives_from(&module, "nn", "Module")) return;
    const ModuleFacts facts = module_facts(module);
    if (!facts.wholly_seen) return;
    for (const MemberFacts& member : facts.members) judge(module, member);
  }

 private:
  void judge(const clang::CXXRecordDecl& module, const MemberFacts& member) const {
    if (member.used.empty() || member.replaced || member.escapes) return;
    const MemberPlace* made = state_of(member);
    if (made == nullptr) return;
    const bool sometimes = !member.registered.empty();
    if (sometimes && !only_on_some_paths(member, *made)) return;
    if (is_touched_outside(*member.field)) return;
    say(module, member, *made, sometimes);
  }

  // The first value that makes the member state of the module; null when it is none, or when some
  // value was placed by hand or by somebody else.
  const MemberPlace* state_of(const MemberFacts& member) const {
    const MemberPlace* first = nullptr;
    for (const MemberPlace& made : member.made) {
      const clang::QualType type = made.expression->getType();
      const bool tensor = is_tensor(type) && member.kind != MemberKind::kModule;
      const MemberOrigin origin = tensor ? origin_of_tensor(made.expression, member.field)
                                         : origin_of_module(made.expression);
      switch (origin) {
        case MemberOrigin::kNothing:
          break;
        case MemberOrigin::kDefault:
          if (holds_state(member, made) && first == nullptr) first = &made;
          break;
        case MemberOrigin::kPlaced:
        case MemberOrigin::kOutside:
        case MemberOrigin::kScalar:
          return nullptr;
      }
    }
    return first;
  }

  static bool is_any_module(const MemberFacts& member) {
    return is_named(record_of(member.field->getType()), "nn", "AnyModule");
  }

  // A Sequential of activations has nothing to move, and neither has an empty vector.
  bool holds_state(const MemberFacts& member, const MemberPlace& made) const {
    const clang::CXXRecordDecl* module = module_of(member.field->getType());
    const bool contains = member.kind == MemberKind::kContainer || is_any_module(member) ||
                          (module != nullptr && is_module_container(*module));
    return !contains || has_stateful_part(made.expression);
  }

  static bool has_stateful_part(const clang::Stmt* statement) {
    if (statement == nullptr) return false;
    if (const auto* expression = llvm::dyn_cast<clang::Expr>(statement)) {
      if (is_tensor(expression->getType())) return true;
      const clang::CXXRecordDecl* module = module_of(expression->getType());
      if (module != nullptr && !is_module_container(*module) && may_have_state(*module)) {
        return true;
      }
      // What a function of the project returns is not looked into.
      const auto* call = llvm::dyn_cast<clang::CallExpr>(expression);
      if (call != nullptr && module != nullptr && libtorch_callee(call) == nullptr &&
          callee_name(*call) != "make_shared" && callee_name(*call) != "move") {
        return true;
      }
    }
    for (const clang::Stmt* child : statement->children()) {
      if (has_stateful_part(child)) return true;
    }
    return false;
  }

  // Registered in a branch that the member's making is not in.
  static bool only_on_some_paths(const MemberFacts& member, const MemberPlace& made) {
    if (member.kind != MemberKind::kTensor) return false;
    return std::none_of(
        member.registered.begin(), member.registered.end(), [&](const MemberPlace& registered) {
          return std::includes(made.branches.begin(), made.branches.end(),
                               registered.branches.begin(), registered.branches.end()) ||
                 registered.function != made.function;
        });
  }

  bool is_touched_outside(const clang::FieldDecl& field) const {
    for (clang::Decl* declaration : declarations_) {
      Outsiders outsiders(&field);
      outsiders.TraverseDecl(declaration);
      if (outsiders.found) return true;
      Heirs heirs(&field);
      heirs.TraverseDecl(declaration);
      if (heirs.found) return true;
    }
    return false;
  }

  void say(const clang::CXXRecordDecl& module, const MemberFacts& member, const MemberPlace& made,
           bool sometimes) const {
    const std::string name = member.field->getNameAsString();
    const std::string owner = module.getNameAsString();
    Diagnostic diagnostic;
    diagnostic.rule = kUnregisteredMember;
    diagnostic.tokens = member.field->getLocation();
    diagnostic.message = what(member.kind) + " '" + name + "' of module '" + owner + "' is ";
    if (sometimes) {
      diagnostic.message += "registered on some paths only: on the others ";
    } else {
      diagnostic.message += "never registered: ";
    }
    diagnostic.message += "Module::to moves the parameters and leaves it behind";
    const MemberPlace& used = member.used.front();
    diagnostic.notes.push_back({used.expression->getExprLoc(), "used here"});
    if (sometimes) {
      diagnostic.notes.push_back({member.registered.front().expression->getExprLoc(),
                                  "registered here, under a condition"});
    }
    diagnostic.notes.push_back({made.expression->getBeginLoc(), "made here"});
    if (!sometimes) add_fix(module, member, made, diagnostic);
    if (diagnostic.edits.empty() && diagnostic.advice.empty()) {
      diagnostic.advice =
          "register it where it is made: " + std::string(registration(member.kind)) + "(\"" +
          registered_name(member) + "\", " + name + ")";
    }
    report_(diagnostic);
  }

  static std::string what(MemberKind kind) {
    switch (kind) {
      case MemberKind::kTensor:
        return "tensor";
      case MemberKind::kModule:
        return "submodule";
      case MemberKind::kContainer:
        break;
    }
    return "container";
  }

  static const char* registration(MemberKind kind) {
    return kind == MemberKind::kTensor ? "register_buffer" : "register_module";
  }

  // Names of parameters and buffers have no trailing underscore and no dot.
  static std::string registered_name(const MemberFacts& member) {
    llvm::StringRef name = member.field->getName();
    name.consume_front("m_");
    return name.rtrim('_').str();
  }

  // How often it is given something: `{nullptr}` is nothing.
  static std::size_t values_of(const MemberFacts& member) {
    const auto gives = [](const MemberPlace& made) {
      return is_tensor(made.expression->getType()) ||
             origin_of_module(made.expression) != MemberOrigin::kNothing;
    };
    return static_cast<std::size_t>(std::count_if(member.made.begin(), member.made.end(), gives));
  }

  // Around the value where that is written out: `mask = register_buffer("mask", ...)`.
  void add_fix(const clang::CXXRecordDecl& module, const MemberFacts& member,
               const MemberPlace& made, Diagnostic& diagnostic) const {
    if (member.kind == MemberKind::kContainer) return;
    if (is_any_module(member)) {
      diagnostic.advice = "register what it holds: register_module(\"" + registered_name(member) +
                          "\", " + member.field->getNameAsString() + ".ptr())";
      return;
    }
    if (values_of(member) != 1 && !made.filled) return;
    // A Cloneable registers in reset(), or its clones fail.
    const bool in_reset = plain_name(made.function) == "reset";
    if (derives_from(&module, "nn", "Cloneable") && !in_reset) {
      diagnostic.advice =
          "register it in reset(), which clone() calls: " + std::string(registration(member.kind)) +
          "(\"" + registered_name(member) + "\", ...)";
      return;
    }
    if (made.filled) {
      add_statement(member, made, diagnostic);
      return;
    }
    const clang::Expr* value = made.expression->IgnoreImplicit();
    const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(value);
    const bool spelled =
        construct == nullptr || llvm::isa<clang::CXXTemporaryObjectExpr>(construct);
    const std::string begin =
        std::string(registration(member.kind)) + "(\"" + registered_name(member) + "\", ";
    if (spelled) {
      wrap(value->getSourceRange(), begin, ")", diagnostic);
      return;
    }
    // `fc(4, 2)` in a constructor's list and `fc{4, 2}` at the member have no type of their own.
    const clang::SourceRange parentheses = construct->getParenOrBraceRange();
    const auto type_range =
        file_range(member.field->getTypeSourceInfo()->getTypeLoc().getSourceRange(), context_);
    if (!type_range || parentheses.isInvalid()) return;
    const clang::SourceRange arguments(parentheses.getBegin().getLocWithOffset(1),
                                       parentheses.getEnd().getLocWithOffset(-1));
    const auto range = file_range(parentheses, context_);
    if (!range || arguments.isInvalid()) return;
    const clang::CharSourceRange inside = clang::CharSourceRange::getCharRange(
        range->getBegin().getLocWithOffset(1), range->getEnd().getLocWithOffset(-1));
    const std::string text =
        begin + text_of(*type_range, context_) + "(" + text_of(inside, context_) + ")" + ")";
    diagnostic.edits.push_back({inside, text});
    diagnostic.advice = "write '" + text + "'";
  }

  // At the end of the constructor, where the member has all its parts.
  void add_statement(const MemberFacts& member, const MemberPlace& made,
                     Diagnostic& diagnostic) const {
    const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(
        made.function == nullptr ? nullptr : made.function->getBody());
    if (body == nullptr || body->getRBracLoc().isMacroID()) return;
    const std::string text = std::string(registration(member.kind)) + "(\"" +
                             registered_name(member) + "\", " + member.field->getNameAsString() +
                             ");";
    const clang::SourceLocation end = body->getRBracLoc();
    diagnostic.edits.push_back({clang::CharSourceRange::getCharRange(end, end), text + " "});
    diagnostic.advice = "write '" + text + "' at the end of the constructor";
  }

  void wrap(clang::SourceRange tokens, const std::string& before, const std::string& after,
            Diagnostic& diagnostic) const {
    const auto range = file_range(tokens, context_);
    if (!range) return;
    const auto at = [](clang::SourceLocation place) {
      return clang::CharSourceRange::getCharRange(place, place);
    };
    diagnostic.edits.push_back({at(range->getBegin()), before});
    diagnostic.edits.push_back({at(range->getEnd()), after});
    diagnostic.advice = "write '" + before + text_of(*range, context_) + after + "'";
  }

  const clang::ASTContext& context_;
  llvm::ArrayRef<clang::Decl*> declarations_;
  Report report_;
};

// Classes at namespace scope and inside other classes; those in functions are rare and small.
void judge_classes(const clang::Decl* declaration, const Policy& policy) {
  if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) {
    for (const clang::Decl* inner : space->decls()) judge_classes(inner, policy);
    return;
  }
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(declaration);
  if (record == nullptr || !record->isThisDeclarationADefinition() || record->isInvalidDecl() ||
      record->isDependentContext()) {
    return;
  }
  policy.judge(*record);
  for (const clang::Decl* inner : record->decls()) {
    if (!inner->isImplicit()) judge_classes(inner, policy);
  }
}

}  // namespace

void check_unregistered_members(clang::ASTContext& context,
                                llvm::ArrayRef<clang::Decl*> declarations, Report report) {
  const Policy policy(context, declarations, report);
  for (const clang::Decl* declaration : declarations) judge_classes(declaration, policy);
}

}  // namespace devsan::lint
