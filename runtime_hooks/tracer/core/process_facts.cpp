// Reads the launchers' variables.
#include "core/process_facts.h"

#include <array>
#include <cstdlib>

namespace devsan::trace {
namespace {

template <std::size_t Count>
int number(const std::array<const char*, Count>& variables, int otherwise) {
  for (const char* variable : variables) {
    const char* text = std::getenv(variable);
    if (!text || !*text) continue;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end == '\0') return static_cast<int>(value);
  }
  return otherwise;
}

}  // namespace

ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.rank = number<3>({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}, 0);
  facts.world_size = number<3>({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}, 1);
  facts.local_rank = number<3>({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}, -1);
  return facts;
}

}  // namespace devsan::trace
