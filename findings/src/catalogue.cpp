// The rules of this release.
#include "devsan/findings/catalogue.h"

#include <algorithm>
#include <stdexcept>

namespace devsan {
namespace {

constexpr std::string_view kLintPrefix = "devsan-";

constexpr Rule kRules[] = {
    {"asymmetric-move", Half::kLint, Level::kWarning,
     "one tensor of a call is not moved, and the others are", "asymmetric-move"},
    {"collective-device", Half::kLint, Level::kWarning,
     "a CPU tensor enters an NCCL collective, or code that knows its rank names a device by number",
     "collective-device-lint"},
    {"dropped-move", Half::kLint, Level::kWarning,
     "a statement moves or copies a tensor and throws the result away", "dropped-move"},
    {"factory-without-device", Half::kLint, Level::kWarning,
     "a module's tensor is made without a device and meets one that follows inputs or weights",
     "factory-without-device"},
    {"frozen-device", Half::kLint, Level::kWarning,
     "a TorchScript archive is bound to a device by a literal or by its tensors", "frozen-device"},
    {"hard-coded-device", Half::kLint, Level::kWarning,
     "a device literal decides where tensors are placed", "hard-coded-device"},
    {"hidden-sync", Half::kLint, Level::kWarning,
     "a device is waited for, or the same tensor moved again, in every turn of nested loops",
     "hidden-sync"},
    {"load-without-device", Half::kLint, Level::kWarning,
     "what is loaded goes to the device in the file, in code that chooses one",
     "load-without-device"},
    {"missing-device-guard", Half::kLint, Level::kWarning,
     "work for a tensor's device is started on whatever device is current", "missing-device-guard"},
    {"mixed-devices", Half::kLint, Level::kWarning,
     "values known to be on different CUDA devices meet", "mixed-devices"},
    {"module-move-in-forward", Half::kLint, Level::kWarning,
     "forward, or a loop, moves a module, against the placement it was given",
     "module-move-in-forward"},
    {"optimizer-placement", Half::kLint, Level::kWarning,
     "an optimizer's state or gradients stay behind when the parameters are moved",
     "optimizer-placement"},
    {"raw-pointer-space", Half::kLint, Level::kWarning,
     "memory of one kind of device is wrapped or read as another's", "raw-pointer-space"},
    {"replica-device", Half::kLint, Level::kWarning,
     "a tensor is shared by replicas on several devices, or a module cannot be cloned to one",
     "replica-device"},
    {"stale-device-cache", Half::kLint, Level::kWarning,
     "a cached tensor that stays on the device of the first caller", "stale-device-cache"},
    {"unmoved-tensor", Half::kLint, Level::kWarning,
     "what is known to be on the CPU meets what is known to be on a CUDA device", "unmoved-tensor"},
    {"unregistered-member", Half::kLint, Level::kWarning,
     "a tensor or submodule of a module that Module::to does not know of", "unregistered-member"},
    {"collective-device", Half::kRun, Level::kError,
     "a collective refused a tensor, or ranks that share a GPU", "collective-device"},
    {"device-mismatch", Half::kRun, Level::kError,
     "an op threw because its arguments were on different devices", "device-mismatch"},
    {"rank-affinity", Half::kRun, Level::kWarning,
     "a rank made tensors on, or moved them to, another rank's device", "rank-affinity"},
    {"silent-move", Half::kRun, Level::kWarning,
     "a library moved a tensor to another device inside a module's call", "silent-move"},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* find_rule(std::string_view id, Half half) {
  if (half == Half::kLint && id.starts_with(kLintPrefix)) id.remove_prefix(kLintPrefix.size());
  const auto* found = std::ranges::find_if(
      kRules, [&](const Rule& rule) { return rule.id == id && rule.half == half; });
  return found == std::end(kRules) ? nullptr : found;
}

std::string public_id(const Finding& finding) {
  return finding.run ? finding.rule : std::string(kLintPrefix) + finding.rule;
}

const char* to_string(Level level) {
  switch (level) {
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  throw std::logic_error("a level that is none");
}

}  // namespace devsan
