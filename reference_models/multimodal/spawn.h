// A launcher for ranks on one machine: what torchrun does, without Python.
#pragma once

namespace models::multimodal {

// Runs this program `world_size` times with the arguments `argv`, each copy with a rank of its own
// in its environment, and serves the store over which they meet.
//
// SIGINT, SIGTERM and SIGHUP are passed on to the ranks. When a rank fails, the others get SIGTERM,
// and SIGKILL ten seconds later. Returns the exit code of the first that failed, 128 + N where
// signal N ended it, or 0.
int run_ranks(int world_size, char** argv);

// Whether this process is a rank that run_ranks() started.
bool is_spawned_rank();

}  // namespace models::multimodal
