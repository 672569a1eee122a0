// The policy: which uses are faults in which code, what is said, what is written instead.
#include "hard_coded_device.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "../placement/code_kind.h"
#include "../placement/device_in_scope.h"
#include "../placement/expressions.h"
#include "../placement/torch_types.h"
#include "clang/Basic/SourceManager.h"
#include "device_use.h"

namespace devsan::lint {
namespace {

// Why a use is a finding.
enum class Fault {
  kNone,
  kLosesIndex,  // `x.is_cuda() ? kCUDA : kCPU`
  kMixed,       // index-less, while the same function or class names an index
  kIndexed,     // "cuda:0", Device(kCUDA, 0)
  kIndexLess,   // kCUDA, "cuda", .cuda()
};

bool is_index_less(const DeviceUse& use) {
  return use.source.index == Index::kNone;
}

// A flag or the machine chose the branch that names the device.
bool is_chosen(const DeviceUse& use) {
  return use.choice != nullptr || use.question.availability;
}

// A member whose initialiser every constructor overrules says nothing.
bool is_overruled_default(const DeviceUse& use) {
  if (use.enclosing.empty()) return false;
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(use.enclosing.back());
  const auto* record =
      field == nullptr ? nullptr : llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent());
  if (record == nullptr) return false;
  bool any = false;
  for (const clang::CXXConstructorDecl* constructor : record->ctors()) {
    const clang::FunctionDecl* definition = nullptr;
    if (constructor->isImplicit() || constructor->isDeleted()) continue;
    if (!constructor->hasBody(definition)) return false;
    any = true;
    bool sets = false;
    for (const clang::CXXCtorInitializer* init :
         llvm::cast<clang::CXXConstructorDecl>(definition)->inits()) {
      sets |= init->isWritten() && init->getAnyMember() == field;
    }
    if (!sets) return false;
  }
  return any;
}

class Policy {
 public:
  Policy(const clang::ASTContext& context, const CodeKinds& kinds,
         const HardCodedDeviceOptions& options, Report report)
      : context_(context), kinds_(kinds), options_(options), report_(report) {}

  // `told_where`: the files in which a member or a parameter is a device.
  void judge(const std::vector<DeviceUses>& functions, const std::set<clang::FileID>& told_where) {
    several_gpus_ = told_where;
    for (const DeviceUses& uses : functions) {
      if (const DeviceUse* indexed = first_indexed(uses)) several_gpus_.insert(file_of(*indexed));
    }
    std::map<const clang::CXXRecordDecl*, const DeviceUse*> indexed_in_class;
    for (const DeviceUses& uses : functions) {
      const clang::CXXRecordDecl* record = class_of(uses);
      const DeviceUse* indexed = first_indexed(uses);
      if (record != nullptr && indexed != nullptr) indexed_in_class.try_emplace(record, indexed);
    }
    for (const DeviceUses& uses : functions) {
      const DeviceUse* indexed = first_indexed(uses);
      if (indexed == nullptr) {
        const auto found = indexed_in_class.find(class_of(uses));
        if (found != indexed_in_class.end()) indexed = found->second;
      }
      for (const DeviceUse& use : uses.uses) judge(use, indexed, uses.sets_current_device);
    }
  }

 private:
  static const DeviceUse* first_indexed(const DeviceUses& uses) {
    for (const DeviceUse& use : uses.uses) {
      if (!is_index_less(use)) return &use;
    }
    return nullptr;
  }

  clang::FileID file_of(const DeviceUse& use) const {
    return lint::file_of(use.source.made->getExprLoc(), context_);
  }

  static const clang::CXXRecordDecl* class_of(const DeviceUses& uses) {
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(uses.function);
    return method == nullptr ? nullptr : method->getParent()->getCanonicalDecl();
  }

  void judge(const DeviceUse& use, const DeviceUse* indexed, bool current_device_is_set) const {
    const CodeKind kind = kinds_.of(use.enclosing, use.source.made->getExprLoc());
    const Fault fault = fault_of(use, indexed, current_device_is_set, kind);
    if (fault == Fault::kNone) return;
    // What loses an index is wrong wherever it stands; only a test may mean it.
    const bool wrong_anywhere = fault == Fault::kLosesIndex || fault == Fault::kMixed;
    const bool opt_in = kind == CodeKind::kTest || (kind == CodeKind::kSetUp && !wrong_anywhere) ||
                        puts_on_the_only_gpu(use, fault, kind);
    if (opt_in && !options_.set_up_and_tests) return;
    say(use, fault, fault == Fault::kMixed ? indexed : nullptr,
        opt_in ? Level::kNote : Level::kWarning);
  }

