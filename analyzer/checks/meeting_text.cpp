// From placements back to the program's own words.
#include "meeting_text.h"

#include "../placement/expressions.h"
#include "../placement/torch_types.h"
#include "clang/Basic/SourceManager.h"

namespace devsan::lint {
namespace {

bool is_before(clang::SourceLocation a, clang::SourceLocation b, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  return sources.isBeforeInTranslationUnit(sources.getExpansionLoc(a), sources.getExpansionLoc(b));
}

// Every variable that an expression reads is declared before `place`.
bool is_visible_at(const clang::Stmt* statement, clang::SourceLocation place,
                   const clang::ASTContext& context) {
  if (const auto* reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(statement)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable != nullptr && variable->isLocalVarDeclOrParm() &&
        !is_before(variable->getLocation(), place, context)) {
      return false;
    }
  }
  if (statement == nullptr) return true;
  return llvm::all_of(statement->children(), [&](const clang::Stmt* child) {
    return is_visible_at(child, place, context);
  });
}

// What the program writes for the operand: `net` of `net->`, `image` of what was put into `inputs`.
const clang::Expr* spelled(const Operand& operand) {
  const clang::Expr* bare =
      written(operand.placement.put != nullptr ? operand.placement.put : operand.expression);
  while (true) {
    const clang::Expr* inner = bare;
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
        made != nullptr && written_arguments(*made) == 1 && !is_device(made->getType())) {
      inner = written(made->getArg(0));
    } else if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare);
               call != nullptr && call->getOperator() == clang::OO_Arrow) {
      inner = written(call->getArg(0));
    }
    if (inner == bare || !inner->getExprLoc().isValid()) return bare;
    bare = inner;
  }
}

// Reading it twice gives the same: no calls but those that ask for a device.
bool is_repeatable(const clang::Stmt* statement) {
  if (statement == nullptr) return true;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    const llvm::StringRef name = plain_name(call->getDirectCallee());
    const bool asks = name == "device" || name == "options" || name == "get_device";
    if (operation == nullptr ? !asks : operation->isAssignmentOp()) return false;
  }
  return llvm::all_of(statement->children(), is_repeatable);
}

Note note_of(const SummaryStep& step, const std::string& text, const clang::ASTContext& context) {
  Note note{location_of(step.place, context), text};
  if (note.place.isInvalid()) note.elsewhere = step.place;
  return note;
}

// A variable, parameter or member that can be named again.
bool is_name(const clang::Expr* expression) {
  const clang::Expr* bare = written(expression);
  return named_value(bare) != nullptr && llvm::isa<clang::DeclRefExpr, clang::MemberExpr>(bare);
}

}  // namespace

const clang::Expr* device_argument(const clang::Expr* made) {
  const auto* call = llvm::dyn_cast_or_null<clang::CallExpr>(made);
  if (call == nullptr) return nullptr;
  for (const clang::Expr* argument : call->arguments()) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    const clang::Expr* bare = written(argument);
    while (const auto* wrapped = llvm::dyn_cast<clang::CXXConstructExpr>(bare)) {
      if (is_device(wrapped->getType()) || written_arguments(*wrapped) != 1) break;
      bare = written(wrapped->getArg(0));
    }
    if (is_device(bare->getType()) || is_device_type(bare->getType())) return bare;
  }
  return nullptr;
}

std::string name_of(const Operand& operand, const clang::ASTContext& context) {
  if (operand.of_callee) return "'" + operand.inner + "'";
  const std::string member = operand.inner.empty() ? std::string() : "." + operand.inner;
  return "'" + quoted(spelled(operand), context) + member + "'";
}

std::string place_of(const Operand& operand, const clang::ASTContext& context) {
  const DeviceValue* device = operand.placement.single();
  if (device == nullptr) return "another device";
  if (!device->is_symbol()) return to_string(*device);
  const clang::Expr* argument = device_argument(operand.placement.made);
  if (argument != nullptr) return "'" + quoted(argument, context) + "'";
  return "a device of its own";
}

std::optional<std::string> device_text(const Operand& operand, clang::SourceLocation place,
                                       const clang::ASTContext& context) {
  if (operand.of_callee || !operand.inner.empty()) return std::nullopt;
  const clang::Expr* bare = spelled(operand);
  if (!operand.module && is_tensor(bare->getType()) && is_name(bare) &&
      is_visible_at(bare, place, context)) {
    return quoted(bare, context) + ".device()";
  }
  const clang::Expr* argument = device_argument(operand.placement.made);
  if (argument == nullptr || !is_repeatable(argument) || !is_visible_at(argument, place, context)) {
    return std::nullopt;
  }
  const auto range = file_range(argument->getSourceRange(), context);
  return range ? std::optional(text_of(*range, context)) : std::nullopt;
}

void add_move(const Operand& operand, const Operand& target, const clang::ASTContext& context,
              Diagnostic& diagnostic) {
  if (operand.of_callee || !operand.inner.empty()) return;
  const clang::Expr* place = spelled(operand);
  if (!is_tensor(place->getType())) return;
  const auto range = file_range(place->getSourceRange(), context);
  const auto device = device_text(target, place->getBeginLoc(), context);
  if (!range || !device) return;
  // `a + b` needs parentheses before a method can be called on it.
  const bool compound = llvm::isa<clang::CXXOperatorCallExpr, clang::ConditionalOperator>(place) &&
                        !text_of(*range, context).ends_with("]");
  const auto at = [](clang::SourceLocation where) {
    return clang::CharSourceRange::getCharRange(where, where);
  };
  const std::string move = ".to(" + *device + ")";
  if (compound) diagnostic.edits.push_back({at(range->getBegin()), "("});
  diagnostic.edits.push_back({at(range->getEnd()), (compound ? ")" : "") + move});
  diagnostic.advice = "move it: '" + quoted(place, context) + move + "'";
}

void add_origin(const Operand& operand, const clang::ASTContext& context, Diagnostic& diagnostic) {
  const Placement& placement = operand.placement;
  if (placement.put != nullptr) {
    diagnostic.notes.push_back({placement.put->getExprLoc(), "put in here"});
  }
  const clang::Expr* made = placement.made;
  if (made == nullptr) return;
  if (placement.steps != nullptr) {
    // Made in a function that was called.
    if (!operand.of_callee && made != spelled(operand)) {
      diagnostic.notes.push_back(
          {made->getExprLoc(), name_of(operand, context) + " comes from here"});
    }
    for (const SummaryStep& step : *placement.steps) {
      diagnostic.notes.push_back(note_of(step, step.text, context));
    }
    return;
  }
  if (made == spelled(operand) || operand.of_callee) return;
  const std::string what = name_of(operand, context);
  const bool moved = llvm::isa<clang::CXXMemberCallExpr>(made);
  std::string text = what + (moved ? " is moved to " : " is made on ") + place_of(operand, context);
  if (placement.by_default) text += ", since no device is named";
  diagnostic.notes.push_back({made->getExprLoc(), text + ", here"});
}

void add_way(const Meeting& meeting, const clang::ASTContext& context, Diagnostic& diagnostic) {
  for (const SummaryStep& step : meeting.steps) {
    const bool op = &step == &meeting.steps.back();
    const std::string text = op ? "they meet in " + op_of(meeting) + " here" : "through this call";
    diagnostic.notes.push_back(note_of(step, text, context));
  }
}

std::string op_of(const Meeting& meeting) {
  llvm::StringRef name = meeting.name;
  if (name == "forward") return name.str();
  name.consume_front("operator");
  return "'" + name.str() + "'";
}

}  // namespace devsan::lint
