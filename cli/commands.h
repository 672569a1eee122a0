// The commands that `devsan` carries out itself; every other one is a program beside it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace devsan {

// The folder that holds bin/, lib/ and share/ of this build.
std::filesystem::path installation();

// Each takes the arguments behind its name and returns an exit code. They throw
// std::invalid_argument with one line for wrong use.
int explain(const std::vector<std::string>& arguments);
int report(const std::vector<std::string>& arguments);
int doctor(const std::vector<std::string>& arguments);

}  // namespace devsan
