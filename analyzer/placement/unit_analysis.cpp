// What is kept of each function, and who may be asked for it.
#include "unit_analysis.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Index/USRGeneration.h"
#include "flow.h"
#include "module_types.h"
#include "torch_types.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

// Levels of expressions, over all functions that are being followed in each other. Each takes some
// kilobytes of stack.
constexpr unsigned kDeepest = 400;

// What is called is decided at run time.
bool is_dispatched(const clang::FunctionDecl& callee) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
  return method != nullptr && method->isVirtual() && !method->hasAttr<clang::FinalAttr>() &&
         !method->getParent()->isEffectivelyFinal();
}

std::string usr_of(const clang::FunctionDecl& function) {
  llvm::SmallString<128> usr;
  const bool ignored = clang::index::generateUSRForDecl(&function, usr);
  return ignored ? std::string() : usr.str().str();
}

}  // namespace

bool UnitAnalysis::Nested::too_deep() const {
  if (unit_.depth_ <= kDeepest) return false;
  unit_.too_deep_ = true;
  return true;
}

const FunctionFlow& UnitAnalysis::follow(const clang::FunctionDecl& function) {
  const auto [entry, fresh] = flows_.try_emplace(&function);
  if (!fresh && entry->second != nullptr) return *entry->second;
  auto flow = std::make_unique<FunctionFlow>();
  const bool outer = std::exchange(too_deep_, false);
  *flow = follow_devices(function, *this);
  too_deep_ = outer;
  order_.push_back(&function);
  return *(flows_[&function] = std::move(flow));
}

const FunctionSummary* UnitAnalysis::summary_of(const clang::FunctionDecl& callee) {
  if (is_of_libtorch(callee) || is_of_std(callee) || is_dispatched(callee)) return nullptr;
  if (!concerns_devices(callee)) return nullptr;
  const clang::FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr || !definition->doesThisDeclarationHaveABody()) {
    std::string usr = usr_of(callee);
    const auto known = others_ == nullptr ? SummaryTable::const_iterator() : others_->find(usr);
    const bool found = others_ != nullptr && known != others_->end();
    asked_.insert(std::move(usr));
    return found ? &known->second : nullptr;
  }
  if (definition->isDependentContext() || definition->isDefaulted() ||
      definition->isInvalidDecl()) {
    return nullptr;
  }
  const auto entry = flows_.find(definition);
  if (entry != flows_.end() && entry->second == nullptr) return nullptr;  // recursion
  // Where callees are nested so deep that this one could not be followed to its end, it is not
  // begun: its own turn comes.
  if (entry == flows_.end() && depth_ > kDeepest / 2) return nullptr;
  const FunctionFlow& flow = follow(*definition);
  return flow.summary ? &*flow.summary : nullptr;
}

bool UnitAnalysis::concerns_devices(const clang::FunctionDecl& function) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  if (method != nullptr && concerns_devices(*method->getParent())) return true;
  return concerns_devices(function.getReturnType()) ||
         llvm::any_of(function.parameters(), [this](const clang::ParmVarDecl* parameter) {
           return concerns_devices(parameter->getType());
         });
}

const ModuleFacts& UnitAnalysis::facts_of(const clang::CXXRecordDecl& module) {
  std::unique_ptr<ModuleFacts>& facts = modules_[&module];
  if (facts == nullptr) facts = std::make_unique<ModuleFacts>(module_facts(module));
  return *facts;
}

bool UnitAnalysis::is_moved_with(const clang::FieldDecl& field, const Placement& whole) {
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(field.getParent());
  return record == nullptr || is_moved_with(*record, plain_name(&field), whole);
}

bool UnitAnalysis::is_moved_with(const clang::CXXRecordDecl& record, llvm::StringRef member,
                                 const Placement& whole) {
  const DeviceValue* device = whole.single();
  if (!whole.known || device == nullptr || device->is_symbol()) return true;
  if (whole.parts != nullptr && whole.parts->count(std::string_view(member)) > 0) return true;
  if (is_of_libtorch(record) || !derives_from(&record, "nn", "Module")) return true;
  const clang::CXXRecordDecl* definition = record.getDefinition();
  if (definition == nullptr) return false;
  const ModuleFacts& facts = facts_of(*definition);
  return facts.wholly_seen && llvm::any_of(facts.members, [&](const MemberFacts& one) {
           return plain_name(one.field) == member && !one.registered.empty() && !one.replaced;
         });
}

bool UnitAnalysis::concerns_devices(clang::QualType type) {
  if (type.isNull()) return false;
  type = type.getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  if (names_device(type) || is_tensor(type)) return true;
  const clang::CXXRecordDecl* record = record_of(type);
  return record != nullptr && (module_of(type) != nullptr || concerns_devices(*record));
}

bool UnitAnalysis::concerns_devices(const clang::CXXRecordDecl& declared) {
  const clang::CXXRecordDecl* record = declared.getCanonicalDecl();
  const auto [entry, fresh] = concerned_.try_emplace(record, false);
  if (!fresh) return entry->second;
  bool concerned = is_of_libtorch(*record) || record->isLambda();
  if (const auto* holder = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
    for (const clang::TemplateArgument& argument : holder->getTemplateArgs().asArray()) {
      const auto parts = argument.getKind() == clang::TemplateArgument::Pack
                             ? argument.pack_elements()
                             : llvm::ArrayRef(argument);
      for (const clang::TemplateArgument& part : parts) {
        concerned |=
            part.getKind() == clang::TemplateArgument::Type && concerns_devices(part.getAsType());
      }
    }
  }
  if (!concerned && record->hasDefinition() && !is_of_std(*record)) {
    const clang::CXXRecordDecl* definition = record->getDefinition();
    concerned = llvm::any_of(definition->fields(), [this](const clang::FieldDecl* field) {
      return concerns_devices(field->getType());
    });
    for (const clang::CXXBaseSpecifier& base : definition->bases()) {
      concerned = concerned || concerns_devices(base.getType());
    }
  }
  return concerned_[record] = concerned;
}

SummaryTable UnitAnalysis::summaries() const {
  SummaryTable table;
  for (const clang::FunctionDecl* function : order_) {
    const FunctionFlow& flow = *flows_.at(function);
    if (!flow.summary || function->isInAnonymousNamespace() || !function->isExternallyVisible()) {
      continue;
    }
    std::string usr = usr_of(*function);
    if (!usr.empty()) table.emplace(std::move(usr), *flow.summary);
  }
  return table;
}

}  // namespace devsan::lint
