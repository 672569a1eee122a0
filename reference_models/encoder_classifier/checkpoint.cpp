#include "checkpoint.h"

#include <ATen/core/Dict.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <torch/serialize.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "common/usage_error.h"

namespace models {
namespace {

constexpr std::string_view kFormat = "encoder_classifier 1";

using TensorDict = c10::Dict<std::string, torch::Tensor>;
using Fields = c10::impl::GenericDict;

std::map<std::string, torch::Tensor> tensors_of(const c10::IValue& value) {
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& entry : value.toGenericDict()) {
    tensors.emplace(entry.key().toStringRef(), entry.value().toTensor());
  }
  return tensors;
}

std::vector<char> to_bytes(const Checkpoint& checkpoint) {
  TensorDict weights;
  TensorDict averages;
  TensorDict square_averages;
  c10::Dict<std::string, std::int64_t> steps;
  for (const auto& [name, weight] : checkpoint.weights) weights.insert(name, weight);
  for (const auto& [name, moments] : checkpoint.moments) {
    averages.insert(name, moments.average);
    square_averages.insert(name, moments.square_average);
    steps.insert(name, moments.step);
  }
  Fields fields(c10::StringType::get(), c10::AnyType::get());
  fields.insert("format", std::string(kFormat));
  fields.insert("config", to_json(checkpoint.config));
  fields.insert("step", checkpoint.step);
  fields.insert("weights", weights);
  fields.insert("adamw_steps", steps);
  fields.insert("adamw_averages", averages);
  fields.insert("adamw_square_averages", square_averages);
  return torch::pickle_save(fields);
}

Checkpoint from_bytes(const std::vector<char>& bytes) {
  const Fields fields = torch::pickle_load(bytes).toGenericDict();
  if (fields.at("format").toStringRef() != kFormat) throw UsageError("another format");
  Checkpoint checkpoint;
  checkpoint.config = run_config_from_json(fields.at("config").toStringRef());
  checkpoint.step = fields.at("step").toInt();
  checkpoint.weights = tensors_of(fields.at("weights"));
  const auto averages = tensors_of(fields.at("adamw_averages"));
  const auto square_averages = tensors_of(fields.at("adamw_square_averages"));
  for (const auto& entry : fields.at("adamw_steps").toGenericDict()) {
    const std::string& name = entry.key().toStringRef();
    checkpoint.moments.emplace(
        name, Moments{entry.value().toInt(), averages.at(name), square_averages.at(name)});
  }
  return checkpoint;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  const std::vector<char> bytes = to_bytes(checkpoint);
  std::filesystem::path partial = path;
  partial += ".partial";
  std::ofstream file(partial, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error =
      file ? std::error_code() : std::error_code(errno, std::generic_category());
  if (!error) std::filesystem::rename(partial, path, error);
  if (error) {
    throw UsageError(
        fmt::format("{}: the checkpoint cannot be written: {}", path.string(), error.message()));
  }
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path)) {
    throw UsageError(
        fmt::format("{}: no such checkpoint, or not one that can be read", path.string()));
  }
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  try {
    return from_bytes(bytes);
  } catch (const std::exception&) {
    // PyTorch's and JSON's own words for a file of another kind say nothing to a user.
    throw UsageError(fmt::format("{}: not a checkpoint of encoder_classifier", path.string()));
  }
}

}  // namespace models
