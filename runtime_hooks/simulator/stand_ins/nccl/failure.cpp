// The process's last error.
#include "simulator/stand_ins/nccl/failure.h"

#include <mutex>

namespace devsan::sim::nccl {
namespace {

std::mutex mutex;
std::string& stored() {
  static auto* const text = new std::string;  // outlives the threads that run while a process exits
  return *text;
}

}  // namespace

void set_last_error(const std::string& text) {
  const std::lock_guard lock(mutex);
  stored() = text;
}

const char* last_error() {
  thread_local std::string copy;
  const std::lock_guard lock(mutex);
  copy = stored();
  return copy.c_str();
}

}  // namespace devsan::sim::nccl
