// Reading lines of source, and how paths are shown.
#include "source_lines.h"

#include <filesystem>
#include <fstream>

namespace devsan {

const std::string& SourceLines::line(const std::string& file, int number) {
  static const std::string kNone;
  auto [entry, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) entry->second.push_back(text);
  }
  const auto index = static_cast<std::size_t>(number) - 1;
  return number > 0 && index < entry->second.size() ? entry->second[index] : kNone;
}

std::string shown_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return path;
  const std::filesystem::path relative = std::filesystem::path(path).lexically_relative(here);
  return relative.empty() || relative.begin()->string() == ".." ? path : relative.string();
}

std::string shown_place(const std::string& file, int line) {
  if (file.empty()) return {};
  return line > 0 ? shown_path(file) + ":" + std::to_string(line) : shown_path(file);
}

}  // namespace devsan
