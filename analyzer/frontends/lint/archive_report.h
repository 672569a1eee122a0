// One TorchScript archive: read, and looked through by the rule that is about archives.
#pragma once

#include <string>

#include "checks/rule_set.h"
#include "translation_unit.h"

namespace devsan::lint {

// Never throws for what is in the file: a broken archive is a failure of its own.
UnitReport analyse_archive(const std::string& path, const RuleSet& rules);

}  // namespace devsan::lint
