// A line with a hash of the rest, a line of facts, and the findings as every report has them.
#include "unit_text.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "devsan/findings/writers.h"
#include "llvm/ADT/StringExtras.h"
#include "summary_json.h"

namespace devsan::lint {
namespace {

using Json = nlohmann::json;

Json allows_json(const std::set<AllowUse>& allows) {
  Json list = Json::array();
  for (const auto& [file, line, rule, has_reason] : allows) {
    list.push_back({file, line, rule, has_reason});
  }
  return list;
}

std::set<AllowUse> get_allows(const Json& list) {
  std::set<AllowUse> allows;
  for (const Json& allow : list) {
    allows.insert({allow.at(0).get<std::string>(), allow.at(1).get<unsigned>(),
                   allow.at(2).get<std::string>(), allow.at(3).get<bool>()});
  }
  return allows;
}

Json guards_json(const UnitReport& report) {
  const auto& [calls, users, tensorless, handed_on, local] = report.guard_facts;
  Json call_list = Json::array();
  for (const auto& [caller, callee, guarded] : calls)
    call_list.push_back({caller, callee, guarded});
  Json held = Json::array();
  for (const auto& [question, finding] : report.held) {
    held.push_back({question.function, question.launcher});
  }
  return {{"calls", call_list},     {"users", users}, {"tensorless", tensorless},
          {"handed_on", handed_on}, {"local", local}, {"held", held}};
}

// The held findings themselves are stored behind the others.
void get_guards(const Json& json, UnitReport& report) {
  GuardFacts& facts = report.guard_facts;
  for (const Json& call : json.at("calls")) {
    facts.calls.insert(
        {call.at(0).get<std::string>(), call.at(1).get<std::string>(), call.at(2).get<bool>()});
  }
  json.at("users").get_to(facts.users);
  json.at("tensorless").get_to(facts.tensorless);
  json.at("handed_on").get_to(facts.handed_on);
  json.at("local").get_to(facts.local);
  for (const Json& question : json.at("held")) {
    report.held.push_back(
        {{question.at(0).get<std::string>(), question.at(1).get<std::string>()}, {}});
  }
}

// The findings, then those that are held.
std::vector<Finding> all_findings(const UnitReport& report) {
  std::vector<Finding> all = report.findings;
  for (const HeldFinding& held : report.held) all.push_back(held.finding);
  return all;
}

void get_findings(std::vector<Finding> all, UnitReport& report) {
  const std::size_t count = all.size() - report.held.size();
  for (std::size_t i = 0; i < report.held.size(); ++i) {
    report.held[i].finding = std::move(all.at(count + i));
  }
  all.resize(count);
  report.findings = std::move(all);
}

Json facts_json(const StoredUnit& unit) {
  // Every member by name of its place: one that is added does not compile here until it is stored.
  const auto& [file, failure, findings, held, guard_facts, confidence, missing_headers, first_error,
               own_files, inferred_flags, cuda_headers_missing, allows, allows_used,
               functions_over_limit, summaries, asked, summaries_used] = unit.report;
  const auto& [functions, broken_functions, statements, broken_statements, declarations] =
      confidence;
  const auto& [read, absent, found] = unit.files;
  return {
      {"file", file},
      {"failure", failure},
      {"confidence", {functions, broken_functions, statements, broken_statements, declarations}},
      {"missing_headers", missing_headers},
      {"first_error", first_error},
      {"own_files", own_files},
      {"inferred_flags", inferred_flags},
      {"cuda_headers_missing", cuda_headers_missing},
      {"guards", guards_json(unit.report)},
      {"allows", allows_json(allows)},
      {"allows_used", allows_json(allows_used)},
      {"functions_over_limit", functions_over_limit},
      {"summaries", to_json(summaries)},
      {"asked", asked},
      {"summaries_used", summaries_used},
      {"read", read},
      {"absent", absent},
      {"found", found},
      {"own", unit.own}};
}

StoredUnit get_facts(const Json& json) {
  StoredUnit unit;
  UnitReport& report = unit.report;
  json.at("file").get_to(report.file);
  json.at("failure").get_to(report.failure);
  const Json& confidence = json.at("confidence");
  report.confidence = {confidence.at(0).get<int>(), confidence.at(1).get<int>(),
                       confidence.at(2).get<int>(), confidence.at(3).get<int>(),
                       confidence.at(4).get<int>()};
  json.at("missing_headers").get_to(report.missing_headers);
  json.at("first_error").get_to(report.first_error);
  json.at("own_files").get_to(report.own_files);
  json.at("inferred_flags").get_to(report.inferred_flags);
  json.at("cuda_headers_missing").get_to(report.cuda_headers_missing);
  get_guards(json.at("guards"), report);
  report.allows = get_allows(json.at("allows"));
  report.allows_used = get_allows(json.at("allows_used"));
  json.at("functions_over_limit").get_to(report.functions_over_limit);
  report.summaries = summaries_of(json.at("summaries"));
  json.at("asked").get_to(report.asked);
  json.at("summaries_used").get_to(report.summaries_used);
  json.at("read").get_to(unit.files.read);
  json.at("absent").get_to(unit.files.absent);
  json.at("found").get_to(unit.files.found);
  json.at("own").get_to(unit.own);
  return unit;
}

std::string hash_text(std::string_view text) {
  return llvm::utohexstr(hash_of(text), /*LowerCase=*/true, /*Width=*/16);
}

}  // namespace

std::optional<std::string> to_text(const StoredUnit& unit) {
  try {
    std::ostringstream findings;
    const std::vector<Finding> all = all_findings(unit.report);
    write_json(findings, all);
    if (read_json(findings.str()) != all) return std::nullopt;
    const std::string body = facts_json(unit).dump() + "\n" + findings.str();
    return hash_text(body) + "\n" + body;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<StoredUnit> from_text(std::string_view text) {
  const std::size_t first = text.find('\n');
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view body = text.substr(first + 1);
  if (text.substr(0, first) != hash_text(body)) return std::nullopt;
  try {
    const std::size_t second = body.find('\n');
    StoredUnit unit = get_facts(Json::parse(body.substr(0, second)));
    get_findings(read_json(body.substr(second)), unit.report);
    return unit;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace devsan::lint
