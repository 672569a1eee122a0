// Calls of functions that are summarised: what meets inside them, what they change and give.
#include "clang_compat.h"
#include "evaluate.h"
#include "expressions.h"
#include "llvm/ADT/StringExtras.h"
#include "torch_types.h"
#include "unit_analysis.h"
#include "value_types.h"

namespace devsan::lint {
namespace {

const clang::ValueDecl* captured(const clang::FunctionDecl* callee, llvm::StringRef name) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (method == nullptr || !method->getParent()->isLambda()) return nullptr;
  for (const clang::LambdaCapture& capture : method->getParent()->captures()) {
    if (capture.capturesVariable() && capture.getCapturedVar()->getName() == name) {
      return capture.getCapturedVar();
    }
  }
  return nullptr;
}

std::string joined_steps(const InputPath& input) {
  return llvm::join(input.begin() + (input.front() == kCaptured ? 2 : 1), input.end(), ".");
}

}  // namespace

const FunctionSummary* Evaluator::summary_of(const clang::FunctionDecl* callee) const {
  return callee == nullptr ? nullptr : unit_.summary_of(*callee);
}

// Where what the caller gives is when it calls.
Placement Evaluator::input(const InputPath& input, const Site& site) const {
  Placement placement = Placement::unknown();
  std::size_t next = 1;
  if (input.front() == kThisInput) {
    placement = site.object == nullptr && site.object_placement.parts == nullptr
                    ? state_.value(state_.paths().this_object())
                    : site.object_placement;
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(site.callee);
    if (method != nullptr && method->getParent()->isLambda()) {
      placement = state_.value(state_.paths().this_object());
    } else if (method != nullptr && input.size() > 1 &&
               !unit_.is_moved_with(*method->getParent(), input[1], placement)) {
      return Placement::unknown();
    }
  } else if (input.front() == kCaptured) {
    const std::string& name = input[next++];
    const clang::ValueDecl* variable = captured(site.callee, name);
    const Placement::Parts* copies = site.object_placement.parts.get();
    if (copies != nullptr && copies->count(name) > 0) {
      placement = copies->at(name);
    } else if (variable != nullptr) {
      const Target target = this->target_of(*variable);
      placement = state_.value(target.path);
    }
  } else if (unsigned number = 0; !llvm::StringRef(input.front()).getAsInteger(10, number) &&
                                  number < site.placements.size()) {
    placement = site.placements[number];
  }
  for (; next < input.size(); ++next) placement = placement.part(input[next]);
  return placement;
}

Evaluator::Target Evaluator::input_target(const InputPath& input, const Site& site) const {
  Target target;
  std::size_t next = 1;
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(site.callee);
  if (input.front() == kThisInput) {
    const bool own =
        site.object == nullptr || (method != nullptr && method->getParent()->isLambda());
    if (own && llvm::isa<clang::CXXConstructorDecl>(site.callee)) return {};
    target = own ? Target{state_.paths().this_object()} : this->target(site.object);
  } else if (input.front() == kCaptured) {
    if (const clang::ValueDecl* variable = captured(site.callee, input[next++])) {
      target = target_of(*variable);
    }
  } else if (unsigned number = 0; !llvm::StringRef(input.front()).getAsInteger(10, number) &&
                                  number < site.arguments.size()) {
    target = this->target(site.arguments[number]);
  }
  for (; target.path != nullptr && next < input.size(); ++next) {
    target.path = target.path->member(input[next]);
  }
  return target;
}

