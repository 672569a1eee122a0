// What the project's .clang-tidy files say about devsan's rules, file by file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/rule_set.h"

namespace devsan::lint {

class TidyConfig {
 public:
  // Reads the configuration of every folder that one of `files` lies in: the nearest .clang-tidy
  // upwards, on top of those above it where it has InheritParentConfig. `rules` is what --rules
  // says: it comes last and wins. Throws std::invalid_argument with one line that names file and
  // line when one cannot be read or names a rule that is none.
  TidyConfig(const std::vector<std::string>& files, const std::string& rules);

  // Of one of the files. A list of checks that nowhere says "devsan" is about other checks: then
  // the defaults hold.
  const RuleSet& rules_for(const std::string& file) const;

  // Whether WarningsAsErrors has this rule, "dropped-move", in the configuration for `file`.
  bool is_error(const std::string& file, const std::string& rule) const;

 private:
  struct Settings {
    RuleSet rules;
    std::string errors;
  };

  static Settings read(const std::string& folder, const std::string& rules);
  const Settings& settings_for(const std::string& file) const;

  std::map<std::string, Settings> by_folder_;
};

}  // namespace devsan::lint
