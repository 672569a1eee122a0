// A run as a dictionary that PyTorch pickles.
#include "saved_run.h"

#include <ATen/core/Dict.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <torch/serialize.h>

#include <memory>
#include <utility>
#include <vector>

#include "files.h"
#include "usage_error.h"

namespace models {
namespace {

using TensorDict = c10::Dict<std::string, torch::Tensor>;
using Fields = c10::impl::GenericDict;

std::string format_name(std::string_view program, int version) {
  return fmt::format("{} {}", program, version);
}

Weights tensors_of(const c10::IValue& value) {
  Weights tensors;
  for (const auto& entry : value.toGenericDict()) {
    tensors.emplace(entry.key().toStringRef(), entry.value().toTensor());
  }
  return tensors;
}

torch::Tensor copy_to(const torch::Tensor& tensor, torch::Device device) {
  return tensor.detach().to(device, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

void write_run(const std::filesystem::path& path, std::string_view program, int version,
               const SavedRun& run) {
  TensorDict weights;
  TensorDict averages;
  TensorDict square_averages;
  c10::Dict<std::string, std::int64_t> steps;
  for (const auto& [name, weight] : run.weights) weights.insert(name, weight);
  for (const auto& [name, moments] : run.moments) {
    averages.insert(name, moments.average);
    square_averages.insert(name, moments.square_average);
    steps.insert(name, moments.step);
  }
  Fields fields(c10::StringType::get(), c10::AnyType::get());
  fields.insert("format", format_name(program, version));
  fields.insert("config", run.config);
  fields.insert("step", run.step);
  fields.insert("weights", weights);
  fields.insert("adamw_steps", steps);
  fields.insert("adamw_averages", averages);
  fields.insert("adamw_square_averages", square_averages);
  write_file(path, "checkpoint", torch::pickle_save(fields));
}

SavedRun read_run(const std::filesystem::path& path, std::string_view program, int version) {
  const std::vector<char> bytes = read_file(path, "checkpoint");
  try {
    const Fields fields = torch::pickle_load(bytes).toGenericDict();
    if (fields.at("format").toStringRef() != format_name(program, version)) {
      throw UsageError("another format");
    }
    SavedRun run;
    run.config = fields.at("config").toStringRef();
    run.step = fields.at("step").toInt();
    run.weights = tensors_of(fields.at("weights"));
    const Weights averages = tensors_of(fields.at("adamw_averages"));
    const Weights square_averages = tensors_of(fields.at("adamw_square_averages"));
    for (const auto& entry : fields.at("adamw_steps").toGenericDict()) {
      const std::string& name = entry.key().toStringRef();
      run.moments.emplace(
          name, Moments{entry.value().toInt(), averages.at(name), square_averages.at(name)});
    }
    return run;
  } catch (const std::exception&) {
    // PyTorch's own words for a file of another kind say nothing to a user.
    throw UsageError(fmt::format("{}: not a checkpoint of {}", path.string(), program));
  }
}

Weights weights_of(const torch::nn::Module& model) {
  Weights weights;
  for (const auto& parameter : model.named_parameters()) {
    weights.emplace(parameter.key(), copy_to(parameter.value(), torch::kCPU));
  }
  return weights;
}

std::map<std::string, Moments> moments_of(const torch::nn::Module& model,
                                          const torch::optim::AdamW& optimizer) {
  std::map<std::string, Moments> moments;
  for (const auto& parameter : model.named_parameters()) {
    const auto state = optimizer.state().find(parameter.value().unsafeGetTensorImpl());
    if (state == optimizer.state().end()) continue;
    const auto& adamw = static_cast<const torch::optim::AdamWParamState&>(*state->second);
    moments.emplace(parameter.key(), Moments{adamw.step(), copy_to(adamw.exp_avg(), torch::kCPU),
                                             copy_to(adamw.exp_avg_sq(), torch::kCPU)});
  }
  return moments;
}

void copy_weights(const torch::nn::Module& model, const Weights& weights,
                  const std::function<bool(std::string_view)>& may_be_missing) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model.named_parameters()) {
    const std::string& name = parameter.key();
    const auto weight = weights.find(name);
    if (weight == weights.end() && may_be_missing(name)) continue;
    if (weight == weights.end() || weight->second.sizes() != parameter.value().sizes()) {
      throw UsageError(
          fmt::format("the checkpoint has no '{}' of the shape that the model has", name));
    }
    parameter.value().copy_(weight->second);
  }
}

void restore_moments(const torch::nn::Module& model, const std::map<std::string, Moments>& moments,
                     torch::optim::AdamW& optimizer) {
  for (const auto& parameter : model.named_parameters()) {
    const auto saved = moments.find(parameter.key());
    if (saved == moments.end()) continue;
    const torch::Device device = parameter.value().device();
    auto state = std::make_unique<torch::optim::AdamWParamState>();
    state->step(saved->second.step);
    state->exp_avg(copy_to(saved->second.average, device));
    state->exp_avg_sq(copy_to(saved->second.square_average, device));
    optimizer.state()[parameter.value().unsafeGetTensorImpl()] = std::move(state);
  }
}

}  // namespace models
