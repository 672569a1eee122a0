// The rules of blame.h, each a function of its number.
#include "core/blame.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

namespace devsan::trace {
namespace {

using Indices = std::vector<std::size_t>;

// The suspects that count, by index.
Indices relevant(const Scene& scene) {
  Indices all;
  Indices without_scalars;
  for (std::size_t i = 0; i < scene.suspects.size(); ++i) {
    all.push_back(i);
    if (!scene.suspects[i].scalar) without_scalars.push_back(i);
  }
  const auto mixed = [&](const Indices& indices) {
    return std::ranges::any_of(indices, [&](std::size_t i) {
      return scene.suspects[i].device != scene.suspects[indices.front()].device;
    });
  };
  return mixed(without_scalars) ? without_scalars : all;
}

std::optional<std::size_t> first_if(const Indices& indices,
                                    const std::function<bool(std::size_t)>& holds) {
  const auto found = std::ranges::find_if(indices, holds);
  return found == indices.end() ? std::nullopt : std::optional(*found);
}

// Of the suspects for which `holds`, the one with the most dimensions: of a weight and its bias,
// the weight.
std::optional<std::size_t> weightiest_if(const Scene& scene, const Indices& indices,
                                         const std::function<bool(const Suspect&)>& holds) {
  std::optional<std::size_t> best;
  for (const std::size_t i : indices) {
    if (!holds(scene.suspects[i])) continue;
    if (!best ||
        scene.suspects[i].argument.shape.size() > scene.suspects[*best].argument.shape.size()) {
      best = i;
    }
  }
  return best;
}

// Rule 1.
std::optional<std::size_t> misplaced_adapter(const Scene& scene, const Indices& indices) {
  return weightiest_if(scene, indices, [&](const Suspect& suspect) {
    if (!suspect.is_parameter()) return false;
    const auto base = base_layer_of_adapter(*suspect.argument.parameter);
    if (!base) return false;
    return std::ranges::any_of(scene.model, [&](const Placement& placement) {
      return placement.name.starts_with(*base + ".") && !base_layer_of_adapter(placement.name) &&
             placement.device != suspect.device;
    });
  });
}

// Rule 2.
std::optional<std::size_t> moved_in_forward(const Scene& scene, const Indices& indices) {
  return weightiest_if(scene, indices, [](const Suspect& suspect) {
    if (!suspect.is_parameter() || suspect.path.empty()) return false;
    const Step& newest = suspect.path.front();
    return newest.kind == Origin::Kind::kMoved && is_by_user(newest) &&
           std::ranges::any_of(newest.stack, [](const OwnedFrame& frame) {
             return frame.owner == Owner::kUser && is_forward(frame.frame);
           });
  });
}

// Rule 3.
std::optional<std::size_t> left_on_cpu(const Scene& scene, const Indices& indices) {
  const auto on_cpu = [&](std::size_t i) { return scene.suspects[i].device.is_cpu(); };
  if (std::ranges::all_of(indices, on_cpu)) return std::nullopt;
  const bool model_was_moved = std::ranges::any_of(
      scene.model, [](const Placement& placement) { return !placement.device.is_cpu(); });
  return weightiest_if(scene, indices, [&](const Suspect& suspect) {
    return suspect.device.is_cpu() && !(suspect.is_parameter() && model_was_moved);
  });
}

bool placed_by_literal(const Scene& scene, const Suspect& suspect) {
  return !suspect.is_parameter() && deciding_literal(scene, suspect).has_value();
}

// Rule 4.
std::optional<std::size_t> by_literal(const Scene& scene, const Indices& indices) {
  const auto literal =
      first_if(indices, [&](std::size_t i) { return placed_by_literal(scene, scene.suspects[i]); });
  if (!literal) return std::nullopt;
  const bool others_too = std::ranges::any_of(indices, [&](std::size_t i) {
    return scene.suspects[i].device != scene.suspects[*literal].device &&
           placed_by_literal(scene, scene.suspects[i]);
  });
  return others_too ? std::nullopt : literal;
}

// Rule 5.
std::optional<std::size_t> apart_from_parameters(const Scene& scene, const Indices& indices) {
  std::optional<Device> device;
  for (const std::size_t i : indices) {
    const Suspect& suspect = scene.suspects[i];
    if (!suspect.is_parameter()) continue;
    if (device && *device != suspect.device) return std::nullopt;
    device = suspect.device;
  }
  if (!device) return std::nullopt;
  return first_if(indices, [&](std::size_t i) {
    return !scene.suspects[i].is_parameter() && scene.suspects[i].device != *device;
  });
}

// Rule 6.
std::optional<std::size_t> apart_from_all(const Scene& scene, const Indices& indices) {
  if (indices.size() < 3) return std::nullopt;
  return first_if(indices, [&](std::size_t i) {
    const std::size_t other = indices.front() == i ? indices.back() : indices.front();
    return std::ranges::all_of(indices, [&](std::size_t j) {
      return j == i ? scene.suspects[j].device != scene.suspects[other].device
                    : scene.suspects[j].device == scene.suspects[other].device;
    });
  });
}

// Rules 7 and 8: the one suspect for which `holds`.
std::optional<std::size_t> only_one(const Scene& scene, const Indices& indices,
                                    const std::function<bool(const Suspect&)>& holds) {
  const auto test = [&](std::size_t i) { return holds(scene.suspects[i]); };
  return std::ranges::count_if(indices, test) == 1 ? first_if(indices, test) : std::nullopt;
}

}  // namespace

std::optional<std::string> base_layer_of_adapter(const std::string& parameter) {
  constexpr std::array<std::string_view, 4> kMarks = {"lora_", "adapter", "ia3_", "prompt_encoder"};
  std::size_t start = 0;
  while (start < parameter.size()) {
    const std::size_t end = std::min(parameter.find('.', start), parameter.size());
    const std::string_view part = std::string_view(parameter).substr(start, end - start);
    if (start > 0 && std::ranges::any_of(
                         kMarks, [&](std::string_view mark) { return part.starts_with(mark); })) {
      return parameter.substr(0, start - 1);
    }
    start = end + 1;
  }
  return std::nullopt;
}

Blame find_odd_one(const Scene& scene) {
  const Indices indices = relevant(scene);
  if (indices.empty()) return {};
  if (const auto odd = misplaced_adapter(scene, indices)) return {odd, Reason::kAdapter};
  if (const auto odd = moved_in_forward(scene, indices)) return {odd, Reason::kMovedInForward};
  if (const auto odd = left_on_cpu(scene, indices)) return {odd, Reason::kLeftOnCpu};
  if (const auto odd = by_literal(scene, indices)) return {odd, Reason::kLiteral};
  if (const auto odd = apart_from_parameters(scene, indices)) {
    return {odd, Reason::kNotWithParameters};
  }
  if (const auto odd = apart_from_all(scene, indices)) return {odd, Reason::kApart};
  // Gradients were computed from parameters and require none.
  if (const auto odd =
          scene.backward ? std::nullopt : only_one(scene, indices, [](const Suspect& s) {
            return !s.requires_grad;
          })) {
    return {odd, Reason::kNotComputed};
  }
  if (const auto odd =
          only_one(scene, indices, [](const Suspect& s) { return s.named_by_pytorch; })) {
    return {odd, Reason::kNamedByPyTorch};
  }
  return {};
}

}  // namespace devsan::trace
