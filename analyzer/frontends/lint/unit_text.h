// A unit's report as text and back, for the cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "translation_unit.h"
#include "unit_files.h"

namespace devsan::lint {

struct StoredUnit {
  UnitReport report;
  FileRecord files;
  std::set<std::string> own;  // of the files that were read: those that are the project's
};

// Nothing when the report would not come back as it is, which is so for text that is not UTF-8.
std::optional<std::string> to_text(const StoredUnit& unit);

// Nothing for what to_text did not write, or what is damaged.
std::optional<StoredUnit> from_text(std::string_view text);

}  // namespace devsan::lint
