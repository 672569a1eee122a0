// From counts to warnings.
#include "observer/warnings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "core/native.h"
#include "core/process_facts.h"
#include "core/python.h"
#include "core/rank_affinity.h"
#include "core/report.h"
#include "core/silent_move.h"
#include "observer/observer.h"

namespace devsan::trace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int8_t kCuda = 1;
constexpr std::size_t kMaxDevices = 64;
constexpr auto kPause = std::chrono::milliseconds(500);
constexpr int kShareOfTime = 100;  // at most one part in so many

std::array<std::atomic<std::int64_t>, kMaxDevices> collectives_on{};

// The rank's own GPU: the one its collectives are on. Without any, the current one, where that is
// more than what every process begins with.
std::optional<Device> own_device(const ProcessFacts& facts, bool uses_gpus) {
  const auto most = std::ranges::max_element(
      collectives_on, {}, [](const auto& count) { return count.load(std::memory_order_relaxed); });
  if (most->load(std::memory_order_relaxed) > 0) {
    return Device{kCuda, static_cast<std::int8_t>(most - collectives_on.begin())};
  }
  if (!facts.is_one_of_several() || !uses_gpus ||
      !c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) {
    return std::nullopt;
  }
  const Device current =
      to_device(c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->getDevice());
  if (current.index == 0 && facts.local_rank != 0) return std::nullopt;
  return current;
}

bool is_on_gpu(const PlacementCount& count) {
  return count.placement.to.type == kCuda;
}

// Stacks are looked up anew at every report; each is made readable once.
const Stack& readable(const Site& site) {
  static auto* known = new std::map<std::pair<StackId, StackId>, Stack>;
  const auto [entry, is_new] = known->try_emplace({site.python, site.native});
  if (is_new) entry->second = symbolize(site);
  return entry->second;
}

Traffic traffic_of(const PlacementCount& count) {
  Traffic traffic;
  traffic.kind = count.placement.kind;
  traffic.from = count.placement.from;
  traffic.to = count.placement.to;
  traffic.op = count.placement.op;
  traffic.stack = readable(count.placement.site);
  traffic.source = path_of(count.source);
  traffic.dtype = c10::toString(count.dtype);
  traffic.shape = count.shape;
  traffic.count = count.count;
  traffic.bytes = count.bytes;
  traffic.steps = count.steps;
  traffic.first_step = count.first.step;
  traffic.first_collectives = count.first.collectives;
  traffic.first_sequence = static_cast<std::int64_t>(count.first.sequence);
  traffic.first_time_us = count.first_time_us;
  return traffic;
}

// In a C++ program lines cost a run of addr2line: only stacks that can matter are made readable.
bool may_be_silent_move(const PlacementCount& count) {
  if (count.placement.from == count.placement.to) return false;
  return count.placement.site.python != kNoStack ||
         runs_through_library(native_stack_words(count.placement.site.native));
}

struct Schedule {
  std::atomic<bool> at_work{false};
  std::atomic<std::uint64_t> reported_changes{0};
  std::atomic<Clock::rep> next{0};
};

Schedule& schedule() {
  static auto* instance = new Schedule;
  return *instance;
}

std::vector<Finding> warnings(const ReportedProcess& process) {
  const RunFacts facts = run_facts();
  const std::vector<PlacementCount> counts = placements().counts();
  std::vector<Traffic> moves;
  std::vector<Traffic> elsewhere;
  const std::optional<Device> own =
      process.own_device ? own_device(process_facts(), true) : std::nullopt;
  for (const PlacementCount& count : counts) {
    if (may_be_silent_move(count)) moves.push_back(traffic_of(count));
    if (own && facts.world_size > 1 && is_on_gpu(count) && count.placement.to != *own) {
      elsewhere.push_back(traffic_of(count));
    }
  }
  std::vector<Finding> findings = silent_moves(moves, facts);
  if (own) std::ranges::move(rank_affinity(elsewhere, *own, facts), std::back_inserter(findings));
  return findings;
}

}  // namespace

