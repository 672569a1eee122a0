// A fuzz target without libFuzzer: its seeds, and for each a number of changed forms that are the
// same in every run.
//
// usage: replay CHANGES FILES...   of a page of the docs, the examples of C++ are the seeds
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "target.h"

namespace {

std::vector<std::string> seeds_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream stream;
  stream << in.rdbuf();
  const std::string text = stream.str();
  if (!path.ends_with(".md")) return {text};
  const std::string fence = "```cpp\n";
  std::vector<std::string> seeds;
  for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    seeds.push_back(text.substr(at, text.find("```", at) - at));
  }
  return seeds;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: replay CHANGES FILES...\n";
    return 2;
  }
  const unsigned changes = static_cast<unsigned>(std::atoi(argv[1]));
  unsigned inputs = 0;
  for (int i = 2; i < argc; ++i) {
    for (const std::string& seed : seeds_in(argv[i])) {
      run(seed);
      std::string input = seed;
      for (unsigned change = 1; change <= changes; ++change) {
        input = devsan::fuzz::mutated(change % 8 == 1 ? seed : input, change);
        run(input);
      }
      inputs += 1 + changes;
    }
  }
  std::cout << inputs << " inputs\n";
  return inputs > 0 ? 0 : 1;
}
