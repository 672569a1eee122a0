// Threads take files from one list; reports are kept in the order of the list.
#include "lint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <tuple>

#include "archive_report.h"
#include "baseline.h"
#include "cache_folder.h"
#include "changed_lines.h"
#include "compile_flags.h"
#include "header_cache.h"
#include "own_code.h"
#include "result_cache.h"
#include "safe_thread.h"
#include "second_pass.h"
#include "source_files.h"
#include "summary_json.h"
#include "suppressions.h"
#include "tidy_config.h"
#include "torch_location.h"
#include "unit_files.h"
#include "whole_files.h"

namespace devsan::lint {
namespace {

// A file, and what is known of functions in others.
struct Task {
  std::string file;
  const SummaryTable* known = nullptr;
};

// `12/48 model.cpp` on one line of a terminal; nothing when stderr is piped or there is little to
// do.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(total > 3 && ::isatty(2) == 1) {}
  ~Progress() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
  }

  void done(const std::string& file) {
    if (!shown_) return;
    const std::lock_guard<std::mutex> guard(mutex_);
    const std::string name = std::filesystem::path(file).filename().string();
    std::cerr << fmt::format("\r\033[K{}/{} {}", ++done_, total_, name) << std::flush;
  }

 private:
  const std::size_t total_;
  const bool shown_;
  std::mutex mutex_;
  std::size_t done_ = 0;
};

class Run {
 public:
  Run(const Options& options, const TidyConfig& config, const OwnCode& own, FlagSource& flags,
      HeaderCache& headers, HeaderIndices& indices, ResultCache& results)
      : options_(options),
        config_(config),
        own_(own),
        flags_(flags),
        headers_(headers),
        indices_(indices),
        results_(results) {}

  std::vector<UnitReport> analyse(const std::vector<std::string>& files) {
    std::vector<Task> tasks;
    for (const std::string& file : files) tasks.push_back({file});
    return analyse(tasks);
  }

  // Reports in the order of `tasks`, however many threads there are.
  std::vector<UnitReport> analyse(const std::vector<Task>& tasks) {
    std::vector<UnitReport> reports(tasks.size());
    Progress progress(tasks.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < tasks.size(); i = next++) {
        reports[i] = analyse_safely(tasks[i]);
        progress.done(tasks[i].file);
      }
    };
    const std::size_t threads = std::min<std::size_t>(thread_count(), tasks.size());
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    return reports;
  }

  // Files that no pass had to parse.
  int from_cache() const {
    return static_cast<int>(std::count_if(parsed_.begin(), parsed_.end(),
                                          [](const auto& entry) { return !entry.second; }));
  }

 private:
  unsigned thread_count() const {
    if (options_.threads > 0) return options_.threads;
    return std::max(1U, std::thread::hardware_concurrency());
  }

  // Code that makes clang crash costs its file, not the run.
  UnitReport analyse_safely(const Task& task) {
    UnitReport report;
    try {
      const bool survived = run_on_safe_thread([&] { report = analyse_one(task); });
      if (!survived) report.failure = "clang crashed while it parsed this file";
    } catch (const std::exception& what) {
      report.failure = what.what();
    }
    report.file = task.file;
    return report;
  }

  UnitReport analyse_one(const Task& task) {
    const std::string& file = task.file;
    const std::string text = read_file(file);
    FileFlags flags;
    {
      const std::lock_guard<std::mutex> guard(flags_mutex_);
      flags = flags_.flags_for(file);
    }
    const HeaderSet set = header_set_for(text);
    const RuleSet& rules = config_.rules_for(file);
    std::vector<std::string> settings = flags.rest;
    settings.push_back(HeaderCache::key_of(flags, set));
    settings.push_back(rules.names());
    const SummaryTable nothing;
    const SummaryTable& known = task.known == nullptr ? nothing : *task.known;
    if (known.size() > 0) settings.push_back(text_of(known));
    const std::string name = results_.name_of(file, settings);
    auto kept = results_.find(name);
    note(file, !kept);
    if (kept) return std::move(*kept);

    const std::string pch = headers_.pch_for(flags, set);
    FoundHeaders found(indices_, file);
    const auto files = llvm::makeIntrusiveRefCnt<UnitFiles>(flags.inferred ? &found : nullptr, pch);
    UnitReport report = analyse_unit(file, flags, pch, files, own_, rules, known);
    results_.store(name, report, files->record());
    return report;
  }

  static std::string text_of(const SummaryTable& known) {
    return to_json(known).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void note(const std::string& file, bool parsed) {
    const std::lock_guard<std::mutex> guard(parsed_mutex_);
    parsed_[file] |= parsed;
  }

  const Options& options_;
  const TidyConfig& config_;
  const OwnCode& own_;
  FlagSource& flags_;
  HeaderCache& headers_;
  HeaderIndices& indices_;
  ResultCache& results_;
  std::mutex flags_mutex_;
  std::mutex parsed_mutex_;
  std::map<std::string, bool> parsed_;  // by file: in this run, by any pass
};

auto order_of(const Finding& finding) {
  return std::tie(finding.place.file, finding.place.line, finding.place.column, finding.rule,
                  finding.message);
}

