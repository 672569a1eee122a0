// What options of the reference models accept, and how they say what they do not.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace models {

// A whole number from `least` to `most`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

CLI::Validator positive_number();

// One of some words.
CLI::Validator one_of(const std::vector<std::string>& names);

}  // namespace models
