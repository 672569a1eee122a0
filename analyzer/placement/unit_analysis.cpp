// What is kept of each function, and who may be asked for it.
#include "unit_analysis.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Index/USRGeneration.h"
#include "flow.h"
#include "module_methods.h"
#include "module_types.h"
#include "source_place.h"
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

// The names of a SummaryTable; empty for what has none.
std::string name_in_run(const clang::NamedDecl& declaration) {
  llvm::SmallString<128> name;
  if (clang::index::generateUSRForDecl(&declaration, name)) return {};
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&declaration);
  const auto* record =
      method != nullptr ? method->getParent() : llvm::dyn_cast<clang::CXXRecordDecl>(&declaration);
  if (record != nullptr && record->hasDefinition()) {
    const SourceRange place =
        place_of(record->getDefinition()->getLocation(), record->getASTContext());
    name += "@" + place.file + ":" + std::to_string(place.line);
  }
  return name.str().str();
}

// Its body is in one translation unit, and calls of it are in others. What is inline, or made of a
// template, has its body wherever it is called.
bool is_for_others(const clang::FunctionDecl& function) {
  return function.isExternallyVisible() && !function.isInAnonymousNamespace() &&
         !function.isInlined() &&
         function.getTemplateSpecializationKind() != clang::TSK_ImplicitInstantiation;
}

// Where the module is moved, this member is moved too.
bool goes_along(const MemberFacts& member) {
  return !member.registered.empty() && !member.replaced;
}

template <typename Summary>
const Summary* find(const std::map<std::string, Summary>& summaries, const std::string& name) {
  const auto entry = summaries.find(name);
  return entry == summaries.end() ? nullptr : &entry->second;
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
    const std::string name = name_in_run(callee);
    if (name.empty()) return nullptr;
    asked_.insert(name);
    // Where its members are will be the next question.
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
    if (method != nullptr && derives_from(method->getParent(), "nn", "Module")) {
      asked_.insert(name_in_run(*method->getParent()));
    }
    return others_ == nullptr ? nullptr : find(others_->functions, name);
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
  if (facts.wholly_seen) {
    return llvm::any_of(facts.members, [&](const MemberFacts& one) {
      return plain_name(one.field) == member && goes_along(one);
    });
  }
  const std::string name = name_in_run(*definition);
  if (name.empty()) return false;
  asked_.insert(name);
  const ModuleSummary* known = others_ == nullptr ? nullptr : find(others_->modules, name);
  return known != nullptr && known->moved_with.count(member.str()) > 0;
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

SummaryTable UnitAnalysis::summaries() {
  SummaryTable table;
  for (const clang::FunctionDecl* function : order_) {
    if (!is_for_others(*function) || !concerns_devices(*function)) continue;
    const std::string name = name_in_run(*function);
    if (name.empty()) continue;
    const FunctionFlow& flow = *flows_.at(function);
    const bool known = flow.summary && is_wholly_parsed(*function);
    table.functions.emplace(name, known ? *flow.summary : FunctionSummary());
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    if (method != nullptr) add_module(*method->getParent(), table);
  }
  return table;
}

void UnitAnalysis::add_module(const clang::CXXRecordDecl& record, SummaryTable& table) {
  const clang::CXXRecordDecl* definition = record.getDefinition();
  if (definition == nullptr || !derives_from(definition, "nn", "Module")) return;
  const ModuleFacts& facts = facts_of(*definition);
  std::string name = name_in_run(*definition);
  if (name.empty() || !facts.wholly_seen) return;
  ModuleSummary summary;
  for (const MemberFacts& one : facts.members) {
    if (goes_along(one)) summary.moved_with.insert(plain_name(one.field).str());
  }
  table.modules.emplace(std::move(name), std::move(summary));
}

}  // namespace devsan::lint
