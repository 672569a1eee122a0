// Which process of a job this is.
#pragma once

#include <optional>

namespace devsan::trace {

struct ProcessFacts {
  std::optional<int> rank;
  std::optional<int> world_size;
  std::optional<int> local_rank;

  bool is_one_of_several() const { return world_size.value_or(1) > 1; }
};

// From RANK, WORLD_SIZE and LOCAL_RANK (torchrun, accelerate, Lightning), or Open MPI's and
// Slurm's. What they leave open (processes of torch.multiprocessing, a C++ program that starts its
// own ranks) from the process group: of a Python program the interpreter is asked, which takes the
// GIL; else the largest group that note_process_group was told of. To be asked when a report is
// made: programs may set the variables late.
ProcessFacts process_facts();

// A group that the process took part in a collective of.
void note_process_group(int rank, int size);

}  // namespace devsan::trace
