// Hands the declarations to each rule that is on.
#include "rules.h"

#include "dropped_move.h"
#include "hard_coded_device.h"
#include "unregistered_member.h"

namespace devsan::lint {

void run_rules(clang::ASTContext& context, llvm::ArrayRef<clang::Decl*> declarations,
               const RuleSet& rules, const std::string& project_root, Report report) {
  if (rules.dropped_move) check_dropped_moves(context, declarations, report);
  if (rules.hard_coded_device || rules.hard_coded_device_set_up) {
    HardCodedDeviceOptions options;
    options.set_up_and_tests = rules.hard_coded_device_set_up;
    options.project_root = project_root;
    check_hard_coded_devices(context, declarations, options, [&](const Diagnostic& diagnostic) {
      if (rules.hard_coded_device || diagnostic.level == Level::kNote) report(diagnostic);
    });
  }
  if (rules.unregistered_member) check_unregistered_members(context, declarations, report);
}

}  // namespace devsan::lint
