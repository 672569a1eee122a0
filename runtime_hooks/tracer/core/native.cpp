// Symbols of C++ frames by addr2line, which, unlike PyTorch's own symbolizer, shows inlined
// functions: most of a user's lines are inlined into a call of at::Tensor's methods or stand around
// one.
#include "core/native.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "core/child_process.h"
#include "core/fork_safe.h"

namespace devsan::trace {
namespace {

struct Module {
  std::string path;
  std::uintptr_t base = 0;
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
};

std::string executable_path() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  const auto visit = [](dl_phdr_info* info, std::size_t, void* list) {
    auto& modules = *static_cast<std::vector<Module>*>(list);
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
      const std::uintptr_t start = info->dlpi_addr + segment.p_vaddr;
      // The executable comes first and without a name.
      std::string path = info->dlpi_name;
      if (path.empty() && modules.empty()) path = executable_path();
      modules.push_back({std::move(path), info->dlpi_addr, start, start + segment.p_memsz});
    }
    return 0;
  };
  dl_iterate_phdr(visit, &modules);
  return modules;
}

const Module* module_of(const std::vector<Module>& modules, std::uintptr_t counter) {
  for (const Module& module : modules) {
    if (counter >= module.start && counter < module.end) return &module;
  }
  return nullptr;
}

// "file.cpp:12" or "file.cpp:12 (discriminator 3)"; "??:?" has no line.
void set_place(Frame& frame, std::string text) {
  if (const auto blank = text.find(" ("); blank != text.npos) text.resize(blank);
  const auto colon = text.rfind(':');
  if (colon == text.npos || text.starts_with("??")) return;
  frame.file = text.substr(0, colon);
  frame.line = std::atoi(text.c_str() + colon + 1);
}

OwnedFrame frame_by_export(const Module& module, std::uintptr_t counter) {
  OwnedFrame result;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(counter), &info) && info.dli_sname) {
    result.frame.function = info.dli_sname;
  } else {
    result.frame.function = "??";
  }
  result.frame.file = module.path;
  result.owner = owner_of_native(module.path, result.frame.function, {});
  return result;
}

// addr2line -a -f -i -C prints, for each address, "0x…" and then pairs of lines: function, place.
std::map<std::uintptr_t, Stack> parse(const std::string& output, const Module& module) {
  std::map<std::uintptr_t, Stack> frames;
  Stack* current = nullptr;
  std::istringstream lines(output);
  std::string line;
  std::string function;
  bool has_function = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("0x")) {
      current = &frames[std::strtoull(line.c_str(), nullptr, 16)];
      has_function = false;
    } else if (!has_function) {
      function = line;
      has_function = true;
    } else if (current) {
      OwnedFrame result;
      result.frame.function = without_parameters(function);
      set_place(result.frame, line);
      result.owner = owner_of_native(module.path, function, result.frame.file);
      // Code without a line in the user's own binary is the compiler's or a stripped helper.
      const bool is_known = !result.frame.file.empty() || function != "??";
      // Of a call whose parts were inlined apart, addr2line gives the callers once for each part.
      const bool is_repeated = std::ranges::any_of(*current, [&](const OwnedFrame& before) {
        return before.frame.line > 0 && before.frame.line == result.frame.line &&
               before.frame.file == result.frame.file;
      });
      if (is_known && !is_repeated) current->push_back(std::move(result));
      has_function = false;
    }
  }
  return frames;
}

void say_once_that_addr2line_is_missing() {
  static const bool said = [] {
    std::fputs(
        "DevSan: addr2line could not be run: C++ frames have no lines (it is in the package "
        "binutils)\n",
        stderr);
    return true;
  }();
  (void)said;
}

// The frames of addresses seen before: a report asks for the same stacks more than once.
struct Memo {
  ForkSafeMutex mutex;
  std::unordered_map<std::uintptr_t, Stack> frames;
};

Memo& memo() {
  static auto* instance = new Memo;
  return *instance;
}

StackInterner& interner() {
  static auto* instance = new StackInterner;
  return *instance;
}

void look_up(const Module& module, const std::vector<std::uintptr_t>& counters) {
  std::vector<std::string> command{"addr2line", "-a", "-f", "-i", "-C", "-e", module.path};
  for (const std::uintptr_t counter : counters) {
    char text[32];
    // A return address is the one after the call.
    std::snprintf(text, sizeof text, "%#lx", static_cast<unsigned long>(counter - module.base - 1));
    command.emplace_back(text);
  }
  const std::optional<std::string> output = output_of(command);
  if (!output) say_once_that_addr2line_is_missing();
  const std::map<std::uintptr_t, Stack> found =
      output ? parse(*output, module) : std::map<std::uintptr_t, Stack>();
  std::lock_guard lock(memo().mutex);
  for (const std::uintptr_t counter : counters) {
    const auto entry = found.find(counter - module.base - 1);
    memo().frames[counter] =
        entry != found.end() ? entry->second : Stack{frame_by_export(module, counter)};
  }
}

}  // namespace

Stack symbolize_native(std::span<const std::uintptr_t> counters) {
  const std::vector<Module> modules = loaded_modules();
  std::map<const Module*, std::vector<std::uintptr_t>> unknown;
  {
    std::lock_guard lock(memo().mutex);
    for (const std::uintptr_t counter : counters) {
      const Module* module = module_of(modules, counter);
      if (!module || is_internal_module(module->path)) continue;
      if (!memo().frames.contains(counter)) unknown[module].push_back(counter);
    }
  }
  for (const auto& [module, addresses] : unknown) look_up(*module, addresses);

  Stack stack;
  std::lock_guard lock(memo().mutex);
  for (const std::uintptr_t counter : counters) {
    const auto found = memo().frames.find(counter);
    if (found == memo().frames.end()) continue;
    stack.insert(stack.end(), found->second.begin(), found->second.end());
  }
  return stack;
}

bool runs_through_library(std::span<const std::uintptr_t> counters) {
  const std::vector<Module> modules = loaded_modules();
  for (const std::uintptr_t counter : counters) {
    const Module* module = module_of(modules, counter);
    if (module && owner_of_native(module->path, {}, {}) == Owner::kLibrary) return true;
  }
  return false;
}

StackId intern_native(std::span<const std::uintptr_t> counters) {
  return interner().intern(counters, [](std::span<const std::uintptr_t>) {});
}

std::span<const std::uintptr_t> native_stack_words(StackId id) {
  return interner().words(id);
}

}  // namespace devsan::trace
