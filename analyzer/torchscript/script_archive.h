// A TorchScript archive, as torch.jit.save writes it: code, and where its tensors are. Read without
// LibTorch, without running anything, and without reading weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "script_origins.h"

namespace devsan::lint {

struct ScriptTensor {
  std::string name;    // "fc.weight", "c0"
  std::string device;  // "cpu", "cuda:0"
  bool has_dimensions = true;
  std::string of_class;  // "__torch__.Net": whose attribute it is; empty for constants
};

// An attribute of type torch.device.
struct ScriptDeviceAttribute {
  std::string name;
  std::string device;
  std::string of_class;
};

struct ScriptSource {
  std::string path;  // in the archive: "code/__torch__.py"
  std::string text;
  ScriptOrigins origins;
};

struct ScriptArchive {
  std::vector<ScriptSource> sources;    // in the order of their paths
  std::vector<ScriptTensor> constants;  // what the code calls CONSTANTS.c0, ...
  std::vector<ScriptTensor> state;      // parameters, buffers and other tensors of modules
  std::vector<ScriptDeviceAttribute> devices;
};

// Throws std::runtime_error with one line when the file is no TorchScript archive, or a broken one.
ScriptArchive read_script_archive(const std::string& path);

// By its ending: .pt, .pth, .ts, ... Whether it is one, its content tells.
bool is_script_archive_path(const std::string& path);

}  // namespace devsan::lint
