// What a fuzz target gives: to libFuzzer, and to replay.cpp, which needs none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace devsan::fuzz {

// `input` changed in a way that `chance` decides alone.
std::string mutated(const std::string& input, unsigned chance);

}  // namespace devsan::fuzz
