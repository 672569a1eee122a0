// From the facts of the functions to questions, and from answers to what is said.
#include "missing_device_guard.h"

#include <set>

#include "../placement/code_kind.h"
#include "../placement/current_device.h"
#include "../placement/expressions.h"
#include "../placement/module_types.h"
#include "../placement/torch_types.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Index/USRGeneration.h"
#include "clang/Lex/Lexer.h"
#include "include_edit.h"

namespace devsan::lint {
namespace {

using Use = CurrentDeviceUse;

std::string usr_of(const clang::FunctionDecl& function) {
  llvm::SmallString<128> usr;
  if (clang::index::generateUSRForDecl(&function, usr)) return function.getQualifiedNameAsString();
  return usr.str().str();
}

bool holds_tensor(clang::QualType type) {
  if (is_tensor(type) || is_tensor(element_of(type))) return true;
  const auto* holder =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record_of(type));
  if (holder == nullptr || holder->getTemplateArgs().size() == 0) return false;
  const llvm::StringRef name = plain_name(holder);
  const clang::TemplateArgument& first = holder->getTemplateArgs()[0];
  return (name == "optional" || name == "ArrayRef" || name == "IListRef") &&
         first.getKind() == clang::TemplateArgument::Type && is_tensor(first.getAsType());
}

bool takes_tensors(const clang::FunctionDecl& function) {
  return llvm::any_of(function.parameters(), [](const clang::ParmVarDecl* parameter) {
    return holds_tensor(parameter->getType());
  });
}

// The tensor whose device a guard would set: the first parameter that is one and has a name.
const clang::ParmVarDecl* guarded_tensor(const clang::FunctionDecl& function) {
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (is_tensor(parameter->getType()) && parameter->getIdentifier() != nullptr) return parameter;
  }
  return nullptr;
}

const clang::FunctionDecl* definition_of(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = nullptr;
  return function.hasBody(definition) ? definition : &function;
}

class Asking {
 public:
  Asking(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
         const std::string& project_root)
      : context_(context), kinds_(context, declarations, project_root) {}

  GuardQuestions ask(const UnitCurrentDevice& unit) {
    for (const clang::FunctionDecl* function : unit.handed_on) {
      questions_.facts.handed_on.insert(usr_of(*function));
    }
    for (const CurrentDeviceFacts& facts : unit.functions) {
      if (is_test(*facts.function)) continue;
      note(facts);
      if (facts.wholly_seen && takes_tensors(*facts.function)) ask(facts);
    }
    return std::move(questions_);
  }

 private:
  bool is_test(const clang::FunctionDecl& function) const {
    llvm::SmallVector<const clang::Decl*, 4> enclosing;
    for (const clang::DeclContext* scope = &function; scope != nullptr;
         scope = scope->getParent()) {
      enclosing.insert(enclosing.begin(), clang::Decl::castFromDeclContext(scope));
    }
    return kinds_.of(enclosing, function.getLocation()) == CodeKind::kTest;
  }

  void note(const CurrentDeviceFacts& facts) {
    const std::string name = usr_of(*facts.function);
    GuardFacts& known = questions_.facts;
    for (const OwnCall& call : facts.calls) {
      known.calls.insert({name, usr_of(*call.callee), call.guarded});
    }
    if (!facts.unguarded.empty()) known.users.insert(name);
    if (!takes_tensors(*facts.function)) known.tensorless.insert(name);
    if (is_declared_here_only(*facts.function)) known.local.insert(name);
  }

