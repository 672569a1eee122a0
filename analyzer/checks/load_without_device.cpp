// Finds the loads, and what the rest of the translation unit does with what they load.
#include "load_without_device.h"

#include <optional>
#include <vector>

#include "../placement/device_in_scope.h"
#include "../placement/expressions.h"
#include "../placement/module_types.h"
#include "../placement/stack_walk.h"
#include "../placement/torch_types.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseSet.h"

namespace devsan::lint {
namespace {

using Around = llvm::ArrayRef<const clang::Stmt*>;

enum class Loaded { kScript, kModule, kOptimizer, kArchive };

struct Load {
  const clang::CallExpr* call = nullptr;
  Loaded loaded = Loaded::kScript;
  const clang::ValueDecl* target = nullptr;  // what holds it afterwards
  const clang::FunctionDecl* function = nullptr;
  const clang::LambdaExpr* lambda = nullptr;
  std::vector<const clang::VarDecl*> devices;  // local ones, declared before it
};

// A module is told a device: `net.to(device)`, `net->to(device, torch::kHalf)`.
struct Move {
  const clang::CXXMemberCallExpr* call = nullptr;
  const clang::ValueDecl* module = nullptr;
  const clang::FunctionDecl* function = nullptr;
};

// The variable or member that an expression names, of whatever object.
const clang::ValueDecl* holder_of(const clang::Expr* expression) {
  const clang::Expr* bare = written(expression);
  while (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(bare)) {
    const auto kind = operation->getOperator();
    if (kind != clang::OO_Arrow && kind != clang::OO_Star) break;
    bare = written(operation->getArg(0));
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(bare);
      unary != nullptr && unary->getOpcode() == clang::UO_Deref) {
    bare = written(unary->getSubExpr());
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(bare)) return member->getMemberDecl();
  return named_value(bare);
}

bool is_script(clang::QualType type) {
  return is_named(record_of(type), "jit", "Module");
}

// `archive.load_from(path)`
bool reads_archive(const clang::CXXMemberCallExpr& call) {
  const clang::CXXMethodDecl* method = call.getMethodDecl();
  return plain_name(method) == "load_from" &&
         is_named(method->getParent(), "serialize", "InputArchive");
}

bool moves_module(const clang::CXXMemberCallExpr& call) {
  const clang::CXXMethodDecl* method = call.getMethodDecl();
  if (plain_name(method) != "to" || method->getNumParams() == 0) return false;
  const bool module = is_named(method->getParent(), "jit", "Module") ||
                      derives_from(method->getParent(), "nn", "Module");
  return module && is_device(method->getParamDecl(0)->getType());
}

bool names_cpu(const clang::Expr& device) {
  const clang::Expr* bare = written(&device);
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
      made != nullptr && written_arguments(*made) == 1) {
    return names_cpu(*made->getArg(0));
  }
  const auto* text = llvm::dyn_cast<clang::StringLiteral>(bare);
  return plain_name(named_value(bare)) == "kCPU" || (text != nullptr && text->getString() == "cpu");
}

// An optimizer, or what points to one.
bool is_optimizer(clang::QualType type) {
  const clang::CXXRecordDecl* record = record_of(type);
  if (derives_from(record, "optim", "Optimizer")) return true;
  const auto* pointer = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (pointer == nullptr || !pointer->isInStdNamespace() ||
      pointer->getTemplateArgs().size() == 0 ||
      pointer->getTemplateArgs()[0].getKind() != clang::TemplateArgument::Type) {
    return false;
  }
  return derives_from(record_of(pointer->getTemplateArgs()[0].getAsType()), "optim", "Optimizer");
}

class Walk : public StackWalk<Walk> {
 public:
  bool TraverseFunctionDecl(clang::FunctionDecl* function) {
    return within(function, [&] { return StackWalk<Walk>::TraverseFunctionDecl(function); });
  }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* function) {
    return within(function, [&] { return StackWalk<Walk>::TraverseCXXMethodDecl(function); });
  }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl* function) {
    return within(function, [&] { return StackWalk<Walk>::TraverseCXXConstructorDecl(function); });
  }
  bool TraverseConstructorInitializer(clang::CXXCtorInitializer* init) {
    initialised_ = init->getMember();
    const bool go_on = StackWalk<Walk>::TraverseConstructorInitializer(init);
    initialised_ = nullptr;
    return go_on;
  }

  bool VisitVarDecl(clang::VarDecl* variable) {
    const bool device = is_device(variable->getType());
    chooses_device |= device;
    if (device && variable->isLocalVarDecl()) devices_.push_back(variable);
    return true;
  }
  bool VisitFieldDecl(clang::FieldDecl* field) {
    chooses_device |= is_device(field->getType());
    return true;
  }

  void visit(const clang::Stmt* statement, Around around) {
    if (const auto* result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
      if (result->getRetValue() != nullptr) handed_on.insert(holder_of(result->getRetValue()));
      return;
    }
    const auto* call = llvm::dyn_cast<clang::CallExpr>(statement);
    if (call == nullptr) return;
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const llvm::StringRef name = plain_name(callee);
    if (const auto* method = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
      const bool moves = name == "to" || name == "cuda" || name == "cpu";
      const clang::Expr* object = method->getImplicitObjectArgument();
      if (moves && object != nullptr) handed_on.insert(holder_of(object));
      if (object != nullptr && moves_module(*method)) {
        moves_.push_back({method, holder_of(object), function_});
      }
      if (reads_archive(*method)) note_archive(*method, around);
      // `net->load(archive)`: of other archives one cannot know that there are tensors in them.
      if (name == "load" && object != nullptr && call->getNumArgs() == 1 &&
          (module_of(object->getType()) != nullptr || is_optimizer(object->getType()))) {
        archives_of_modules.insert(holder_of(call->getArg(0)));
      }
    }
    const bool loads = name == "load" && callee != nullptr && is_of_libtorch(*callee) &&
                       callee->getDeclContext()->isNamespace();
    if (loads) {
      note_load(*call, *callee, around);
      return;
    }
    // Whoever is given it may move it.
    for (const clang::Expr* argument : call->arguments()) {
      if (llvm::isa<clang::CXXOperatorCallExpr>(call)) break;
      handed_on.insert(holder_of(argument));
    }
  }

  // The move to the CPU, in the same function, of what was loaded.
  const Move* move_to_cpu(const Load& load) const {
    const auto move = llvm::find_if(moves_, [&load](const Move& one) {
      return one.module == load.target && one.function == load.function &&
             names_cpu(*one.call->getArg(0));
    });
    return move == moves_.end() ? nullptr : &*move;
  }
  bool moves_modules(const clang::FunctionDecl* function) const {
    return llvm::any_of(moves_, [&](const Move& one) { return one.function == function; });
  }

  std::vector<Load> loads;
  llvm::DenseSet<const clang::ValueDecl*> handed_on;  // moved, returned, or given to a function
  llvm::DenseSet<const clang::ValueDecl*> archives_of_modules;
  bool chooses_device = false;

 private:
  template <typename Traverse>
  bool within(const clang::FunctionDecl* function, Traverse traverse) {
    const clang::FunctionDecl* outer = function_;
    function_ = function;
    for (const clang::ParmVarDecl* parameter : function->parameters()) {
      chooses_device |= is_device(parameter->getType());
    }
    std::vector<const clang::VarDecl*> devices = std::move(devices_);
    devices_.clear();
    const bool go_on = traverse();
    devices_ = std::move(devices);
    function_ = outer;
    return go_on;
  }

  static bool names_device(const clang::CallExpr& call) {
    return llvm::any_of(call.arguments(), [](const clang::Expr* argument) {
      const clang::QualType type = argument->getType();
      return !llvm::isa<clang::CXXDefaultArgExpr>(argument) &&
             (is_device(type) || is_optional_device(type) || is_device_type(type));
    });
  }

  Load load_of(const clang::CallExpr& call, Around around) const {
    Load load;
    load.call = &call;
    load.function = function_;
    load.devices = devices_;
    for (const clang::Stmt* parent : around) {
      if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(parent)) load.lambda = lambda;
    }
    return load;
  }

  void note_archive(const clang::CXXMemberCallExpr& call, Around around) {
    if (names_device(call)) return;
    Load load = load_of(call, around);
    load.loaded = Loaded::kArchive;
    load.target = holder_of(call.getImplicitObjectArgument());
    if (load.target != nullptr) loads.push_back(std::move(load));
  }

  void note_load(const clang::CallExpr& call, const clang::FunctionDecl& callee, Around around) {
    if (names_device(call)) return;
    Load load = load_of(call, around);
    if (is_script(callee.getReturnType())) {
      load.target = target_of(call, around);
    } else if (call.getNumArgs() > 1) {
      // Tensors that are read are most often data, which is moved a batch at a time.
      const clang::QualType type = call.getArg(0)->getType();
      if (!is_optimizer(type) && module_of(type) == nullptr) return;
      load.loaded = is_optimizer(type) ? Loaded::kOptimizer : Loaded::kModule;
      load.target = holder_of(call.getArg(0));
    }
    if (load.target != nullptr) loads.push_back(std::move(load));
  }

  // The variable that a call's result is given to; null when it goes elsewhere.
  const clang::ValueDecl* target_of(const clang::CallExpr& call, Around around) const {
    const clang::Stmt* child = &call;
    for (const clang::Stmt* parent : llvm::reverse(around)) {
      if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(parent)) {
        return declaration->isSingleDecl()
                   ? llvm::dyn_cast<clang::ValueDecl>(declaration->getSingleDecl())
                   : nullptr;
      }
      if (const auto* operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(parent)) {
        const bool given = operation->isAssignmentOp() && operation->getArg(0) != child;
        return given ? holder_of(operation->getArg(0)) : nullptr;
      }
      if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(parent)) {
        const bool returned = llvm::any_of(
            around, [](const clang::Stmt* outer) { return llvm::isa<clang::ReturnStmt>(outer); });
        return returned ? nullptr : field_of(*list, child);
      }
      if (llvm::isa<clang::CallExpr>(parent) || !llvm::isa<clang::Expr>(parent)) return nullptr;
      child = parent;
    }
    return initialised_;
  }

  // The field that an element of `State{device, torch::jit::load(path)}` is for.
  static const clang::FieldDecl* field_of(const clang::InitListExpr& list,
                                          const clang::Stmt* element) {
    const clang::CXXRecordDecl* record = record_of(list.getType());
    if (record == nullptr || record->getNumBases() > 0) return nullptr;
    unsigned index = 0;
    for (const clang::FieldDecl* field : record->fields()) {
      if (index < list.getNumInits() && list.getInit(index) == element) return field;
      ++index;
    }
    return nullptr;
  }

  std::vector<Move> moves_;
  const clang::FunctionDecl* function_ = nullptr;
  const clang::FieldDecl* initialised_ = nullptr;
  std::vector<const clang::VarDecl*> devices_;
};

