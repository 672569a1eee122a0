// Whose code a frame is, told from paths and names.
#include "core/frames.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>

namespace devsan::trace {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// Prefixes of file names of shared libraries and executables.
constexpr std::array<std::string_view, 22> kInternalModules = {
    "libtorch",   "libc10",    "libshm",   "_C.",     "libpython", "python3",
    "python",     "libc.so",   "libc-",    "libm.so", "ld-linux",  "libdl",
    "libpthread", "libstdc++", "libgcc_s", "libgomp", "libdevsan", "libcuda",
    "libcud",     "libcublas", "libnccl",  "libasan"};

// Functions of the C++ runtime and of PyTorch's headers, inlined or instantiated in the user's
// binary.
constexpr std::array<std::string_view, 10> kInternalFunctions = {
    "std::",  "at::",         "c10::",    "torch::",  "__gnu_cxx::",
    "_start", "__libc_start", "caffe2::", "decltype", "void std::"};

// The folder of the library that holds this code: what lies there and below is DevSan's own.
const std::string& own_folder() {
  static const std::string folder = [] {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(&owner_of_python), &info) || !info.dli_fname)
      return std::string();
    const std::string path = info.dli_fname;
    if (!file_name(path).starts_with("libdevsan")) return std::string();  // linked into a test
    return path.substr(0, path.rfind('/') + 1);
  }();
  return folder;
}

struct FunctionName {
  std::string_view type;
  std::string_view last;
};

FunctionName split_function(std::string_view function) {
  for (const std::string_view separator : {"::", "."}) {
    const auto at = function.rfind(separator);
    if (at != function.npos) {
      return {function.substr(0, at), function.substr(at + separator.size())};
    }
  }
  return {{}, function};
}

std::string without_template_arguments(std::string_view function) {
  std::string plain;
  int depth = 0;
  for (const char letter : function) {
    if (letter == '<') ++depth;
    if (depth == 0) plain += letter;
    if (letter == '>') --depth;
  }
  return plain;
}

}  // namespace

Owner owner_of_python(std::string_view file) {
  if (file.empty() || file.front() == '<') {
    // Code without a file: the import system, or typed in by the user.
    return file.starts_with("<frozen") ? Owner::kInternal
           : file == "<stdin>" || file == "<string>" || file.starts_with("<ipython")
               ? Owner::kUser
               : Owner::kLibrary;
  }
  for (const std::string_view packages : {"site-packages/", "dist-packages/"}) {
    const auto at = file.find(packages);
    if (at == file.npos) continue;
    const std::string_view package = file.substr(at + packages.size());
    return package.starts_with("torch/") ? Owner::kInternal : Owner::kLibrary;
  }
  if (contains(file, "/lib/python3")) return Owner::kLibrary;
  return Owner::kUser;
}

bool is_internal_module(std::string_view path) {
  if (!own_folder().empty() && path.starts_with(own_folder())) return true;
  const std::string_view name = file_name(path);
  return std::ranges::any_of(kInternalModules,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Owner owner_of_native(std::string_view module_path, std::string_view function,
                      std::string_view file) {
  if (is_internal_module(module_path)) return Owner::kInternal;
  if (contains(file, "/torch/include/") || contains(file, "/include/c++/") ||
      contains(file, "/pybind11/")) {
    return Owner::kInternal;
  }
  if (std::ranges::any_of(kInternalFunctions,
                          [&](std::string_view prefix) { return function.starts_with(prefix); })) {
    return Owner::kInternal;
  }
  if (module_path.starts_with("/usr/lib") || module_path.starts_with("/lib") ||
      contains(module_path, "site-packages/")) {
    return Owner::kLibrary;
  }
  return Owner::kUser;
}

std::string without_parameters(std::string_view function) {
  constexpr std::array<std::string_view, 2> kNotParameters = {"(anonymous namespace)",
                                                              "operator()"};
  int nesting = 0;  // of template arguments and of lambdas' "{lambda(int)#1}"
  for (std::size_t i = 0; i < function.size(); ++i) {
    const std::string_view rest = function.substr(i);
    const auto whole = std::ranges::find_if(
        kNotParameters, [&](std::string_view name) { return rest.starts_with(name); });
    if (whole != kNotParameters.end()) {
      i += whole->size() - 1;
    } else if (function[i] == '<' || function[i] == '{') {
      ++nesting;
    } else if (function[i] == '>' || function[i] == '}') {
      --nesting;
    } else if (function[i] == '(' && nesting <= 0) {
      return std::string(function.substr(0, i));
    }
  }
  return std::string(function);
}

bool is_forward(const Frame& frame) {
  const std::string_view name = frame.function;
  const auto dot = name.find_last_of(".:");
  const std::string_view last = dot == name.npos ? name : name.substr(dot + 1);
  return last == "forward";
}

bool is_module_call(const Frame& frame) {
  return frame.function.ends_with("_call_impl");
}

bool is_standard_library(std::string_view file) {
  return contains(file, "/lib/python3") && !contains(file, "-packages/");
}

std::string package_path(std::string_view file) {
  for (const std::string_view packages : {"site-packages/", "dist-packages/"}) {
    const auto at = file.find(packages);
    if (at != file.npos) return std::string(file.substr(at + packages.size()));
  }
  return std::string(file_name(file));
}

std::string owning_type(std::string_view function) {
  return std::string(split_function(without_template_arguments(function)).type);
}

std::string constructed_type(std::string_view function) {
  const std::string plain = without_template_arguments(function);
  const FunctionName name = split_function(plain);
  const bool is_constructor = name.last == "__init__" ||
                              (!name.type.empty() && split_function(name.type).last == name.last);
  return is_constructor ? std::string(name.type) : std::string();
}

bool has_constructor(std::span<const OwnedFrame> frames) {
  return std::ranges::any_of(frames, [](const OwnedFrame& frame) {
    return !constructed_type(frame.frame.function).empty();
  });
}

const OwnedFrame* innermost_shown_frame(const Stack& stack) {
  const auto found = std::ranges::find_if(
      stack, [](const OwnedFrame& frame) { return frame.owner != Owner::kInternal; });
  return found == stack.end() ? nullptr : &*found;
}

const OwnedFrame* innermost_user_frame(const Stack& stack) {
  const auto found = std::ranges::find(stack, Owner::kUser, &OwnedFrame::owner);
  return found == stack.end() ? nullptr : &*found;
}

std::span<const OwnedFrame> innermost_user_call(const Stack& stack) {
  return {std::ranges::find(stack, Owner::kUser, &OwnedFrame::owner), stack.end()};
}

bool runs_through(const Stack& stack, std::span<const OwnedFrame> call,
                  std::span<const OwnedFrame>* inside) {
  if (call.empty() || stack.size() < call.size()) return false;
  const std::span<const OwnedFrame> all(stack);
  const auto outer = all.last(call.size());
  if (inside) *inside = all.first(all.size() - call.size());
  const Frame& here = outer.front().frame;
  const Frame& there = call.front().frame;
  return here.function == there.function && here.file == there.file &&
         std::ranges::equal(outer.subspan(1), call.subspan(1), {}, &OwnedFrame::frame,
                            &OwnedFrame::frame);
}

std::vector<Frame> shown_frames(const Stack& stack) {
  const bool has_user = innermost_user_frame(stack) != nullptr;
  std::vector<Frame> shown;
  bool innermost = true;
  for (const OwnedFrame& frame : stack) {
    if (frame.owner == Owner::kInternal) continue;
    if (frame.owner == Owner::kUser || innermost || !has_user) shown.push_back(frame.frame);
    innermost = false;
  }
  return shown;
}

}  // namespace devsan::trace
