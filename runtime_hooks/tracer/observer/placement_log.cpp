// The table of counts.
#include "observer/placement_log.h"

#include <chrono>

namespace devsan::trace {
namespace {

std::int64_t bytes_of(const c10::TensorImpl* tensor) {
  if (tensor->has_symbolic_sizes_strides()) return 0;
  return tensor->numel() * static_cast<std::int64_t>(tensor->itemsize());
}

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::size_t PlacementLog::Hash::operator()(const PlacementSite& placement) const {
  const auto byte = [](std::int8_t value) { return static_cast<std::uint8_t>(value); };
  std::uint64_t hash = (std::uint64_t{placement.site.python} << 32) | placement.site.native;
  hash ^= (std::uint64_t{byte(placement.from.index)} << 16 | byte(placement.to.index)) *
          0x9E3779B97F4A7C15ull;
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

void PlacementLog::forget_parents_counts() {
  if (generation_ == fork_generation()) return;
  generation_ = fork_generation();
  counts_.clear();
  changes_ = 0;
}

void PlacementLog::add(const PlacementSite& placement, const c10::TensorImpl* tensor,
                       const OriginRef& source, const Moment& moment) {
  std::lock_guard lock(mutex_);
  forget_parents_counts();
  auto entry = counts_.find(placement);
  if (entry == counts_.end()) {
    if (counts_.size() == kMaxSites) return;
    PlacementCount count;
    count.placement = placement;
    count.first = moment;
    count.first_time_us = now_us();
    count.source = source;
    count.dtype = c10::typeMetaToScalarType(tensor->dtype());
    if (!tensor->has_symbolic_sizes_strides()) {
      count.shape.assign(tensor->sizes().begin(), tensor->sizes().end());
    }
    entry = counts_.emplace(placement, std::move(count)).first;
  }
  PlacementCount& count = entry->second;
  ++count.count;
  count.bytes += bytes_of(tensor);
  if (count.last_step != moment.step) ++count.steps;
  count.last_step = moment.step;
  ++changes_;
}

std::vector<PlacementCount> PlacementLog::counts() {
  std::lock_guard lock(mutex_);
  forget_parents_counts();
  std::vector<PlacementCount> all;
  all.reserve(counts_.size());
  for (const auto& [placement, count] : counts_) all.push_back(count);
  return all;
}

std::uint64_t PlacementLog::changes() {
  std::lock_guard lock(mutex_);
  forget_parents_counts();
  return changes_;
}

}  // namespace devsan::trace
