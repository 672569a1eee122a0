// Hands the declarations to each rule that is on.
#include "rules.h"

#include <set>
#include <utility>

#include "../placement/nesting.h"
#include "asymmetric_move.h"
#include "collective_device.h"
#include "device_flow.h"
#include "dropped_move.h"
#include "hard_coded_device.h"
#include "hidden_sync.h"
#include "load_without_device.h"
#include "module_move_in_forward.h"
#include "optimizer_placement.h"
#include "raw_pointer_space.h"
#include "replica_device.h"
#include "stale_device_cache.h"
#include "unregistered_member.h"

namespace devsan::lint {
namespace {

// Of a rule with an opt-in part, whose findings are notes: the others only when `on`.
auto warnings_if(bool on, Report report) {
  return [on, report](const Diagnostic& diagnostic) {
    if (on || diagnostic.level == Level::kNote) report(diagnostic);
  };
}

}  // namespace

RuleStatistics run_rules(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
                         const RuleSet& rules, const std::string& project_root, Report report_once,
                         UnitExchange* exchange) {
  RuleStatistics statistics;
  statistics.too_deep = nested_too_deep(declarations);
  if (statistics.too_deep.isValid()) return statistics;
  // What several instances of a template have in common is one finding.
  std::set<std::pair<clang::SourceLocation, std::string>> reported;
  const auto report = [&](const Diagnostic& diagnostic) {
    const bool fresh = reported.emplace(diagnostic.tokens.getBegin(), diagnostic.message).second;
    if (fresh) report_once(diagnostic);
  };
  if (rules.dropped_move) check_dropped_moves(context, declarations, report);
  if (rules.hard_coded_device || rules.hard_coded_device_set_up) {
    HardCodedDeviceOptions options;
    options.set_up_and_tests = rules.hard_coded_device_set_up;
    options.project_root = project_root;
    check_hard_coded_devices(context, declarations, options,
                             warnings_if(rules.hard_coded_device, report));
  }
  if (rules.unregistered_member) check_unregistered_members(context, declarations, report);
  if (rules.load_without_device) check_loads_without_device(context, declarations, report);
  if (rules.module_move_in_forward) check_module_moves_in_forward(context, declarations, report);
  if (rules.optimizer_placement) check_optimizer_placement(context, declarations, report);
  if (rules.raw_pointer_space) check_raw_pointer_space(context, declarations, report);
  if (rules.replica_device) check_replica_device(context, declarations, report);
  if (rules.stale_device_cache) check_stale_device_cache(context, declarations, report);
  if (rules.collective_device) {
    check_collective_devices(context, declarations, project_root, report);
  }
  if (rules.asymmetric_move || rules.asymmetric_move_unproven) {
    check_asymmetric_moves(context, declarations, rules.asymmetric_move_unproven,
                           warnings_if(rules.asymmetric_move, report));
  }
  if (rules.hidden_sync || rules.hidden_sync_unproven) {
    check_hidden_syncs(context, declarations, rules.hidden_sync_unproven,
                       warnings_if(rules.hidden_sync, report));
  }
  if (rules.missing_device_guard) {
    GuardQuestions questions = guard_questions(context, declarations, project_root);
    if (exchange == nullptr) {
      check_missing_device_guard(questions, report);
    } else {
      exchange->guards = std::move(questions);
    }
  }
  const DeviceFlowRules flow{rules.unmoved_tensor, rules.mixed_devices,
                             rules.factory_without_device};
  if (flow.unmoved_tensor || flow.mixed_devices || flow.factory_without_device) {
    statistics.functions_over_limit =
        check_device_flow(context, declarations, flow, project_root, report, exchange);
  }
  return statistics;
}

}  // namespace devsan::lint
