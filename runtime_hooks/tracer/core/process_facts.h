// Which process of a job this is, from the variables that launchers set.
#pragma once

namespace devsan::trace {

struct ProcessFacts {
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;  // -1: not started by a launcher
};

// RANK, WORLD_SIZE and LOCAL_RANK (torchrun, accelerate, Lightning), or Open MPI's and Slurm's.
ProcessFacts process_facts();

}  // namespace devsan::trace
