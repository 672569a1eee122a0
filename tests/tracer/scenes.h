// Scenes made by hand, for tests of blame and remedy.
#pragma once

#include <fstream>

#include "core/scene.h"

namespace devsan::trace::test {

inline const Device kCpu{0, -1};
inline const Device kCuda0{1, 0};
inline const Device kCuda1{1, 1};

inline OwnedFrame user(std::string function, int line, std::string file = "me.py") {
  return {{std::move(function), std::move(file), line}, Owner::kUser};
}

inline OwnedFrame library(std::string function) {
  return {{std::move(function), "lib.py", 1}, Owner::kLibrary};
}

inline Step step(Origin::Kind kind, Device device, Stack stack,
                 Origin::Link link = Origin::Link::kNone) {
  return {kind, link, device, "aten::op", false, std::move(stack)};
}

inline Suspect tensor(std::string name, Device device, std::vector<Step> path = {}) {
  Suspect suspect;
  suspect.argument.name = std::move(name);
  suspect.argument.shape = {4};
  suspect.argument.device = to_string(device);
  suspect.device = device;
  suspect.path = std::move(path);
  return suspect;
}

inline Suspect parameter(std::string name, Device device, std::string in_model,
                         std::vector<Step> path = {}) {
  Suspect suspect = tensor(std::move(name), device, std::move(path));
  suspect.argument.parameter = std::move(in_model);
  suspect.requires_grad = true;
  return suspect;
}

// A source file with these lines in the test's own temporary folder.
inline std::string source_file(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream out(path);
  for (const std::string& line : lines) out << line << '\n';
  return path;
}

}  // namespace devsan::trace::test
