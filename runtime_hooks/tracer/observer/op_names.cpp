// Interning names of ops.
#include "observer/op_names.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/fork_safe.h"

namespace devsan::trace {
namespace {

constexpr std::array<std::string_view, 13> kRecasts = {"aten::to",
                                                       "aten::_to_copy",
                                                       "aten::clone",
                                                       "aten::contiguous",
                                                       "aten::type_as",
                                                       "aten::cpu",
                                                       "aten::cuda",
                                                       "aten::pin_memory",
                                                       "aten::_pin_memory",
                                                       "aten::_autocast_to_full_precision",
                                                       "aten::float",
                                                       "aten::_autocast_to_reduced_precision",
                                                       "aten::lift_fresh_copy"};

// Names of ops are "namespace::op"; everything else that is recorded as a function is a range.
OpName::Kind kind_of(std::string_view name) {
  const bool is_op = name.find("::") != name.npos && name.find(' ') == name.npos &&
                     !name.starts_with("autograd::") && !name.starts_with("torch::");
  if (!is_op) return OpName::Kind::kRange;
  if (name.starts_with("c10d::")) return OpName::Kind::kCollective;
  if (name == "aten::copy_") return OpName::Kind::kCopyInto;
  if (name == "aten::set_") return OpName::Kind::kSetStorage;
  for (const std::string_view recast : kRecasts) {
    if (name == recast) return OpName::Kind::kRecast;
  }
  return OpName::Kind::kOp;
}

struct Table {
  ForkSafeMutex mutex;
  std::unordered_map<std::string, OpName> names;  // nodes stay where they are
};

const OpName& intern(const char* text) {
  static auto* table = new Table;
  std::lock_guard lock(table->mutex);
  const auto [entry, is_new] = table->names.try_emplace(text);
  if (is_new) entry->second = {entry->first.c_str(), kind_of(entry->first)};
  return entry->second;
}

struct Recent {
  const char* address = nullptr;
  const OpName* name = nullptr;
};

}  // namespace

const OpName& op_name(const at::RecordFunction& record) {
  constexpr std::size_t kRecent = 256;
  static thread_local std::array<Recent, kRecent> recent;
  const char* text = record.name();
  Recent& slot = recent[(reinterpret_cast<std::uintptr_t>(text) >> 4) % kRecent];
  if (slot.address != text || std::strcmp(slot.name->text, text) != 0) slot = {text, &intern(text)};
  return *slot.name;
}

}  // namespace devsan::trace
