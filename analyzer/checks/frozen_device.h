// Rule frozen-device: a TorchScript archive is bound to a device by a literal or by its tensors.
#pragma once

#include <string>
#include <vector>

#include "../torchscript/script_archive.h"
#include "devsan/findings/finding.h"

namespace devsan::lint {

inline constexpr const char* kFrozenDevice = "frozen-device";

// `path` is the archive's: findings are placed at `path/code/__torch__.py`, lines and columns in
// that entry.
std::vector<Finding> check_frozen_devices(const ScriptArchive& archive, const std::string& path);

}  // namespace devsan::lint
