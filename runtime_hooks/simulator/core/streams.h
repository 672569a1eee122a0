// Streams and events: which device each belongs to, and the rules that follow from it. Work
// completes before the call that asks for it returns, so a stream is always idle.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "simulator/core/status.h"

namespace devsan::sim {

// Handles as CUDA's opaque pointers are. Three stand for default streams and are never created:
// null, 1 (legacy), 2 (per thread).
using StreamHandle = void*;
using EventHandle = void*;

struct Stream {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
};

// All methods may be called from any thread. A `current` device is that of the calling thread:
// default streams belong to it.
class Streams {
 public:
  StreamHandle create(int device, unsigned flags, int priority);
  Status destroy(StreamHandle handle);
  // Empty for a handle that was destroyed or never made.
  std::optional<Stream> find(StreamHandle handle, int current) const;

  EventHandle create_event(int device, bool timed);
  Status destroy_event(EventHandle handle);
  // An event is recorded on a stream of its own device, else kInvalidResourceHandle.
  Status record(EventHandle event, StreamHandle stream, int current);
  Status query(EventHandle event) const;
  // A stream may wait for an event of any device.
  Status wait(StreamHandle stream, EventHandle event, int current) const;
  // Both recorded, timed, and of one device, else kInvalidResourceHandle.
  Status elapsed(EventHandle start, EventHandle end, float* milliseconds) const;

 private:
  struct Event {
    int device = 0;
    bool timed = true;
    std::optional<std::chrono::steady_clock::time_point> recorded;
  };
  std::optional<Stream> find_locked(StreamHandle handle, int current) const;

  mutable std::mutex mutex_;
  std::unordered_map<StreamHandle, std::unique_ptr<Stream>> streams_;
  std::unordered_map<EventHandle, std::unique_ptr<Event>> events_;
  std::uint64_t next_id_ = 3;  // after the default streams
};

}  // namespace devsan::sim
