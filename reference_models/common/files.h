// Files that the reference models read and write whole.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace models {

// The file that ci/setup puts under .deps/data of the repository, seen from the working folder or
// from the program. Throws UsageError when there is none.
std::filesystem::path find_data(std::string_view name);

// Throws UsageError, which names the option --checkpoint, when `file` could not be written later.
void check_can_write(const std::filesystem::path& file);

// Throws UsageError when `path` is not a file that can be read; `kind` says what it should be, as
// in "checkpoint".
std::vector<char> read_file(const std::filesystem::path& path, std::string_view kind);

// Writes beside `path` and renames: an older file there is whole until the new one is. Throws
// UsageError when it cannot.
void write_file(const std::filesystem::path& path, std::string_view kind,
                const std::vector<char>& bytes);

}  // namespace models
