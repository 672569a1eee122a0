// An archive's findings, or why it could not be read, as a report like that of a source file.
#include "archive_report.h"

#include <stdexcept>

#include "checks/frozen_device.h"

namespace devsan::lint {

UnitReport analyse_archive(const std::string& path, const RuleSet& rules) {
  UnitReport report;
  report.file = path;
  try {
    const ScriptArchive archive = read_script_archive(path);
    if (rules.frozen_device) report.findings = check_frozen_devices(archive, path);
  } catch (const std::exception& error) {
    report.failure = error.what();
  }
  return report;
}

}  // namespace devsan::lint