// Other files may move a member of a class whose methods are not all here.
bool is_wholly_seen(const clang::ValueDecl& target) {
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(&target);
  if (field == nullptr) return true;
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent());
  if (record == nullptr || record->isDependentContext()) return false;
  return llvm::all_of(record->methods(), [](const clang::CXXMethodDecl* method) {
    return method->isImplicit() || method->isDefaulted() || method->isDeleted() ||
           method->hasBody();
  });
}

std::optional<std::string> device_for(const Load& load) {
  if (load.devices.size() > 1) return std::nullopt;
  if (load.devices.size() == 1) return load.devices.front()->getNameAsString();
  return device_in_scope(load.function, load.lambda, nullptr);
}

const char* what_is_loaded(Loaded loaded) {
  switch (loaded) {
    case Loaded::kOptimizer:
      return "the optimizer's state";
    case Loaded::kArchive:
      return "what it reads";
    case Loaded::kScript:
    case Loaded::kModule:
      break;
  }
  return "the module";
}

// `move` is where the module goes to the CPU afterwards; null when it stays.
void say(const Load& load, const Move* move, const clang::ASTContext& context, Report report) {
  Diagnostic diagnostic;
  diagnostic.rule = kLoadWithoutDevice;
  diagnostic.tokens = load.call->getSourceRange();
  diagnostic.message = "'" + quoted(load.call, context) + "' puts " + what_is_loaded(load.loaded) +
                       " on the device that it was saved from, ";
  if (move == nullptr) {
    diagnostic.message += "whatever device this code chose";
  } else {
    diagnostic.message += "and throws on a machine without it, before it is moved to the CPU";
    diagnostic.notes.push_back({move->call->getExprLoc(), "moved here"});
  }
  diagnostic.advice = "pass the device";
  const auto device =
      move == nullptr ? device_for(load) : std::optional(quoted(move->call->getArg(0), context));
  const auto range = file_range(load.call->getSourceRange(), context);
  if (device && range) {
    const clang::SourceLocation end = range->getEnd().getLocWithOffset(-1);
    diagnostic.edits.push_back({clang::CharSourceRange::getCharRange(end, end), ", " + *device});
    diagnostic.advice = "pass the device: '" + *device + "'";
  }
  report(diagnostic);
}

}  // namespace

void check_loads_without_device(clang::ASTContext& context,
                                llvm::ArrayRef<clang::Decl*> declarations, Report report) {
  Walk walk;
  for (clang::Decl* declaration : declarations) walk.TraverseDecl(declaration);
  for (const Load& load : walk.loads) {
    if (load.loaded == Loaded::kScript) {
      if (const Move* move = walk.move_to_cpu(load)) {
        say(load, move, context, report);
        continue;
      }
    }
    if (!walk.chooses_device || !is_wholly_seen(*load.target)) continue;
    // What is moved afterwards takes its place; an optimizer has no `to`.
    bool placed = load.loaded != Loaded::kOptimizer && walk.handed_on.contains(load.target);
    if (load.loaded == Loaded::kArchive) {
      placed = walk.moves_modules(load.function) || !walk.archives_of_modules.contains(load.target);
    }
    if (!placed) say(load, nullptr, context, report);
  }
}

}  // namespace devsan::lint
