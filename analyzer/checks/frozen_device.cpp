// The code's literals, constants that Module::to leaves behind, attributes that hold a device, and
// state that is on several.
#include "frozen_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "../torchscript/script_code.h"

namespace devsan::lint {
namespace {

bool is_accelerator(const std::string& device) {
  return !device.empty() && device != "cpu" && device != "meta";
}

std::string shown(const std::string& device) {
  return device == "cpu" ? "the CPU" : "'" + device + "'";
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" and {} more", count - 1) : "";
}

class Check {
 public:
  Check(const ScriptArchive& archive, const std::string& path) : archive_(archive), path_(path) {
    for (const ScriptTensor& constant : archive.constants) {
      if (constant.has_dimensions && constant.device == "cpu") {
        pinned_constants_.insert(constant.name);
      }
    }
  }

  std::vector<Finding> run() {
    for (const ScriptSource& source : archive_.sources) code(source);
    constants();
    attributes();
    state();
    return std::move(findings_);
  }

 private:
  SourceRange place(const ScriptSource& source, std::size_t begin, std::size_t end) const {
    const std::string& text = source.text;
    SourceRange range;
    range.file = path_ + "/" + source.path;
    const std::size_t line = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
    const std::size_t line_begin = line == std::string::npos ? 0 : line + 1;
    range.line = 1 + static_cast<int>(std::count(
                         text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    range.column = static_cast<int>(begin - line_begin) + 1;
    range.end_line = range.line;
    range.end_column = static_cast<int>(end - line_begin) + 1;
    return range;
  }

  // An entry that has no lines.
  SourceRange place(const char* entry) const { return {path_ + "/" + entry, 1, 1, 1, 1}; }

  // Where a class declares an attribute: "__torch__.models.Net" is class Net of
  // code/__torch__/models.py.
  std::optional<SourceRange> declaration(const std::string& of_class,
                                         const std::string& name) const {
    const std::size_t dot = of_class.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    std::string file = "code/" + of_class.substr(0, dot) + ".py";
    std::replace(file.begin() + 5, file.end() - 3, '.', '/');
    const std::string attribute = "\n  " + name.substr(name.rfind('.') + 1) + " : ";
    for (const ScriptSource& source : archive_.sources) {
      if (source.path != file) continue;
      const std::size_t found = source.text.find("class " + of_class.substr(dot + 1) + "(");
      if (found == std::string::npos) return std::nullopt;
      const std::size_t line = source.text.find(attribute, found);
      if (line == std::string::npos) return std::nullopt;
      const std::size_t begin = line + 3;
      return place(source, begin, begin + attribute.size() - 6);
    }
    return std::nullopt;
  }

  void add_origin(const ScriptSource& source, std::size_t offset, Finding& finding) const {
    const auto origin = source.origins.at(offset);
    if (!origin) return;
    PathStep step;
    step.label = "made from this line of the model's Python";
    step.place.file = origin->file;
    step.place.line = origin->line;
    finding.path.push_back(std::move(step));
  }

  void code(const ScriptSource& source) {
    const auto pinned = [this](std::string_view name) { return pinned_constants_.contains(name); };
    for (const ScriptDevice& device : script_devices(source.text, pinned)) {
      if (device.constant.empty()) {
        literal(source, device);
      } else {
        constants_that_meet_.push_back({&source, device});
      }
    }
  }

  void literal(const ScriptSource& source, const ScriptDevice& device) {
    // What one line of Python became is said once.
    const auto origin = source.origins.at(device.call);
    if (origin && !said_.emplace(origin->file, origin->line, device.device, device.use).second) {
      return;
    }
    Finding finding;
    finding.rule = kFrozenDevice;
    finding.place = place(source, device.begin, device.end);
    if (device.use == ScriptUse::kPlaces) {
      finding.message = fmt::format(
          "'{}' puts a tensor on '{}', whatever device the module is loaded or moved to",
          device.callee, device.device);
    } else {
      finding.message = fmt::format(
          "'{}' puts a tensor on the CPU, whatever device the module is loaded or moved to, and "
          "'{}' needs it where the module or its inputs are",
          device.callee, device.op);
      PathStep meeting;
      meeting.label = "they meet in '" + device.op + "' here";
      meeting.place = place(source, device.meeting, device.meeting + device.op.size());
      finding.path.push_back(std::move(meeting));
    }
    finding.advice =
        "in the model's Python, follow a tensor: x.new_zeros(...), torch.zeros_like(x), a "
        "registered "
        "buffer; a trace keeps even x.device as a literal, so script what asks for it";
    add_origin(source, device.call, finding);
    findings_.push_back(std::move(finding));
  }

  // Module::to moves parameters and buffers; constants are part of the code.
  void constants() {
    std::map<std::string, std::vector<const ScriptTensor*>> on_accelerators;
    for (const ScriptTensor& constant : archive_.constants) {
      if (is_accelerator(constant.device)) on_accelerators[constant.device].push_back(&constant);
    }
    const std::string advice =
        "register them as buffers before the export, or load with torch::jit::load(path, device)";
    for (const auto& [device, tensors] : on_accelerators) {
      Finding finding;
      finding.rule = kFrozenDevice;
      finding.place = use_of(*tensors.front());
      finding.message = fmt::format(
          "constant tensor CONSTANTS.{}{} on '{}': Module::to leaves constants where they are",
          tensors.front()->name, and_more(tensors.size()), device);
      finding.advice = advice;
      findings_.push_back(std::move(finding));
    }
    if (constants_that_meet_.empty()) return;
    const auto& [source, first] = constants_that_meet_.front();
    Finding finding;
    finding.rule = kFrozenDevice;
    finding.level = Level::kNote;
    finding.place = place(*source, first.begin, first.end);
    finding.message = fmt::format(
        "constant tensor CONSTANTS.{}{} on the CPU: Module::to leaves constants where they are, "
        "and "
        "'{}' needs it where the module or its inputs are",
        first.constant, and_more(constants_that_meet_.size()), first.op);
    finding.advice = advice;
    findings_.push_back(std::move(finding));
  }

  SourceRange use_of(const ScriptTensor& constant) const {
    const std::string name = "CONSTANTS." + constant.name;
    for (const ScriptSource& source : archive_.sources) {
      const std::size_t begin = source.text.find(name);
      if (begin != std::string::npos) return place(source, begin, begin + name.size());
    }
    return place("constants.pkl");
  }

  void attributes() {
    for (const ScriptDeviceAttribute& attribute : archive_.devices) {
      if (!is_accelerator(attribute.device)) continue;
      Finding finding;
      finding.rule = kFrozenDevice;
      finding.place = declaration(attribute.of_class, attribute.name).value_or(place("data.pkl"));
      finding.message = fmt::format(
          "attribute '{}' holds the device '{}', whatever device the module is loaded or "
          "moved to",
          attribute.name, attribute.device);
      finding.advice = "ask a parameter or an input for its device instead of keeping one";
      findings_.push_back(std::move(finding));
    }
  }

  void state() {
    std::map<std::string, std::vector<const ScriptTensor*>> by_device;
    for (const ScriptTensor& tensor : archive_.state) {
      if (tensor.has_dimensions && tensor.device != "meta")
        by_device[tensor.device].push_back(&tensor);
    }
    if (by_device.size() < 2) return;
    const auto odd = std::min_element(
        by_device.begin(), by_device.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::string others;
    for (const auto& [device, tensors] : by_device) {
      if (device == odd->first) continue;
      others += fmt::format("{}{} ('{}'{})", others.empty() ? "" : ", ", shown(device),
                            tensors.front()->name, and_more(tensors.size()));
    }
    const ScriptTensor& first = *odd->second.front();
    Finding finding;
    finding.rule = kFrozenDevice;
    finding.place = declaration(first.of_class, first.name).value_or(place("data.pkl"));
    finding.message =
        fmt::format("the module was saved with '{}'{} on {}, and the rest on {}", first.name,
                    and_more(odd->second.size()), shown(odd->first), others);
    finding.advice = "move the whole module to one device before it is saved, best to the CPU";
    findings_.push_back(std::move(finding));
  }

  const ScriptArchive& archive_;
  const std::string& path_;
  std::set<std::string_view> pinned_constants_;  // with dimensions, on the CPU
  std::vector<Finding> findings_;
  std::vector<std::pair<const ScriptSource*, ScriptDevice>> constants_that_meet_;
  std::set<std::tuple<std::string, int, std::string, ScriptUse>> said_;
};

}  // namespace

std::vector<Finding> check_frozen_devices(const ScriptArchive& archive, const std::string& path) {
  return Check(archive, path).run();
}

}  // namespace devsan::lint
