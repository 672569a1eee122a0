// Physical memory is an anonymous file, a mapping is a shared mapping of it.
#include "simulator/core/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "simulator/core/machine.h"

namespace devsan::sim {
namespace {

struct Physical {
  int file = -1;
  std::size_t bytes = 0;
  int device = 0;
};

Physical* physical_of(PhysicalHandle handle) {
  return reinterpret_cast<Physical*>(handle);
}

bool whole(std::size_t bytes) {
  return bytes != 0 && bytes % kVirtualMemoryGranularity == 0;
}

// Puts the range back to reserved and untouchable.
bool blank(void* base, std::size_t bytes, int extra_flags) {
  return mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extra_flags, -1,
              0) != MAP_FAILED;
}

}  // namespace

Status create_physical(int device, std::size_t bytes, PhysicalHandle* out) {
  if (!machine().has_device(device)) return Status::kInvalidDevice;
  if (!whole(bytes)) return Status::kInvalidValue;
  if (const Status status = machine().memory().reserve(device, bytes); status != Status::kSuccess) {
    return status;
  }
  const int file = memfd_create("devsan-device-memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) close(file);
    machine().memory().unreserve(device, bytes);
    return Status::kOutOfMemory;
  }
  auto physical = std::make_unique<Physical>(Physical{file, bytes, device});
  *out = reinterpret_cast<PhysicalHandle>(physical.release());
  return Status::kSuccess;
}

Status release_physical(PhysicalHandle handle) {
  if (handle == 0) return Status::kInvalidValue;
  const std::unique_ptr<Physical> physical(physical_of(handle));
  machine().memory().unreserve(physical->device, physical->bytes);
  close(physical->file);
  return Status::kSuccess;
}

Status reserve_range(std::size_t bytes, void** out) {
  if (!whole(bytes)) return Status::kInvalidValue;
  void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return Status::kOutOfMemory;
  *out = base;
  return Status::kSuccess;
}

Status release_range(void* base, std::size_t bytes) {
  return munmap(base, bytes) == 0 ? Status::kSuccess : Status::kInvalidValue;
}

Status map_range(void* base, std::size_t bytes, std::size_t offset, PhysicalHandle handle) {
  if (handle == 0) return Status::kInvalidValue;
  const Physical& physical = *physical_of(handle);
  if (offset > physical.bytes || bytes > physical.bytes - offset) return Status::kInvalidValue;
  if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           physical.file, static_cast<off_t>(offset)) == MAP_FAILED) {
    return Status::kOutOfMemory;
  }
  machine().memory().add_mapping(physical.device, base, bytes);
  return Status::kSuccess;
}

Status unmap_range(void* base, std::size_t bytes) {
  machine().memory().remove_mappings(base, bytes);
  return blank(base, bytes, MAP_FIXED) ? Status::kSuccess : Status::kInvalidValue;
}

}  // namespace devsan::sim
