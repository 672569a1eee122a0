// Counts, by call site, of tensors that were made on a GPU or moved between devices. Only ops that
// decide a device come here; what is computed on its inputs' device does not.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fork_safe.h"
#include "core/origin.h"
#include "observer/compat.h"

namespace devsan::trace {

struct PlacementSite {
  Origin::Kind kind = Origin::Kind::kMoved;
  Device from;  // equal to `to` where nothing was moved
  Device to;
  const char* op = "";  // interned
  Site site;

  bool operator==(const PlacementSite&) const = default;
};

// When: optimizer steps and collectives before, and the number of the op.
struct Moment {
  std::int64_t step = 0;
  std::int64_t collectives = 0;
  std::uint64_t sequence = 0;
};

struct PlacementCount {
  PlacementSite placement;
  Moment first;
  std::int64_t first_time_us = 0;
  OriginRef source;  // of the first tensor that was moved
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t steps = 0;
  std::int64_t last_step = -1;
};

class PlacementLog {
 public:
  // `tensor` is the result. `source` is the origin of what was moved; may be null.
  void add(const PlacementSite& placement, const c10::TensorImpl* tensor, const OriginRef& source,
           const Moment& moment);

  std::vector<PlacementCount> counts();

  // Grows with every add.
  std::uint64_t changes();

 private:
  struct Hash {
    std::size_t operator()(const PlacementSite& placement) const;
  };

  // A program that makes new code without end must not fill memory with its sites.
  static constexpr std::size_t kMaxSites = 4096;

  void forget_parents_counts();

  ForkSafeMutex mutex_;
  std::uint32_t generation_ = 0;
  std::uint64_t changes_ = 0;
  std::unordered_map<PlacementSite, PlacementCount, Hash> counts_;
};

}  // namespace devsan::trace
