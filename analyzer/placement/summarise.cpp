// Symbols become inputs where they are the function's own parameters and members.
#include "summarise.h"

#include "clang/AST/DeclCXX.h"
#include "expressions.h"
#include "module_types.h"
#include "source_place.h"
#include "torch_types.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

bool depends_on_input(const SummaryPlacement& placement) {
  return llvm::any_of(placement.devices, [](const SummaryDevice& device) {
    return device.kind == SummaryDevice::Kind::kInput;
  });
}

}  // namespace

std::optional<InputPath> Summariser::input(const Path* path) const {
  if (path->is_root()) {
    if (path->begins_at_this()) return InputPath{kThisInput};
    const clang::ValueDecl* variable = path->variable();
    if (variable == nullptr) return std::nullopt;
    if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
        parameter != nullptr && parameter->getDeclContext() == &function_) {
      return InputPath{std::to_string(parameter->getFunctionScopeIndex())};
    }
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
    const bool captured = method != nullptr && method->getParent()->isLambda() &&
                          variable->getDeclContext() != &function_;
    return captured ? std::optional(InputPath{kCaptured, variable->getNameAsString()})
                    : std::nullopt;
  }
  if (path->step() == kChosen || path->step() == kIndexed) return std::nullopt;
  std::optional<InputPath> whole = input(path->parent());
  if (whole) whole->push_back(path->step());
  return whole;
}

SummaryDevice Summariser::device(const DeviceValue& device, const DeviceState& state) {
  SummaryDevice summary;
  switch (device.kind) {
    case DeviceValue::Kind::kCpu:
      return summary;
    case DeviceValue::Kind::kCuda:
      summary.kind = SummaryDevice::Kind::kCuda;
      return summary;
    case DeviceValue::Kind::kCudaIndex:
      summary.kind = SummaryDevice::Kind::kCudaIndex;
      summary.number = device.index;
      return summary;
    case DeviceValue::Kind::kSymbol:
      break;
  }
  if (const auto given = input(device.symbol)) {
    summary.kind = SummaryDevice::Kind::kInput;
    summary.input = *given;
    return summary;
  }
  summary.kind = SummaryDevice::Kind::kOwn;
  summary.number = own_.try_emplace(device.symbol, static_cast<int>(own_.size())).first->second;
  summary.facts = state.facts(device.symbol);
  return summary;
}

std::vector<SummaryStep> Summariser::steps(const Placement& placement) const {
  std::vector<SummaryStep> steps;
  if (placement.made != nullptr) {
    const DeviceValue* device = placement.single();
    const std::string where =
        device == nullptr || device->is_symbol() ? std::string() : " to " + to_string(*device);
    const auto* call = llvm::dyn_cast<clang::CallExpr>(placement.made);
    const llvm::StringRef name = plain_name(call == nullptr ? nullptr : call->getDirectCallee());
    std::string text = "put on its device here";
    if (placement.steps != nullptr) {
      text = "comes from '" + name.str() + "', called here";
    } else if (placement.by_default) {
      text = "made on the CPU here, since no device is named";
    } else if (llvm::isa<clang::CXXMemberCallExpr>(placement.made)) {
      text = "moved" + where + " here";
    }
    steps.push_back({text, place_of(placement.made->getExprLoc(), context_)});
  }
  if (placement.steps != nullptr) {
    steps.insert(steps.end(), placement.steps->begin(), placement.steps->end());
  }
  constexpr std::size_t kMost = 8;
  if (steps.size() > kMost) steps.resize(kMost);
  return steps;
}

SummaryPlacement Summariser::placement(const Placement& placement, const DeviceState& state) {
  SummaryPlacement summary;
  summary.known = placement.known;
  summary.by_default = placement.by_default;
  summary.names = placement.names;
  summary.rank = placement.rank;
  for (const DeviceValue& device : placement.devices) {
    summary.devices.push_back(this->device(device, state));
  }
  if (placement.known) summary.steps = steps(placement);
  if (placement.parts != nullptr) {
    for (const auto& [step, part] : *placement.parts) {
      summary.parts.emplace(step, this->placement(part, state));
    }
  }
  return summary;
}

bool Summariser::can_change(const clang::ValueDecl& variable) const {
  const clang::QualType type = variable.getType();
  if (is_shared(type)) return true;
  // A variable that a lambda captured is changed where it was captured by reference.
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
  if (method == nullptr || !method->getParent()->isLambda()) return false;
  return llvm::any_of(method->getParent()->captures(), [&](const clang::LambdaCapture& capture) {
    return capture.capturesVariable() && capture.getCapturedVar() == &variable &&
           capture.getCaptureKind() == clang::LCK_ByRef;
  });
}

void Summariser::add_effects(const Path* path, const Placement& placement, const DeviceState& end,
                             FunctionSummary& summary) {
  const DeviceValue* device = placement.single();
  const bool same = device != nullptr && device->is_symbol() && device->symbol == path;
  if (!same) {
    summary.effects.emplace(*input(path), this->placement(placement, end));
    return;
  }
  if (placement.parts == nullptr) return;
  for (const auto& [step, part] : *placement.parts) {
    add_effects(path->member(step), part, end, summary);
  }
}

void Summariser::finish(const DeviceState& end, FunctionSummary& summary) {
  summary.result = placement(end.value(paths_.result()), end);
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
  for (const auto& [root, value] : end.values()) {
    if (!input(root)) continue;
    const bool changes = root->begins_at_this() ? method != nullptr : can_change(*root->variable());
    if (changes) add_effects(root, value, end, summary);
  }
}

RequiredOperand Summariser::operand(const Operand& operand, const DeviceState& state) {
  RequiredOperand required;
  required.placement = placement(operand.placement, state);
  required.module = operand.module;
  required.name = operand.of_callee ? operand.inner : quoted(written(operand.expression), context_);
  if (!operand.of_callee && !operand.inner.empty()) required.name += "." + operand.inner;
  const DeviceValue* device = operand.placement.single();
  if (device != nullptr && device->is_symbol()) {
    required.input = input(device->symbol).value_or(InputPath{});
  } else if (depends_on_input(required.placement)) {
    for (const SummaryDevice& one : required.placement.devices) {
      if (one.kind == SummaryDevice::Kind::kInput) required.input = one.input;
    }
  }
  // What was moved to where an input is, is not that input.
  if (operand.placement.made != nullptr) required.input.clear();
  return required;
}

std::optional<Summariser::Asked> Summariser::asked(const Meeting& meeting,
                                                   const DeviceState& state) {
  if (!meeting.first.placement.known || !meeting.second.placement.known) return std::nullopt;
  if (meeting.first.placement.devices == meeting.second.placement.devices) return std::nullopt;
  Asked asked;
  Requirement& requirement = asked.requirement;
  requirement.first = operand(meeting.first, state);
  requirement.second = operand(meeting.second, state);
  if (!depends_on_input(requirement.first.placement) &&
      !depends_on_input(requirement.second.placement)) {
    return std::nullopt;
  }
  requirement.op = meeting.name;
  requirement.elements = meeting.elements;
  requirement.steps.push_back({"", place_of(meeting.op->getExprLoc(), context_)});
  requirement.steps.insert(requirement.steps.end(), meeting.steps.begin(), meeting.steps.end());
  for (const auto& [symbol, facts] : state.all_facts()) {
    const auto given = input(symbol);
    if (!given || (facts.may_be_cpu && facts.may_be_cuda)) continue;
    asked.when.emplace(symbol, facts.may_be_cuda);
    requirement.when.push_back({*given, facts.may_be_cuda});
  }
  return asked;
}

}  // namespace devsan::lint
