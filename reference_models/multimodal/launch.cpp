// The launcher's words, read and checked.
#include "launch.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "common/usage_error.h"

namespace models::multimodal {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    throw UsageError(fmt::format("RANK is set and {} is not: torchrun sets both", name));
  }
  return value;
}

int number(const char* name, int least, int most) {
  const std::string text = variable(name);
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) {
    throw UsageError(
        fmt::format("{}: '{}'; accepted: a whole number from {} to {}", name, text, least, most));
  }
  return value;
}

}  // namespace

Launch launch_from_environment() {
  Launch launch;
  if (std::getenv("RANK") == nullptr) return launch;
  constexpr int kMostRanks = 4096;
  launch.world_size = number("WORLD_SIZE", 1, kMostRanks);
  launch.rank = number("RANK", 0, launch.world_size - 1);
  launch.local_rank = number("LOCAL_RANK", 0, launch.world_size - 1);
  launch.store_host = variable("MASTER_ADDR");
  launch.store_port = static_cast<std::uint16_t>(
      number("MASTER_PORT", 1, std::numeric_limits<std::uint16_t>::max()));
  const char* agent_store = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  launch.store_is_launchers = agent_store != nullptr && std::string_view(agent_store) == "True";
  if (launch.store_is_launchers && std::getenv("TORCHELASTIC_RESTART_COUNT") != nullptr) {
    launch.restarts = number("TORCHELASTIC_RESTART_COUNT", 0, std::numeric_limits<int>::max());
  }
  return launch;
}

}  // namespace models::multimodal
