// Traffic in the words of findings.
#include "core/traffic.h"

#include <array>

#include <fmt/format.h>

namespace devsan::trace {

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

RunFacts facts_of(const Traffic& traffic, const RunFacts& process) {
  RunFacts facts = process;
  facts.step = traffic.first_step;
  facts.collectives = traffic.first_collectives;
  facts.time_us = traffic.first_time_us;
  facts.op = {traffic.op, traffic.first_sequence, /*backward=*/false};
  facts.stack = shown_frames(traffic.stack);
  facts.count = traffic.count;
  facts.bytes = traffic.bytes;
  facts.steps = traffic.steps;
  return facts;
}

}  // namespace devsan::trace
