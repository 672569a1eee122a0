// Files that are read at once and replaced at once: nobody ever sees half of one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace devsan::lint {

// The bytes of a file; empty when it cannot be read.
std::string read_file(const std::filesystem::path& path);

// Writes a new file beside `path` and renames it over it; links are followed, permissions kept,
// a read-only file is left alone.
// What is no regular file (a pipe, a terminal) is written to as it is. False when that fails; the
// old file is then untouched and nothing is left beside it.
bool replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace devsan::lint