  static Fault fault_of(const DeviceUse& use, const DeviceUse* indexed, bool current_device_is_set,
                        CodeKind kind) {
    if (use.source.index == Index::kComputed || is_overruled_default(use)) return Fault::kNone;
    if (use.choice != nullptr && use.question.tensor != nullptr && is_index_less(use)) {
      return Fault::kLosesIndex;
    }
    // Who asks whether there is a GPU, or is told by a flag, and takes no tensor, sets a program
    // up. That there is one does not make it number 0, which only a program may decide.
    const bool sets_up = kind != CodeKind::kModule && is_index_less(use) &&
                         (use.function == nullptr || !takes_tensor(*use.function));
    if (is_chosen(use) && (sets_up || kind == CodeKind::kSetUp)) return Fault::kNone;
    if (!is_index_less(use)) return Fault::kIndexed;
    if (current_device_is_set) return Fault::kNone;
    return indexed != nullptr ? Fault::kMixed : Fault::kIndexLess;
  }

  // In a file where no device has an index and none is handed on, what is put on *the* GPU with
  // nothing at hand whose device it could follow is written for one GPU: the author knows.
  bool puts_on_the_only_gpu(const DeviceUse& use, Fault fault, CodeKind kind) const {
    return fault == Fault::kIndexLess && kind == CodeKind::kLibrary &&
           !several_gpus_.contains(file_of(use)) &&
           !has_device_in_scope(use.function, use.lambda, moved_value(use));
  }

  static const clang::ValueDecl* moved_value(const DeviceUse& use) {
    return use.moved == nullptr ? nullptr : named_value(chain_root(use.moved));
  }

  void say(const DeviceUse& use, Fault fault, const DeviceUse* indexed, Level level) const {
    Diagnostic diagnostic;
    diagnostic.rule = kHardCodedDevice;
    diagnostic.level = level;
    diagnostic.tokens = use.replaceable;
    diagnostic.message = message(use, fault);
    if (fault == Fault::kLosesIndex) diagnostic.tokens = use.choice->getSourceRange();
    if (use.source.constant != nullptr) {
      diagnostic.notes.push_back({use.source.constant->getLocation(), "the constant is set here"});
    }
    if (use.source.made->getExprLoc().isMacroID()) {
      const clang::SourceLocation spelled =
          context_.getSourceManager().getSpellingLoc(use.replaceable.getBegin());
      diagnostic.notes.push_back({spelled, "the device is spelled here"});
    }
    if (indexed != nullptr) {
      diagnostic.notes.push_back(
          {indexed->source.made->getExprLoc(), "a device with an index here"});
    }
    add_fix(use, fault, diagnostic);
    report_(diagnostic);
  }

  std::string message(const DeviceUse& use, Fault fault) const {
    const std::string name = "'" + use.source.name + "'";
    switch (fault) {
      case Fault::kLosesIndex:
        return name + " loses the index of " + quoted(use.question.tensor, context_) +
               "'s device: on cuda:1 this names the current device, usually cuda:0";
      case Fault::kMixed:
        return name +
               " without an index is the current device, while a device with an index is named "
               "beside it";
      case Fault::kIndexed:
        return name + " ties this code to one GPU: whoever works on another gets a mismatch";
      case Fault::kIndexLess:
        return name +
               " without an index is the thread's current device, not the one that the data "
               "is on";
      case Fault::kNone:
        break;
    }
    return {};
  }

  void add_fix(const DeviceUse& use, Fault fault, Diagnostic& diagnostic) const {
    if (fault == Fault::kLosesIndex) {
      add_edit(use.choice->getSourceRange(), quoted(use.question.tensor, context_) + ".device()",
               diagnostic);
      return;
    }
    if (is_chosen(use)) return;
    const auto device = device_in_scope(use.function, use.lambda, moved_value(use));
    if (!device) return;
    if (use.source.first != nullptr) {
      add_edit(use.replaceable, *device, diagnostic);
      return;
    }
    // `.cuda()`: from the method's name to the closing parenthesis.
    const auto* call = llvm::cast<clang::CXXMemberCallExpr>(use.source.made);
    add_edit(clang::SourceRange(call->getExprLoc(), call->getEndLoc()), "to(" + *device + ")",
             diagnostic);
  }

  void add_edit(clang::SourceRange tokens, const std::string& text, Diagnostic& diagnostic) const {
    const auto range = file_range(tokens, context_);
    if (!range) return;
    diagnostic.edits.push_back({*range, text});
    diagnostic.advice = "use '" + text + "'";
  }

  const clang::ASTContext& context_;
  const CodeKinds& kinds_;
  const HardCodedDeviceOptions& options_;
  Report report_;
  std::set<clang::FileID> several_gpus_;  // files that know of more than one
};

}  // namespace

void check_hard_coded_devices(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                              const HardCodedDeviceOptions& options, Report report) {
  const CodeKinds kinds(context, declarations, options.project_root);
  Policy policy(context, kinds, options, report);
  std::vector<DeviceUses> functions;
  const std::set<clang::FileID> told_where = find_device_uses(
      context, declarations, [&](const DeviceUses& uses) { functions.push_back(uses); });
  policy.judge(functions, told_where);
}

}  // namespace devsan::lint