  bool is_declared_here_only(const clang::FunctionDecl& function) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
    if (method != nullptr && method->size_overridden_methods() > 0) return false;
    // One that nobody else can call, and nobody here does, is dead.
    if (!function.isExternallyVisible()) return false;
    // A program that never sets the device runs on one: main is no way in.
    if (function.isMain()) return false;
    return llvm::all_of(function.redecls(), [&](const clang::FunctionDecl* declaration) {
      return sources.isInMainFile(sources.getExpansionLoc(declaration->getLocation()));
    });
  }

  void ask(const CurrentDeviceFacts& facts) {
    const std::string name = usr_of(*facts.function);
    if (!facts.unguarded.empty()) {
      // A launch tells more than the stream that it is launched on.
      const auto launch = llvm::find_if(
          facts.unguarded, [](const Use& use) { return use.kind == Use::Kind::kLaunch; });
      const Use& use = launch == facts.unguarded.end() ? facts.unguarded.front() : *launch;
      say({name, ""}, facts, *use.place, what_does(use));
      return;
    }
    for (const OwnCall& call : facts.calls) {
      const bool in_unit = call.callee->hasBody();
      if (call.guarded || takes_tensors(*call.callee) || (!in_unit && !call.gives_pointer))
        continue;
      say({name, usr_of(*call.callee)}, facts, *call.place,
          "'" + call.callee->getNameAsString() + "' works on");
    }
  }

  static std::string what_does(const Use& use) {
    switch (use.kind) {
      case Use::Kind::kLaunch:
        return "'" + use.name + "' is launched on";
      case Use::Kind::kStream:
        return "'" + use.name + "' gives a stream of";
      case Use::Kind::kHandle:
        return "'" + use.name + "' gives a handle of";
    }
    return {};
  }

  void say(GuardQuestion question, const CurrentDeviceFacts& facts, const clang::Expr& place,
           const std::string& does) {
    const clang::FunctionDecl& function = *definition_of(*facts.function);
    const clang::ParmVarDecl* tensor = guarded_tensor(function);
    Diagnostic diagnostic;
    diagnostic.rule = kMissingDeviceGuard;
    diagnostic.tokens = place.getSourceRange();
    diagnostic.message = does + " the current device, which need not be that of " +
                         (tensor == nullptr ? "the tensors of '" + function.getNameAsString() + "'"
                                            : "'" + tensor->getNameAsString() + "'") +
                         ": no device guard stands before it";
    diagnostic.advice = "make a c10::cuda::OptionalCUDAGuard the first statement of '" +
                        function.getNameAsString() + "'";
    if (tensor != nullptr) add_guard(function, *tensor, diagnostic);
    questions_.candidates.push_back({std::move(question), std::move(diagnostic)});
  }

  void add_guard(const clang::FunctionDecl& function, const clang::ParmVarDecl& tensor,
                 Diagnostic& diagnostic) const {
    const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(function.getBody());
    if (body == nullptr || body->body_empty() || body->getLBracLoc().isMacroID()) return;
    const clang::SourceManager& sources = context_.getSourceManager();
    const auto include = include_edit(body->getLBracLoc(), "c10/cuda/CUDAGuard.h", context_);
    if (!include) return;
    const std::string guard = "const c10::cuda::OptionalCUDAGuard device_guard(device_of(" +
                              tensor.getNameAsString() + "));";
    const clang::SourceLocation first = sources.getExpansionLoc(body->body_front()->getBeginLoc());
    const bool one_line =
        sources.getSpellingLineNumber(first) == sources.getSpellingLineNumber(body->getLBracLoc());
    const std::string indent = clang::Lexer::getIndentationForLine(first, sources).str();
    const clang::SourceLocation at = body->getLBracLoc().getLocWithOffset(1);
    diagnostic.edits.push_back({clang::CharSourceRange::getCharRange(at, at),
                                one_line ? " " + guard : "\n" + indent + guard});
    if (!include->text.empty()) diagnostic.edits.push_back(*include);
    diagnostic.advice = "begin with '" + guard + "'";
  }

  const clang::ASTContext& context_;
  CodeKinds kinds_;
  GuardQuestions questions_;
};

}  // namespace

bool GuardQuestion::is_answered_by(const GuardCallers& callers) const {
  return callers.is_exposed(function) && (launcher.empty() || callers.launches(launcher));
}

std::set<std::string> unguarded_functions(const std::vector<GuardQuestion>& questions,
                                          const GuardCallers& callers) {
  std::set<std::string> unguarded;
  for (const GuardQuestion& question : questions) {
    if (question.is_answered_by(callers)) unguarded.insert(question.function);
  }
  std::set<std::string> outer;
  for (const std::string& function : unguarded) {
    if (callers.is_exposed(function, unguarded)) outer.insert(function);
  }
  return outer;
}

GuardQuestions guard_questions(clang::ASTContext& context,
                               llvm::ArrayRef<clang::Decl*> declarations,
                               const std::string& project_root) {
  return Asking(context, declarations, project_root)
      .ask(current_device_facts(context, declarations));
}

void check_missing_device_guard(const GuardQuestions& questions, Report report) {
  GuardCallers callers;
  callers.add(questions.facts);
  std::vector<GuardQuestion> asked;
  for (const GuardQuestions::Candidate& candidate : questions.candidates) {
    asked.push_back(candidate.question);
  }
  std::set<std::string> unguarded = unguarded_functions(asked, callers);
  for (const GuardQuestions::Candidate& candidate : questions.candidates) {
    if (!candidate.question.is_answered_by(callers)) continue;
    if (unguarded.erase(candidate.question.function) > 0) report(candidate.diagnostic);
  }
}

}  // namespace devsan::lint
