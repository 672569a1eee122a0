// Reads the launchers' variables, and asks the process group.
#include "core/process_facts.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "core/fork_safe.h"
#include "core/python.h"

namespace devsan::trace {
namespace {

struct Group {
  ForkSafeMutex mutex;
  int rank = 0;
  int size = 0;
};

Group& largest_group() {
  static auto* instance = new Group;
  return *instance;
}

template <std::size_t Count>
std::optional<int> number(const std::array<const char*, Count>& variables) {
  for (const char* variable : variables) {
    const char* text = std::getenv(variable);
    if (!text || !*text) continue;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end == '\0') return static_cast<int>(value);
  }
  return std::nullopt;
}

constexpr const char* kAskPython = R"(
import sys
answer = ""
distributed = sys.modules.get("torch.distributed")
if distributed is not None and distributed.is_available() and distributed.is_initialized():
    answer = f"{distributed.get_rank()} {distributed.get_world_size()}"
)";

void ask_group(ProcessFacts& facts) {
  int rank = 0;
  int size = 0;
  // Kept, since a program may destroy its groups before its last report is made.
  if (python::attached() &&
      std::sscanf(python::run(kAskPython, {}).c_str(), "%d %d", &rank, &size) == 2) {
    note_process_group(rank, size);
  }
  Group& group = largest_group();
  std::lock_guard lock(group.mutex);
  if (group.size == 0) return;
  facts.rank = group.rank;
  facts.world_size = group.size;
}

}  // namespace

ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.rank = number<3>({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"});
  facts.world_size = number<3>({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"});
  facts.local_rank = number<3>({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"});
  if (!facts.rank || !facts.world_size) ask_group(facts);
  return facts;
}

void note_process_group(int rank, int size) {
  Group& group = largest_group();
  std::lock_guard lock(group.mutex);
  if (size <= group.size) return;
  group.rank = rank;
  group.size = size;
}

}  // namespace devsan::trace