// What was held back until the callers in all files are known; of a function one finding.
void release_held(std::vector<UnitReport>& units) {
  GuardCallers callers;
  std::vector<GuardQuestion> asked;
  for (const UnitReport& unit : units) {
    callers.add(unit.guard_facts);
    for (const HeldFinding& held : unit.held) asked.push_back(held.question);
  }
  const std::set<std::string> unguarded = unguarded_functions(asked, callers);
  for (UnitReport& unit : units) {
    std::set<std::string> said;
    for (HeldFinding& held : unit.held) {
      if (!unguarded.contains(held.question.function)) continue;
      if (!held.question.is_answered_by(callers)) continue;
      if (!said.insert(held.question.function).second) continue;
      unit.findings.push_back(std::move(held.finding));
    }
    unit.held.clear();
  }
}

// A header's findings come from every file that includes it.
std::vector<Finding> gather(std::vector<UnitReport>& units, const TidyConfig& config) {
  std::vector<Finding> findings;
  for (UnitReport& unit : units) {
    for (Finding& finding : unit.findings) {
      const bool error =
          finding.level == Level::kWarning && config.is_error(unit.file, finding.rule);
      if (error) finding.level = Level::kError;
    }
    std::move(unit.findings.begin(), unit.findings.end(), std::back_inserter(findings));
    unit.findings.clear();
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (order_of(a) != order_of(b)) return order_of(a) < order_of(b);
    return a.level > b.level;  // of one finding the gravest is kept
  });
  const auto same = [](const Finding& a, const Finding& b) { return order_of(a) == order_of(b); };
  findings.erase(std::unique(findings.begin(), findings.end(), same), findings.end());
  return findings;
}

// Allow comments that silenced nothing in any unit, and those that cannot.
void find_stale_allows(const RunReport& report, std::vector<std::string>& stale) {
  std::set<AllowUse> read;
  std::set<AllowUse> used;
  for (const UnitReport& unit : report.units) {
    read.insert(unit.allows.begin(), unit.allows.end());
    used.insert(unit.allows_used.begin(), unit.allows_used.end());
  }
  for (const AllowUse& allow : read) {
    if (used.count(allow) > 0) continue;
    const std::string where =
        fmt::format("{}:{}: 'devsan: allow({})'", allow.file, allow.line, allow.rule);
    stale.push_back(where + (allow.has_reason
                                 ? " silences nothing any more"
                                 : " has no reason behind it, so it silences nothing"));
  }
}

// What is left of the findings after what the user asked not to see.
void leave_out(const Options& options, const std::vector<std::string>& roots, RunReport& report) {
  find_stale_allows(report, report.stale);
  if (!options.suppressions.empty()) {
    Suppressions suppressions(options.suppressions);
    report.suppressed = suppressions.apply(report.findings);
    for (const std::string& line : suppressions.stale()) {
      report.stale.push_back(line + ": suppresses nothing any more");
    }
  }
  if (!options.since.empty()) {
    const ChangedLines changed(options.since, roots);
    report.unchanged = static_cast<int>(std::erase_if(
        report.findings, [&](const Finding& finding) { return !changed.touches(finding); }));
  }
  if (!options.baseline.empty()) {
    report.in_baseline = subtract_baseline(options.baseline, report.findings);
  }
}

}  // namespace

RunReport lint(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const SourceFiles files = collect_files(options.paths);
  // Archives are read without LibTorch.
  const bool only_archives = files.units.empty() && files.headers.empty();
  FlagSource flags(options.build_folder,
                   only_archives ? TorchLocation() : find_torch(options.torch));
  std::vector<std::string> given = files.units;
  given.insert(given.end(), files.headers.begin(), files.headers.end());
  const OwnCode own(given, files.roots);
  given.insert(given.end(), files.archives.begin(), files.archives.end());
  const TidyConfig config(given, options.rules);
  HeaderCache headers(options.cache);
  HeaderIndices indices;
  const std::filesystem::path cache = options.cache ? user_cache_folder() : "";
  ResultCache results(cache.empty() ? cache : cache / kResultsFolder, own, indices);

  RunReport report;
  Run run(options, config, own, flags, headers, indices, results);
  report.units = run.analyse(files.units);

  // Headers of the given folders that no file included are read on their own.
  std::set<std::string> seen;
  for (const UnitReport& unit : report.units) {
    seen.insert(unit.own_files.begin(), unit.own_files.end());
  }
  std::vector<std::string> alone;
  for (const std::string& header : files.headers) {
    if (seen.count(header) == 0) alone.push_back(header);
  }
  for (UnitReport& unit : run.analyse(alone)) report.units.push_back(std::move(unit));

  second_pass(report.units, [&](const std::vector<Again>& round) {
    std::vector<Task> tasks;
    for (const auto& [unit, known] : round) tasks.push_back({report.units[unit].file, known});
    return run.analyse(tasks);
  });

  for (const std::string& archive : files.archives) {
    report.units.push_back(analyse_archive(archive, config.rules_for(archive)));
  }

  release_held(report.units);
  report.findings = gather(report.units, config);
  leave_out(options, files.roots, report);
  if (!cache.empty() && headers.built() + results.stored() > 0) {
    prune_cache(cache, options.cache_limit);
  }
  report.from_cache = run.from_cache();
  report.pchs_built = headers.built();
  report.pch_seconds = headers.build_seconds();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace devsan::lint
