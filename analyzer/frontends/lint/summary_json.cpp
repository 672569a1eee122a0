// Lists without names, since a large project has many: what is unknown is null.
#include "summary_json.h"

#include <nlohmann/json.hpp>

namespace devsan::lint {
namespace {

// Every struct is taken apart by structured bindings: a member that is added does not compile here
// until it is stored.
using Json = nlohmann::json;

template <typename Values, typename Convert>
Json list_of(const Values& values, Convert convert) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(convert(value));
  return list;
}

template <typename Value, typename Convert>
std::vector<Value> values_of(const Json& list, Convert convert) {
  std::vector<Value> values;
  for (const Json& value : list) values.push_back(convert(value));
  return values;
}

Json step_json(const SummaryStep& step) {
  const auto& [text, place] = step;
  const auto& [file, line, column, end_line, end_column] = place;
  return Json::array({text, file, line, column, end_line, end_column});
}

SummaryStep step_of(const Json& json) {
  return {json.at(0).get<std::string>(),
          {json.at(1).get<std::string>(), json.at(2).get<int>(), json.at(3).get<int>(),
           json.at(4).get<int>(), json.at(5).get<int>()}};
}

Json device_json(const SummaryDevice& device) {
  const auto& [kind, number, input, facts] = device;
  const auto& [may_be_cpu, may_be_cuda, cuda_is_meant] = facts;
  return Json::array(
      {static_cast<int>(kind), number, input, may_be_cpu, may_be_cuda, cuda_is_meant});
}

SummaryDevice device_of(const Json& json) {
  return {static_cast<SummaryDevice::Kind>(json.at(0).get<int>()),
          json.at(1).get<int>(),
          json.at(2).get<InputPath>(),
          {json.at(3).get<bool>(), json.at(4).get<bool>(), json.at(5).get<bool>()}};
}

Json placement_json(const SummaryPlacement& placement) {
  if (placement == SummaryPlacement()) return nullptr;
  const auto& [known, by_default, names, rank, devices, steps, parts] = placement;
  Json part_list = Json::object();
  for (const auto& [step, part] : parts) part_list[step] = placement_json(part);
  return Json::array({known, by_default, names, static_cast<int>(rank),
                      list_of(devices, device_json), list_of(steps, step_json), part_list});
}

SummaryPlacement placement_of(const Json& json) {
  SummaryPlacement placement;
  if (json.is_null()) return placement;
  placement.known = json.at(0).get<bool>();
  placement.by_default = json.at(1).get<bool>();
  placement.names = json.at(2).get<bool>();
  placement.rank = static_cast<Rank>(json.at(3).get<int>());
  placement.devices = values_of<SummaryDevice>(json.at(4), device_of);
  placement.steps = values_of<SummaryStep>(json.at(5), step_of);
  for (const auto& [step, part] : json.at(6).items()) {
    placement.parts.emplace(step, placement_of(part));
  }
  return placement;
}

Json operand_json(const RequiredOperand& operand) {
  const auto& [placement, input, name, module] = operand;
  return Json::array({placement_json(placement), input, name, module});
}

RequiredOperand operand_of(const Json& json) {
  return {placement_of(json.at(0)), json.at(1).get<InputPath>(), json.at(2).get<std::string>(),
          json.at(3).get<bool>()};
}

Json requirement_json(const Requirement& requirement) {
  const auto& [first, second, op, elements, when, steps] = requirement;
  const Json conditions = list_of(when, [](const InputCondition& condition) {
    const auto& [input, cuda] = condition;
    return Json::array({input, cuda});
  });
  return Json::array({operand_json(first), operand_json(second), op, elements, conditions,
                      list_of(steps, step_json)});
}

Requirement requirement_of(const Json& json) {
  return {operand_of(json.at(0)),
          operand_of(json.at(1)),
          json.at(2).get<std::string>(),
          json.at(3).get<bool>(),
          values_of<InputCondition>(json.at(4),
                                    [](const Json& condition) -> InputCondition {
                                      return {condition.at(0).get<InputPath>(),
                                              condition.at(1).get<bool>()};
                                    }),
          values_of<SummaryStep>(json.at(5), step_of)};
}

Json function_json(const FunctionSummary& summary) {
  if (summary == FunctionSummary()) return nullptr;
  const auto& [result, effects, requirements] = summary;
  const Json effect_list = list_of(effects, [](const auto& effect) {
    return Json::array({effect.first, placement_json(effect.second)});
  });
  return Json::array(
      {placement_json(result), effect_list, list_of(requirements, requirement_json)});
}

FunctionSummary function_of(const Json& json) {
  FunctionSummary summary;
  if (json.is_null()) return summary;
  summary.result = placement_of(json.at(0));
  for (const Json& effect : json.at(1)) {
    summary.effects.emplace(effect.at(0).get<InputPath>(), placement_of(effect.at(1)));
  }
  summary.requirements = values_of<Requirement>(json.at(2), requirement_of);
  return summary;
}

}  // namespace

Json to_json(const SummaryTable& table) {
  const auto& [functions, modules] = table;
  Json function_list = Json::object();
  for (const auto& [name, summary] : functions) function_list[name] = function_json(summary);
  Json module_list = Json::object();
  for (const auto& [name, summary] : modules) {
    const auto& [moved_with] = summary;
    module_list[name] = moved_with;
  }
  return Json::array({function_list, module_list});
}

SummaryTable summaries_of(const Json& json) {
  SummaryTable table;
  for (const auto& [name, summary] : json.at(0).items()) {
    table.functions.emplace(name, function_of(summary));
  }
  for (const auto& [name, moved_with] : json.at(1).items()) {
    table.modules.emplace(name, ModuleSummary{moved_with.get<std::set<std::string>>()});
  }
  return table;
}

}  // namespace devsan::lint
