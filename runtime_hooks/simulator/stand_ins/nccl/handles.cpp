// The table of handles.
#include "simulator/stand_ins/nccl/handles.h"

namespace devsan::sim::nccl {
namespace {

std::mutex mutex;
std::unordered_map<ncclComm_t, std::shared_ptr<Communicator>>& table() {
  static auto* const map = new std::unordered_map<ncclComm_t, std::shared_ptr<Communicator>>;
  return *map;
}

auto find_locked(ncclComm_t handle, const char* function) {
  if (handle == nullptr) {
    throw Failure(ncclInvalidArgument, std::string(function) + " : comm argument is NULL");
  }
  const auto found = table().find(handle);
  if (found == table().end()) {
    throw Failure(ncclInvalidArgument, "Error: corrupted comm object detected");
  }
  return found;
}

}  // namespace

ncclComm_t add_handle(std::shared_ptr<Communicator> communicator) {
  const auto handle = reinterpret_cast<ncclComm_t>(communicator.get());
  const std::lock_guard lock(mutex);
  table().emplace(handle, std::move(communicator));
  return handle;
}

std::shared_ptr<Communicator> find_handle(ncclComm_t handle, const char* function) {
  const std::lock_guard lock(mutex);
  return find_locked(handle, function)->second;
}

std::shared_ptr<Communicator> take_handle(ncclComm_t handle, const char* function) {
  const std::lock_guard lock(mutex);
  const auto found = find_locked(handle, function);
  std::shared_ptr<Communicator> communicator = std::move(found->second);
  table().erase(found);
  return communicator;
}

}  // namespace devsan::sim::nccl
