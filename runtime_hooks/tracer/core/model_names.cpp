// Runs model_names.py in the traced program and reads its answer.
#include "core/model_names.h"

#include <nlohmann/json.hpp>

#include "core/python.h"
#include "model_names_py.h"

namespace devsan::trace {

Device parse_device(const std::string& text) {
  const auto colon = text.find(':');
  const std::string type = text.substr(0, colon);
  for (std::int8_t number = 0; to_string({number, -1}) != "unknown"; ++number) {
    if (to_string({number, -1}) != type) continue;
    const int index = colon == text.npos ? -1 : std::atoi(text.c_str() + colon + 1);
    return {number, static_cast<std::int8_t>(number == 0 ? -1 : index)};
  }
  return {};
}

ModelNames python_model_names(const std::vector<TensorAddress>& tensors, const Frame& caller) {
  ModelNames result;
  result.names.resize(tensors.size());
  result.variables.resize(tensors.size());
  nlohmann::json request;
  request["file"] = caller.file;
  request["line"] = caller.line;
  request["tensors"] = nlohmann::json::array();
  for (const TensorAddress& tensor : tensors)
    request["tensors"].push_back({tensor.tensor, tensor.storage});

  const auto answer = nlohmann::json::parse(python::run(kModelNamesScript, request.dump()), nullptr,
                                            /*allow_exceptions=*/false);
  if (answer.is_discarded()) return result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& name = answer["names"][i];
    if (name.is_string()) result.names[i] = name.get<std::string>();
    const auto& variable = answer["variables"][i];
    if (variable.is_string()) result.variables[i] = variable.get<std::string>();
  }
  for (const auto& entry : answer["model"]) {
    result.model.push_back(
        {entry[0].get<std::string>(), parse_device(entry[1].get<std::string>())});
  }
  return result;
}

}  // namespace devsan::trace