PlacementLog& placements() {
  static auto* instance = new PlacementLog;
  return *instance;
}

void note_collective_on(Device device) {
  if (device.type != kCuda || device.index < 0) return;
  collectives_on[static_cast<std::size_t>(device.index) % kMaxDevices].fetch_add(
      1, std::memory_order_relaxed);
}

ReportedProcess reported_process() {
  const ProcessFacts facts = process_facts();
  const std::vector<PlacementCount> counts = placements().counts();
  ReportedProcess process;
  process.pid = getpid();
  process.rank = facts.rank;
  process.world_size = facts.world_size;
  process.local_rank = facts.local_rank;
  if (const auto own = own_device(facts, std::ranges::any_of(counts, is_on_gpu))) {
    process.own_device = to_string(*own);
  }
  return process;
}

DeviceUse device_use() {
  const std::vector<PlacementCount> counts = placements().counts();
  DeviceUse use;
  use.own = own_device(process_facts(), std::ranges::any_of(counts, is_on_gpu));
  const PlacementCount* first = nullptr;
  for (const PlacementCount& count : counts) {
    if (is_on_gpu(count) && (!first || count.first.sequence < first->first.sequence)) {
      first = &count;
    }
  }
  if (first) {
    use.first = first->placement.to;
    use.first_use = symbolize(first->placement.site);
  }
  return use;
}

std::vector<RunMove> moves_so_far() {
  constexpr std::size_t kMostPlaces = 256;
  std::vector<PlacementCount> counts = placements().counts();
  std::erase_if(counts, [](const PlacementCount& count) {
    return !is_on_gpu(count) || count.placement.from == count.placement.to;
  });
  if (counts.size() > kMostPlaces) counts.resize(kMostPlaces);
  const auto maker = [](const PlacementCount& count) {
    // Back to where its own data was made from nothing. What was computed beside something else is
    // no sibling of what that something was made with.
    const Origin* made = count.source.get();
    while (made && made->previous && made->link == Origin::Link::kSame) made = made->previous.get();
    return made && !made->previous ? made->site : Site();
  };

  // All lines of C++ at once: each run of addr2line reads all of a program's debug info.
  std::vector<std::uintptr_t> counters;
  for (const PlacementCount& count : counts) {
    for (const Site& site : {count.placement.site, maker(count)}) {
      const auto words = native_stack_words(site.native);
      counters.insert(counters.end(), words.begin(), words.end());
    }
  }
  symbolize_native(counters);

  std::vector<RunMove> moves;
  for (const PlacementCount& count : counts) {
    const Site made = maker(count);
    moves.push_back({count.placement.to, count.first.sequence, count.placement.op,
                     symbolize(count.placement.site), made.known() ? symbolize(made) : Stack()});
  }
  return moves;
}

RunFacts run_facts() {
  const ProcessFacts process = process_facts();
  RunFacts facts;
  facts.process = getpid();
  facts.rank = process.rank.value_or(0);
  facts.world_size = process.world_size.value_or(1);
  facts.step = optimizer_steps();
  facts.collectives = collectives_seen();
  facts.time_us = std::chrono::duration_cast<std::chrono::microseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  return facts;
}

void report_warnings(Sink& sink) {
  if (schedule().at_work.exchange(true)) return;  // another thread does
  const std::uint64_t changes = placements().changes();
  const ReportedProcess process = reported_process();
  sink.update(process, warnings(process));
  schedule().reported_changes = changes;
  schedule().at_work = false;
}

void report_warnings_now_and_then(Sink& sink) {
  const Clock::time_point start = Clock::now();
  if (start.time_since_epoch().count() < schedule().next.load(std::memory_order_relaxed)) return;
  if (placements().changes() == schedule().reported_changes) return;
  report_warnings(sink);
  const Clock::time_point end = Clock::now();
  const auto pause = std::max<Clock::duration>(kPause, (end - start) * kShareOfTime);
  schedule().next = (end + pause).time_since_epoch().count();
}

}  // namespace devsan::trace
