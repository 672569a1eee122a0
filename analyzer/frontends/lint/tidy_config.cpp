// clang-tidy's own parser reads the files.
#include "tidy_config.h"

#include <filesystem>
#include <optional>
#include <stdexcept>

#include "clang-tidy/ClangTidyOptions.h"
#include "clang-tidy/GlobList.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace tidy = clang::tidy;
namespace {

struct Parsed {
  tidy::ClangTidyOptions options;
  std::string path;  // of the nearest file
};

tidy::ClangTidyOptions parse(const std::string& path, llvm::MemoryBufferRef text) {
  std::string problem;
  const auto options = tidy::parseConfigurationWithDiags(
      llvm::MemoryBufferRef(text.getBuffer(), path), [&](const llvm::SMDiagnostic& diagnostic) {
        if (diagnostic.getKind() != llvm::SourceMgr::DK_Error || !problem.empty()) return;
        problem = path + ":" + std::to_string(diagnostic.getLineNo()) + ": " +
                  diagnostic.getMessage().str();
      });
  if (!problem.empty()) throw std::invalid_argument(problem);
  if (!options) throw std::invalid_argument(path + ": cannot be read as clang-tidy's options");
  return *options;
}

// The nearest configuration at or above `folder`; nothing when there is none.
std::optional<Parsed> find(const fs::path& folder) {
  for (fs::path at = folder;; at = at.parent_path()) {
    const std::string path = (at / ".clang-tidy").string();
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      const auto text = llvm::MemoryBuffer::getFile(path);
      if (!text) throw std::invalid_argument(path + ": cannot be read");
      Parsed parsed{parse(path, **text), path};
      if (!parsed.options.InheritParentConfig.value_or(false) || at == at.root_path()) {
        return parsed;
      }
      auto above = find(at.parent_path());
      if (!above) return parsed;
      above->options.mergeWith(parsed.options, /*Order=*/1);
      return Parsed{std::move(above->options), path};
    }
    if (at == at.root_path() || at.empty()) return std::nullopt;
  }
}

// The entries of a list of checks that can be about devsan's rules; empty when none speaks of them.
std::string entries_about_rules(llvm::StringRef checks) {
  llvm::SmallVector<llvm::StringRef, 16> entries;
  checks.split(entries, ',', -1, false);
  std::string list;
  bool about_devsan = false;
  for (const llvm::StringRef entry : entries) {
    llvm::StringRef glob = entry.trim();
    glob.consume_front("-");
    const bool named = glob.starts_with("devsan");
    about_devsan |= named;
    if (named || glob == "*") list += entry.trim().str() + ",";
  }
  return about_devsan ? list : std::string();
}

bool is_set(const tidy::ClangTidyOptions& options, llvm::StringRef name) {
  const auto option = options.CheckOptions.find(name);
  return option != options.CheckOptions.end() && option->second.Value == "true";
}

std::string folder_of(const std::string& file) {
  return fs::path(file).parent_path().string();
}

}  // namespace

TidyConfig::Settings TidyConfig::read(const std::string& folder, const std::string& rules) {
  const auto parsed = find(folder);
  if (!parsed) return {RuleSet::parse(rules), ""};
  std::string list = entries_about_rules(parsed->options.Checks.value_or(""));
  RuleSet of_file;
  try {
    of_file = RuleSet::parse(list);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(parsed->path + ": Checks: " + error.what());
  }
  if (of_file.hard_coded_device &&
      is_set(parsed->options, "devsan-hard-coded-device.SetUpAndTests")) {
    list += "devsan-hard-coded-device-setup,";
  }
  return {RuleSet::parse(list + rules), parsed->options.WarningsAsErrors.value_or("")};
}

TidyConfig::TidyConfig(const std::vector<std::string>& files, const std::string& rules) {
  for (const std::string& file : files) {
    const auto [entry, is_new] = by_folder_.try_emplace(folder_of(file));
    if (is_new) entry->second = read(entry->first, rules);
  }
}

const TidyConfig::Settings& TidyConfig::settings_for(const std::string& file) const {
  return by_folder_.at(folder_of(file));
}

const RuleSet& TidyConfig::rules_for(const std::string& file) const {
  return settings_for(file).rules;
}

bool TidyConfig::is_error(const std::string& file, const std::string& rule) const {
  const std::string& errors = settings_for(file).errors;
  return !errors.empty() && tidy::GlobList(errors).contains("devsan-" + rule);
}

}  // namespace devsan::lint
