// What a launcher tells a rank: torchrun, or the program itself with --spawn. Both say it in the
// environment, in torchrun's words.
#pragma once

#include <cstdint>
#include <string>

namespace models::multimodal {

struct Launch {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;  // among the ranks of this machine: the number of the rank's GPU

  // Of the key-value store over which the ranks find one another. Without a launcher there is none.
  std::string store_host;
  std::uint16_t store_port = 0;
  // Whether the launcher serves the store; else rank 0 does.
  bool store_is_launchers = false;
  // How often the launcher started the ranks before: a store that outlives them holds old keys.
  int restarts = 0;

  bool has_launcher() const { return !store_host.empty(); }
  bool is_first() const { return rank == 0; }
};

// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT; without RANK, one rank alone.
// Throws UsageError when one is missing or is no such number.
Launch launch_from_environment();

}  // namespace models::multimodal
