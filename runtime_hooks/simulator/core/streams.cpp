// Streams and events over a host where everything completes at once.
#include "simulator/core/streams.h"

namespace devsan::sim {
namespace {

// null, cudaStreamLegacy and cudaStreamPerThread.
constexpr std::uintptr_t kLastDefaultStream = 2;

}  // namespace

StreamHandle Streams::create(int device, unsigned flags, int priority) {
  const std::lock_guard lock(mutex_);
  auto stream = std::make_unique<Stream>(Stream{device, priority, flags, next_id_++});
  const StreamHandle handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

Status Streams::destroy(StreamHandle handle) {
  const std::lock_guard lock(mutex_);
  return streams_.erase(handle) == 1 ? Status::kSuccess : Status::kInvalidResourceHandle;
}

std::optional<Stream> Streams::find_locked(StreamHandle handle, int current) const {
  if (reinterpret_cast<std::uintptr_t>(handle) <= kLastDefaultStream) {
    return Stream{current, 0, 0, reinterpret_cast<std::uintptr_t>(handle)};
  }
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return std::nullopt;
  return *found->second;
}

std::optional<Stream> Streams::find(StreamHandle handle, int current) const {
  const std::lock_guard lock(mutex_);
  return find_locked(handle, current);
}

EventHandle Streams::create_event(int device, bool timed) {
  const std::lock_guard lock(mutex_);
  auto event = std::make_unique<Event>(Event{device, timed, std::nullopt});
  const EventHandle handle = event.get();
  events_.emplace(handle, std::move(event));
  return handle;
}

Status Streams::destroy_event(EventHandle handle) {
  const std::lock_guard lock(mutex_);
  return events_.erase(handle) == 1 ? Status::kSuccess : Status::kInvalidResourceHandle;
}

Status Streams::record(EventHandle event, StreamHandle stream, int current) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  const std::optional<Stream> on = find_locked(stream, current);
  if (found == events_.end() || !on || on->device != found->second->device) {
    return Status::kInvalidResourceHandle;
  }
  found->second->recorded = std::chrono::steady_clock::now();
  return Status::kSuccess;
}

Status Streams::query(EventHandle event) const {
  const std::lock_guard lock(mutex_);
  return events_.contains(event) ? Status::kSuccess : Status::kInvalidResourceHandle;
}

Status Streams::wait(StreamHandle stream, EventHandle event, int current) const {
  const std::lock_guard lock(mutex_);
  return events_.contains(event) && find_locked(stream, current) ? Status::kSuccess
                                                                 : Status::kInvalidResourceHandle;
}

Status Streams::elapsed(EventHandle start, EventHandle end, float* milliseconds) const {
  const std::lock_guard lock(mutex_);
  const auto first = events_.find(start);
  const auto second = events_.find(end);
  if (first == events_.end() || second == events_.end()) return Status::kInvalidResourceHandle;
  const Event& a = *first->second;
  const Event& b = *second->second;
  if (!a.recorded || !b.recorded || !a.timed || !b.timed || a.device != b.device) {
    return Status::kInvalidResourceHandle;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*b.recorded - *a.recorded).count();
  return Status::kSuccess;
}

}  // namespace devsan::sim
