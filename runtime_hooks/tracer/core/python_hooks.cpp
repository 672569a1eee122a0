// Runs python_hooks.py in the traced program and reads what it tells.
#include "core/python_hooks.h"

#include <array>

#include <nlohmann/json.hpp>

#include "core/python.h"
#include "python_hooks_py.h"

namespace devsan::trace {
namespace {

PythonHooks installed;

// In: "type\nmessage".
std::string wants(const std::string& text) {
  return installed.wants(text.substr(text.find('\n') + 1)) ? "yes" : "";
}

PythonException exception_of(const nlohmann::json& json) {
  PythonException exception;
  exception.type = json.at("type").get<std::string>();
  exception.message = json.at("message").get<std::string>();
  for (const auto& frame : json.at("frames")) {
    const auto file = frame.at("file").get<std::string>();
    exception.stack.push_back(
        {{frame.at("function").get<std::string>(), file, frame.at("line").get<int>()},
         owner_of_python(file)});
  }
  for (const auto& tensor : json.at("tensors")) {
    exception.tensors.push_back(
        {tensor.at("tensor").get<std::uintptr_t>(), tensor.at("storage").get<std::uintptr_t>(),
         tensor.at("name").get<std::string>(), tensor.at("mentioned").get<bool>()});
  }
  return exception;
}

std::string uncaught(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) installed.on_uncaught(exception_of(json));
  return {};
}

std::string ending(const std::string&) {
  installed.on_ending();
  return {};
}

}  // namespace

void install_python_hooks(const PythonHooks& hooks) {
  installed = hooks;
  const std::array<python::Callback, 3> callbacks = {
      {{"wanted", wants}, {"uncaught", uncaught}, {"ending", ending}}};
  python::run(kPythonHooksScript, {}, callbacks);
}

}  // namespace devsan::trace