// A summary's placement in the caller's terms.
Placement Evaluator::instance(const SummaryPlacement& summary, const Site& site) {
  Placement placement;
  placement.known = summary.known;
  placement.by_default = summary.by_default;
  placement.names = summary.names;
  placement.rank = summary.rank;
  placement.made = site.call;
  std::vector<SummaryStep> steps = summary.steps;
  for (const SummaryDevice& device : summary.devices) {
    switch (device.kind) {
      case SummaryDevice::Kind::kCpu:
        placement.devices.push_back(DeviceValue::cpu());
        break;
      case SummaryDevice::Kind::kCuda:
        placement.devices.push_back(DeviceValue::cuda());
        break;
      case SummaryDevice::Kind::kCudaIndex:
        placement.devices.push_back(DeviceValue::cuda(device.number));
        break;
      case SummaryDevice::Kind::kOwn: {
        const Path* symbol = state_.paths().of(site.call)->member(std::to_string(device.number));
        state_.set_facts(symbol, device.facts);
        placement.devices.push_back(DeviceValue::of(symbol));
        break;
      }
      case SummaryDevice::Kind::kInput: {
        const Placement given = input(device.input, site);
        if (!given.known) placement.known = false;
        if (summary.devices.size() == 1) {
          // It is what was given, and came there as that did.
          const Rank rank = placement.rank;
          const std::shared_ptr<const Placement::Parts> parts = given.parts;
          const bool names = placement.names;
          const bool moved = !steps.empty();
          placement = given;
          placement.names = names;
          placement.put = nullptr;
          if (moved) {
            placement.made = site.call;
            placement.by_default = false;
          } else if (given.steps != nullptr) {
            steps = *given.steps;
          }
          if (rank != Rank::kOfInput) {
            placement.rank = rank;
            placement.parts = nullptr;
          }
          break;
        }
        placement.devices.append(given.devices.begin(), given.devices.end());
        break;
      }
    }
  }
  if (!placement.known) placement.devices.clear();
  llvm::sort(placement.devices);
  placement.devices.erase(std::unique(placement.devices.begin(), placement.devices.end()),
                          placement.devices.end());
  if (!steps.empty()) {
    placement.steps = std::make_shared<const std::vector<SummaryStep>>(std::move(steps));
  }
  for (const auto& [step, part] : summary.parts) placement.set_part(step, instance(part, site));
  return placement;
}

Operand Evaluator::operand(const RequiredOperand& required, const Site& site) {
  Operand operand;
  operand.placement = instance(required.placement, site);
  operand.module = required.module;
  if (required.input.empty()) {
    operand.expression = site.call;
    operand.inner = required.name;
    operand.of_callee = true;
    return operand;
  }
  unsigned number = 0;
  if (!llvm::StringRef(required.input.front()).getAsInteger(10, number) &&
      number < site.arguments.size()) {
    operand.expression = site.arguments[number];
    operand.inner = joined_steps(required.input);
    return operand;
  }
  const bool of_object = required.input.front() == kThisInput && site.object != nullptr;
  operand.expression = of_object ? site.object : site.call;
  operand.inner = of_object ? joined_steps(required.input) : required.name;
  operand.of_callee = !of_object;
  return operand;
}

void Evaluator::meet_inside(const FunctionSummary& summary, const Site& site) {
  for (const Requirement& requirement : summary.requirements) {
    const bool holds = llvm::all_of(requirement.when, [&](const InputCondition& condition) {
      const Placement given = input(condition.input, site);
      if (!given.known || given.devices.empty()) return false;
      const SymbolFacts facts = state_.facts_of(given.devices);
      const bool cuda = facts.cuda_is_meant || !facts.may_be_cpu;
      return condition.cuda ? cuda && facts.may_be_cuda : !facts.may_be_cuda;
    });
    if (!holds) continue;
    Meeting meeting{site.call, requirement.op, operand(requirement.first, site),
                    operand(requirement.second, site), requirement.elements};
    meeting.steps = requirement.steps;
    meet(std::move(meeting));
  }
}

Placement Evaluator::apply(const FunctionSummary& summary, const Site& site) {
  meet_inside(summary, site);
  Placement result = instance(summary.result, site);
  // All are in terms of what was given: none is set before all are known.
  std::vector<std::pair<Target, Placement>> changed;
  for (const auto& [input, placement] : summary.effects) {
    const Target target = input_target(input, site);
    if (target.path != nullptr) changed.emplace_back(target, instance(placement, site));
  }
  for (auto& [target, placement] : changed) set(target, std::move(placement));
  return result;
}

// `std::for_each(begin, end, [&](auto& t) {...})`, `parallel_for(0, n, [&] {...})`: it will be
// called, with what is not known unless an algorithm of the standard library says so.
void Evaluator::lambda_handed_on(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const bool each = callee != nullptr && is_of_std(*callee) &&
                    StringSwitch<bool>(plain_name(callee))
                        .Cases({"for_each", "transform", "all_of", "any_of", "none_of"}, true)
                        .Cases({"find_if", "count_if", "copy_if", "remove_if"}, true)
                        .Default(false);
  for (const clang::Expr* argument : call.arguments()) {
    const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(written(argument));
    if (lambda == nullptr) continue;
    const clang::FunctionDecl* body = lambda->getCallOperator();
    const FunctionSummary* summary = summary_of(body);
    if (summary == nullptr) continue;
    Site site{&call, body, "the lambda", argument};
    if (each && body->getNumParams() == 1) {
      site.arguments.push_back(call.getArg(0));
      site.placements.push_back(evaluate(call.getArg(0)));
    }
    meet_inside(*summary, site);
  }
}

}  // namespace devsan::lint
