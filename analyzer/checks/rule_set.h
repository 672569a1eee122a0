// Which rules run. Knows nothing of clang, so that command lines and tests can name rules cheaply.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace devsan::lint {

struct RuleSet {
  bool raw_pointer_space = true;
  bool stale_device_cache = true;
  bool asymmetric_move = true;
  bool asymmetric_move_unproven = false;  // opt-in: notes where the CPU is not certain
  bool collective_device = true;
  bool dropped_move = true;
  bool factory_without_device = true;
  bool frozen_device = true;
  bool hard_coded_device = true;
  bool hard_coded_device_set_up = false;  // opt-in: notes in programs' set-up and in tests
  bool hidden_sync = true;
  bool hidden_sync_unproven = false;  // opt-in: notes where the device is not certain
  bool load_without_device = true;
  bool missing_device_guard = true;
  bool mixed_devices = true;
  bool module_move_in_forward = true;
  bool optimizer_placement = true;
  bool replica_device = true;
  bool unmoved_tensor = true;
  bool unregistered_member = true;

  // Whether a rule, named with or without "devsan-", is on. A name that is no rule's counts as on:
  // who silences it is told that it silences nothing.
  bool runs(std::string_view rule) const;

  // Those that are on, in order.
  std::string names() const;

  // Changes the defaults by a list in clang-tidy's manner: `-devsan-x` leaves a rule out,
  // `devsan-y` puts it in, `*` stands for any letters, later entries win. What is opt-in must be
  // named in full. Throws std::invalid_argument with one line that says what is wrong and what is
  // accepted.
  static RuleSet parse(std::string_view list);
};

}  // namespace devsan::lint
