// Finds the parts of the archive by name, and the tensors in its pickles by what rebuilds them.
#include "script_archive.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <string_view>

#include "pickle.h"
#include "printable.h"
#include "zip_archive.h"

namespace devsan::lint {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t kMostPickle = std::size_t{64} << 20;
constexpr std::size_t kMostCode = std::size_t{8} << 20;

// `module\nname` as a pickle has it, with a dot.
std::string dotted(std::string_view global) {
  const std::size_t end = global.find('\n');
  return end == std::string_view::npos
             ? std::string()
             : printable(global.substr(0, end)) + "." + printable(global.substr(end + 1));
}

// Walks what a pickle holds once, objects by the names of their attributes.
class Walk {
 public:
  Walk(const Pickle& pickle, ScriptArchive& archive) : pickle_(pickle), archive_(archive) {}

  // The attributes of the root object and of all below it.
  void state() { visit(pickle_.root(), "", "", 0); }

  // The elements of the root, a tuple: CONSTANTS.c0, CONSTANTS.c1, ...
  void constants() {
    std::size_t index = 0;
    for (const std::uint32_t item : pickle_.root().items) {
      if (auto tensor = tensor_of(pickle_[item])) {
        tensor->name = fmt::format("c{}", index);
        archive_.constants.push_back(std::move(*tensor));
      }
      ++index;
    }
  }

 private:
  // What a call calls, "" when that has no name.
  std::string_view callee(const PickleValue& call) const {
    if (call.kind != Kind::kCall || call.items.size() < 2) return {};
    const PickleValue& global = pickle_[call.items[0]];
    return global.kind == Kind::kGlobal ? global.text : std::string_view();
  }

  // `_rebuild_tensor_v2(storage, offset, sizes, ...)`, or another that takes a storage first.
  std::optional<ScriptTensor> tensor_of(const PickleValue& value) const {
    if (callee(value).empty()) return std::nullopt;
    const PickleValue& arguments = pickle_[value.items[1]];
    if (arguments.kind != Kind::kTuple || arguments.items.size() < 3) return std::nullopt;
    const PickleValue& storage = pickle_[arguments.items[0]];
    if (storage.kind != Kind::kStorage || storage.items.size() != 1) return std::nullopt;
    // ("storage", type, key, device, elements)
    const PickleValue& id = pickle_[storage.items[0]];
    if (id.kind != Kind::kTuple || id.items.size() < 4) return std::nullopt;
    ScriptTensor tensor;
    tensor.device = printable(pickle_[id.items[3]].text);
    tensor.has_dimensions = !pickle_[arguments.items[2]].items.empty();
    return tensor;
  }

  void visit(const PickleValue& value, const std::string& name, const std::string& of_class,
             int depth) {
    constexpr int kDeepest = 200;  // of modules in modules
    if (depth > kDeepest || !seen_.insert(&value).second) return;
    if (auto tensor = tensor_of(value)) {
      tensor->name = name;
      tensor->of_class = of_class;
      archive_.state.push_back(std::move(*tensor));
      return;
    }
    if (callee(value) == "torch\ndevice") {
      const PickleValue& arguments = pickle_[value.items[1]];
      if (!arguments.items.empty()) {
        archive_.devices.push_back({name, printable(pickle_[arguments.items[0]].text), of_class});
      }
      return;
    }
    if (value.kind == Kind::kCall && value.items.size() == 3) {  // an object: class, (), state
      object(pickle_[value.items[2]], name, dotted(callee(value)), depth);
      return;
    }
    for (const std::uint32_t item : value.items) visit(pickle_[item], name, of_class, depth + 1);
  }

  void object(const PickleValue& state, const std::string& name, const std::string& of_class,
              int depth) {
    if (state.kind != Kind::kDict) {  // what a __getstate__ gave
      visit(state, name, of_class, depth + 1);
      return;
    }
    for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
      const std::string attribute = printable(pickle_[state.items[i]].text);
      visit(pickle_[state.items[i + 1]], name.empty() ? attribute : name + "." + attribute,
            of_class, depth + 1);
    }
  }

  const Pickle& pickle_;
  ScriptArchive& archive_;
  std::set<const PickleValue*> seen_;
};

// Every entry is in one folder, which is named after the file that was saved.
std::string folder_of(const ZipArchive& zip) {
  for (const std::string& name : zip.names()) {
    const std::string_view ending = "/data.pkl";
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size() + 1);
  }
  return {};
}

void refuse_what_is_not_torchscript(const ZipArchive& zip, const std::string& folder) {
  for (const std::string& name : zip.names()) {
    if (name.ends_with("/archive_format") || name == "archive_format" ||
        name.ends_with("serialized_exported_program.json")) {
      throw std::runtime_error(
          "a program of torch.export (.pt2), which cannot be read; accepted: what torch.jit.save "
          "writes");
    }
  }
  if (folder.empty()) {
    throw std::runtime_error("no TorchScript archive: it has no data.pkl");
  }
  for (const std::string& name : zip.names()) {
    if (name.starts_with(folder + "code/")) return;
  }
  if (!zip.contains(folder + "constants.pkl")) {
    throw std::runtime_error(
        "no TorchScript archive: it has no code, as what torch.save writes (a state_dict)");
  }
}

// What the code was made from is a help that may be missing.
ScriptOrigins read_origins(ZipArchive& zip, const std::string& name) {
  if (!zip.contains(name)) return {};
  try {
    return ScriptOrigins(Pickle(zip.read(name, kMostPickle)));
  } catch (const std::runtime_error&) {
    return {};
  }
}

}  // namespace

ScriptArchive read_script_archive(const std::string& path) {
  ZipArchive zip(path);
  const std::string folder = folder_of(zip);
  refuse_what_is_not_torchscript(zip, folder);
  ScriptArchive archive;
  const auto read_pickle = [&](const char* name, void (Walk::*walk)()) {
    try {
      const Pickle pickle(zip.read(folder + name, kMostPickle));
      (Walk(pickle, archive).*walk)();
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", name, error.what()));
    }
  };
  read_pickle("data.pkl", &Walk::state);
  if (zip.contains(folder + "constants.pkl")) read_pickle("constants.pkl", &Walk::constants);
  for (const std::string& name : zip.names()) {
    if (!name.starts_with(folder + "code/") || !name.ends_with(".py")) continue;
    archive.sources.push_back({printable(name.substr(folder.size())), zip.read(name, kMostCode),
                               read_origins(zip, name + ".debug_pkl")});
  }
  return archive;
}

bool is_script_archive_path(const std::string& path) {
  for (const std::string_view ending :
       {".pt", ".pth", ".ptl", ".pt2", ".ts", ".torchscript", ".jit"}) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

}  // namespace devsan::lint
