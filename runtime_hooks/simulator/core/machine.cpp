// The process's one machine.
#include "simulator/core/machine.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace devsan::sim {
namespace {

constexpr int kExitUsage = 2;

thread_local int current = 0;

Machine* make_machine() {
  try {
    return new Machine(
        make_config(run_options_from_environment(), std::getenv("CUDA_VISIBLE_DEVICES")));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "devsan: DEVSAN_OPTIONS: %s\n", error.what());
    _exit(kExitUsage);
  }
}

}  // namespace

Machine::Machine(Config config)
    : config_(std::move(config)), memory_(device_count(), config_.gpu.memory) {}

Status Machine::enable_peer_access(int device, int peer) {
  if (!has_device(device) || !has_device(peer) || device == peer) return Status::kInvalidDevice;
  const std::lock_guard lock(peer_mutex_);
  bool& enabled = peer_access_[static_cast<std::size_t>(device)][static_cast<std::size_t>(peer)];
  if (enabled) return Status::kPeerAccessAlreadyEnabled;
  enabled = true;
  return Status::kSuccess;
}

Status Machine::disable_peer_access(int device, int peer) {
  if (!has_device(device) || !has_device(peer) || device == peer) return Status::kInvalidDevice;
  const std::lock_guard lock(peer_mutex_);
  bool& enabled = peer_access_[static_cast<std::size_t>(device)][static_cast<std::size_t>(peer)];
  if (!enabled) return Status::kPeerAccessNotEnabled;
  enabled = false;
  return Status::kSuccess;
}

Machine& machine() {
  static Machine* const the_machine = make_machine();
  return *the_machine;
}

int current_device() {
  return current;
}

Status set_current_device(int device) {
  if (!machine().has_device(device)) return Status::kInvalidDevice;
  current = device;
  return Status::kSuccess;
}

}  // namespace devsan::sim
