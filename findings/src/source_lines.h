// Lines of source files, for reports that quote them. Files are read once and kept.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace devsan {

class SourceLines {
 public:
  // Line `number` (from 1) of `file` without its end; empty when there is none to be read.
  const std::string& line(const std::string& file, int number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

// `path` as it is shown: relative to the working folder where it lies below it.
std::string shown_path(const std::string& path);

// "train.py:38"; without a line the path alone, empty without a file.
std::string shown_place(const std::string& file, int line);

}  // namespace devsan
