// Ctrl-C and SIGTERM: the program ends at once, with 130 or 143, and leaves nothing half done.
#pragma once

#include <filesystem>

namespace devsan::lint {

// Call it before any thread is started.
void end_on_interrupt();

// While it lives, an interrupt waits: for what must be done whole.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

// A folder that an interrupt takes away, one a program.
void remove_on_interrupt(const std::filesystem::path& folder);

}  // namespace devsan::lint
