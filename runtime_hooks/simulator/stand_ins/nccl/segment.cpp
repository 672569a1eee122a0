// memfd segments.
#include "simulator/stand_ins/nccl/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "simulator/stand_ins/nccl/failure.h"

namespace devsan::sim::nccl {
namespace {

constexpr std::uint64_t kMark = 0x4c43434e56454400;  // "\0DEVNCCL"

std::string with_reason(const std::string& what) {
  return "devsan simulator: " + what + ": " + std::strerror(errno);
}

std::size_t round_up(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t stages_offset() {
  return round_up(sizeof(SegmentHeader));
}

std::size_t mailboxes_offset(int ranks) {
  return stages_offset() + 2 * static_cast<std::size_t>(ranks) * kStageBytes;
}

std::size_t segment_bytes(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return round_up(mailboxes_offset(ranks) + n * n * sizeof(Mailbox));
}

// State and start time of a process, from /proc/<pid>/stat. False if there is none.
bool read_stat(std::int64_t pid, char* state, std::uint64_t* start) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  char line[1024];
  const std::size_t length = std::fread(line, 1, sizeof line - 1, file);
  std::fclose(file);
  line[length] = '\0';
  // The name, in parentheses, may hold anything: fields are counted after its end.
  const char* field = std::strrchr(line, ')');
  if (field == nullptr || field[1] == '\0') return false;
  *state = field[2];
  constexpr int kStateField = 3;
  constexpr int kStartField = 22;
  field += 2;
  for (int i = kStateField; i < kStartField && field != nullptr; ++i) {
    field = std::strchr(field + 1, ' ');
  }
  unsigned long long value = 0;
  if (field == nullptr || std::sscanf(field, " %llu", &value) != 1) return false;
  *start = value;
  return true;
}

// Segments that this process made and still holds open, by nonce.
std::mutex held_mutex;
std::unordered_map<std::uint64_t, int>& held() {
  static auto* const map = new std::unordered_map<std::uint64_t, int>;
  return *map;
}

}  // namespace

ProcessId this_process() {
  ProcessId process{getpid(), 0};
  char state = 0;
  if (!read_stat(process.pid, &state, &process.start)) {
    throw Failure(ncclSystemError, with_reason("cannot read /proc/self/stat"));
  }
  return process;
}

bool is_running(const ProcessId& process) {
  char state = 0;
  std::uint64_t start = 0;
  return read_stat(process.pid, &state, &start) && start == process.start && state != 'Z' &&
         state != 'X';
}

SegmentId create_segment() {
  SegmentId id;
  id.mark = kMark;
  const ProcessId process = this_process();
  id.process = process.pid;
  id.process_start = process.start;
  if (getrandom(&id.nonce, sizeof id.nonce, 0) != sizeof id.nonce) {
    throw Failure(ncclSystemError, with_reason("cannot get random bytes"));
  }
  const int descriptor = memfd_create("devsan-nccl", MFD_CLOEXEC);
  if (descriptor < 0) throw Failure(ncclSystemError, with_reason("cannot make shared memory"));
  id.descriptor = descriptor;
  // Large enough for any number of ranks: pages that nobody touches cost nothing.
  if (ftruncate(descriptor, static_cast<off_t>(segment_bytes(kMaxRanks))) != 0 ||
      pwrite(descriptor, &id.nonce, sizeof id.nonce, offsetof(SegmentHeader, nonce)) !=
          sizeof id.nonce) {
    const std::string reason = with_reason("cannot write shared memory");
    close(descriptor);
    throw Failure(ncclSystemError, reason);
  }
  const std::lock_guard lock(held_mutex);
  held().emplace(id.nonce, descriptor);
  return id;
}

void release_segment(const SegmentId& id) {
  const std::lock_guard lock(held_mutex);
  const auto found = held().find(id.nonce);
  if (found == held().end()) return;
  close(found->second);
  held().erase(found);
}

Segment::Segment(const SegmentId& id, int ranks) : ranks_(ranks), bytes_(segment_bytes(ranks)) {
  if (id.mark != kMark) {
    throw Failure(ncclInvalidArgument,
                  "devsan simulator: this ncclUniqueId was not made by ncclGetUniqueId");
  }
  if (!is_running({id.process, id.process_start})) {
    throw Failure(ncclRemoteError,
                  "devsan simulator: the process that made the ncclUniqueId (pid " +
                      std::to_string(id.process) + ") has ended");
  }
  const std::string path =
      "/proc/" + std::to_string(id.process) + "/fd/" + std::to_string(id.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw Failure(ncclSystemError, with_reason("cannot open " + path));
  base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const std::string reason =
      base_ == MAP_FAILED ? with_reason("cannot map shared memory") : std::string();
  close(descriptor);
  if (base_ == MAP_FAILED) throw Failure(ncclSystemError, reason);
  if (header().nonce.load() != id.nonce) {
    munmap(base_, bytes_);
    throw Failure(ncclInvalidUsage,
                  "devsan simulator: the communicator of this ncclUniqueId is complete");
  }
}

Segment::~Segment() {
  munmap(base_, bytes_);
}

std::byte* Segment::stage(int half, int rank) const {
  return static_cast<std::byte*>(base_) + stages_offset() +
         static_cast<std::size_t>(half * ranks_ + rank) * kStageBytes;
}

Mailbox& Segment::mailbox(int from, int to) const {
  return reinterpret_cast<Mailbox*>(static_cast<std::byte*>(base_) +
                                    mailboxes_offset(ranks_))[from * ranks_ + to];
}

}  // namespace devsan::sim::nccl
