// The modules of a C++ program, as far as they have shown themselves.
#include "observer/cpp_modules.h"

#include <memory>
#include <mutex>
#include <unordered_map>

#include <torch/nn/module.h>

#include "core/fork_safe.h"
#include "observer/compat.h"

namespace devsan::trace {
namespace {

using Module = torch::nn::Module;
using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

struct Registered {
  WeakTensor alive;  // keeps the address from being used again
  std::string name;
};

struct Seen {
  ForkSafeMutex mutex;
  std::vector<std::weak_ptr<const Module>> modules;
  std::unordered_map<const c10::TensorImpl*, Registered> registered;
  std::size_t sweep_at = 4096;
};

Seen& seen() {
  static auto* instance = new Seen;
  return *instance;
}

bool same_owner(const std::weak_ptr<const Module>& a, const std::weak_ptr<const Module>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

std::vector<std::shared_ptr<const Module>> living_modules() {
  std::vector<std::shared_ptr<const Module>> modules;
  std::lock_guard lock(seen().mutex);
  for (const auto& weak : seen().modules) {
    if (auto module = weak.lock()) modules.push_back(std::move(module));
  }
  return modules;
}

struct Entry {
  std::string name;
  at::Tensor tensor;
};

std::vector<Entry> entries_of(const Module& module) {
  std::vector<Entry> entries;
  for (const auto& item : module.named_parameters()) entries.push_back({item.key(), item.value()});
  for (const auto& item : module.named_buffers()) entries.push_back({item.key(), item.value()});
  return entries;
}

bool is_at(const Entry& entry, const TensorAddress& address, bool exactly) {
  const c10::TensorImpl* impl = entry.tensor.unsafeGetTensorImpl();
  if (reinterpret_cast<std::uintptr_t>(impl) == address.tensor) return true;
  return !exactly && address.storage != 0 && entry.tensor.defined() &&
         reinterpret_cast<std::uintptr_t>(storage_of(impl)) == address.storage;
}

}  // namespace

void note_module(const void* module) {
  const std::weak_ptr<const Module> weak = static_cast<const Module*>(module)->weak_from_this();
  if (weak.expired()) return;  // still being constructed, or on the stack
  std::lock_guard lock(seen().mutex);
  auto& modules = seen().modules;
  std::erase_if(modules, [](const auto& other) { return other.expired(); });
  for (const auto& other : modules) {
    if (same_owner(other, weak)) return;
  }
  modules.push_back(weak);
}

void note_registered(const void* name, const void* tensor) {
  const auto& registered = *static_cast<const at::Tensor*>(tensor);
  if (!registered.defined()) return;
  std::lock_guard lock(seen().mutex);
  auto& all = seen().registered;
  if (all.size() >= seen().sweep_at) {
    std::erase_if(all, [](const auto& entry) { return entry.second.alive.expired(); });
    seen().sweep_at = std::max<std::size_t>(4096, 2 * all.size());
  }
  all.insert_or_assign(
      registered.unsafeGetTensorImpl(),
      Registered{WeakTensor(registered.getIntrusivePtr()), *static_cast<const std::string*>(name)});
}

ModelNames cpp_model_names(const std::vector<TensorAddress>& tensors) {
  ModelNames result;
  result.names.resize(tensors.size());
  for (const auto& module : living_modules()) {
    const std::vector<Entry> entries = entries_of(*module);
    bool holds_one = false;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      for (const bool exactly : {true, false}) {
        const auto found = std::ranges::find_if(
            entries, [&](const Entry& entry) { return is_at(entry, tensors[i], exactly); });
        if (found == entries.end()) continue;
        holds_one = true;
        auto& name = result.names[i];
        if (!name || found->name.size() > name->size()) name = found->name;
        break;
      }
    }
    if (!holds_one || entries.size() <= result.model.size()) continue;
    result.model.clear();
    for (const Entry& entry : entries) {
      if (const auto device = device_of(entry.tensor.unsafeGetTensorImpl())) {
        result.model.push_back({entry.name, *device});
      }
    }
  }
  std::lock_guard lock(seen().mutex);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto entry =
        seen().registered.find(reinterpret_cast<const c10::TensorImpl*>(tensors[i].tensor));
    if (!result.names[i] && entry != seen().registered.end()) result.names[i] = entry->second.name;
  }
  return result;
}

}  // namespace devsan::trace
