// The user's cache folder: where it is, and the one size limit for all that lint keeps in it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace devsan::lint {

// $XDG_CACHE_HOME/devsan or ~/.cache/devsan; empty when the user has neither.
std::filesystem::path user_cache_folder();

// Lint's own folders in it.
inline constexpr const char* kHeadersFolder = "headers";
inline constexpr const char* kResultsFolder = "results";

// What was used last goes last.
void mark_used(const std::filesystem::path& file);

// Removes what was not used for the longest time until what lint keeps in `folder`, headers and
// results, takes at most `limit` bytes. Files of one name with other endings go together. What was
// used within the last minutes stays: another run may be about to read it. What else lies in
// `folder` is not lint's: ci/setup keeps a Python environment there.
void prune_cache(const std::filesystem::path& folder, std::uint64_t limit);

}  // namespace devsan::lint
