// Findings as SARIF 2.1.0 (OASIS, errata 01): code flows, fixes, fingerprints, and what a run knew
// as properties.
#include <filesystem>
#include <map>
#include <ostream>

#include <nlohmann/json.hpp>

#include "devsan/findings/catalogue.h"
#include "devsan/findings/writers.h"
#include "source_lines.h"

namespace devsan {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSourceRoot = "SRCROOT";

std::string percent_encoded(std::string_view path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

std::string folder_uri(const std::filesystem::path& folder) {
  return "file://" + percent_encoded(folder.string()) + "/";
}

// What code scanning services want paths to be relative to: the repository that the run is in, else
// the working folder.
std::filesystem::path source_root() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (fs::path folder = here;; folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder;
    if (!folder.has_relative_path()) return here;
  }
}

class SarifWriter {
 public:
  Json document(std::span<const Finding> findings) {
    Json rule_list = Json::array();
    for (const Rule& rule : rules()) rule_list.push_back(rule_json(rule));
    Json results = Json::array();
    for (const Finding& finding : findings) results.push_back(result(finding));
    Json run = {
        {"tool",
         {{"driver",
           {{"name", "devsan"}, {"semanticVersion", DEVSAN_VERSION}, {"rules", rule_list}}}}},
        {"columnKind", "unicodeCodePoints"},
        {"originalUriBaseIds", {{kSourceRoot, {{"uri", folder_uri(root_)}}}}},
        {"results", results}};
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({std::move(run)})}};
  }

 private:
  static std::string rule_id(const Rule& rule) {
    return (rule.half == Half::kLint ? "devsan-" : "") + std::string(rule.id);
  }

  static Json rule_json(const Rule& rule) {
    const std::string id = rule_id(rule);
    const Json summary = {{"text", std::string(rule.summary)}};
    // GitHub shows a rule only with all of these.
    return {{"id", id},
            {"shortDescription", summary},
            {"fullDescription", summary},
            {"help", {{"text", "devsan explain " + std::string(rule.id) + " shows its page."}}},
            {"defaultConfiguration", {{"level", to_string(rule.level)}}},
            {"properties", {{"tags", Json::array({"device-placement", "pytorch"})}}}};
  }

  Json artifact(const std::string& file) const {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path path = fs::absolute(file, error).lexically_normal();
    const fs::path relative = path.lexically_relative(root_);
    if (relative.empty() || *relative.begin() == "..") {
      return {{"uri", "file://" + percent_encoded(path.string())}};
    }
    return {{"uri", percent_encoded(relative.string())}, {"uriBaseId", kSourceRoot}};
  }

  static std::size_t rule_index(const Finding& finding) {
    std::size_t index = 0;
    while (index < rules().size() && rule_id(rules()[index]) != public_id(finding)) ++index;
    return index;
  }

  // Our columns count bytes; SARIF's, here, count code points.
  int code_point_column(const std::string& file, int line, int column) {
    const std::string& text = sources_.line(file, line);
    int points = 1;
    for (int i = 0; i + 1 < column; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) ++points;
    }
    return points;
  }

  Json region(const SourceRange& range) {
    Json json = {{"startLine", range.line}};
    if (range.column > 0) {
      json["startColumn"] = code_point_column(range.file, range.line, range.column);
    }
    if (range.end_line > 0 && range.end_column > 0) {
      json["endLine"] = range.end_line;
      json["endColumn"] = code_point_column(range.file, range.end_line, range.end_column);
    }
    return json;
  }

  Json location(const SourceRange& range, const std::string& message) {
    Json json = Json::object();
    if (range.known()) {
      json["physicalLocation"] = {{"artifactLocation", artifact(range.file)},
                                  {"region", region(range)}};
    }
    if (!message.empty()) json["message"] = {{"text", message}};
    return json;
  }

  Json stack(const std::vector<Frame>& frames, const std::string& message) {
    Json list = Json::array();
    for (const Frame& frame : frames) {
      Json where = location({frame.file, frame.line, 0, 0, 0}, frame.function);
      list.push_back({{"location", std::move(where)}});
    }
    return {{"message", {{"text", message}}}, {"frames", std::move(list)}};
  }

  Json code_flow(const std::vector<PathStep>& path) {
    // Paths run back from the use; a code flow is read forward.
    Json steps = Json::array();
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      std::string text = step->label;
      if (!step->device.empty()) text += " on " + step->device;
      if (!step->note.empty()) text += ", " + step->note;
      Json entry = {{"location", location(step->place, text)}};
      if (!step->stack.empty()) entry["stack"] = stack(step->stack, text);
      steps.push_back(std::move(entry));
    }
    return {{"threadFlows", Json::array({{{"locations", std::move(steps)}}})}};
  }

  Json fix(const Fix& fix, const std::string& advice) {
    Json replacement = {{"deletedRegion", region(fix.place)},
                        {"insertedContent", {{"text", fix.text}}}};
    return {{"description", {{"text", advice.empty() ? "apply the suggested edit" : advice}}},
            {"artifactChanges",
             Json::array({{{"artifactLocation", artifact(fix.place.file)},
                           {"replacements", Json::array({std::move(replacement)})}}})}};
  }

  static std::string message(const Finding& finding) {
    std::string text = finding.message;
    if (!finding.why.empty()) text += "\n" + finding.why;
    if (!finding.advice.empty()) text += "\nFix: " + finding.advice;
    return text;
  }

  static Json run_properties(const RunFacts& run) {
    Json arguments = Json::array();
    for (const Argument& argument : run.arguments) {
      arguments.push_back({{"name", argument.name},
                           {"device", argument.device},
                           {"parameter", argument.parameter ? Json(*argument.parameter) : Json()},
                           {"odd", argument.odd}});
    }
    return {{"rank", run.rank},
            {"worldSize", run.world_size},
            {"step", run.step},
            {"ranks", run.ranks.empty() ? std::vector{run.rank} : run.ranks},
            {"op", run.op.name},
            {"sequence", run.op.sequence},
            {"backward", run.op.backward},
            {"error", run.error},
            {"arguments", std::move(arguments)}};
  }

  Json result(const Finding& finding) {
    Json json = {{"ruleId", public_id(finding)},
                 {"ruleIndex", rule_index(finding)},
                 {"level", to_string(finding.level)},
                 {"message", {{"text", message(finding)}}}};
    if (finding.place.known()) json["locations"] = Json::array({location(finding.place, "")});
    const std::string print =
        fingerprint(finding, sources_.line(finding.place.file, finding.place.line));
    // The one name that GitHub knows; where a finding is there twice, each has its number.
    json["partialFingerprints"] = {
        {"devsan/v1", print},
        {"primaryLocationLineHash", print + ":" + std::to_string(++seen_[print])}};
    if (!finding.path.empty()) json["codeFlows"] = Json::array({code_flow(finding.path)});
    if (finding.run) {
      Json stacks = Json::array();
      if (!finding.run->stack.empty()) {
        stacks.push_back(stack(finding.run->stack, "where the op was called"));
      }
      if (!finding.run->forward_stack.empty()) {
        stacks.push_back(stack(finding.run->forward_stack, "where its forward op was called"));
      }
      if (!stacks.empty()) json["stacks"] = std::move(stacks);
      json["properties"] = run_properties(*finding.run);
    }
    if (!finding.fixes.empty()) {
      json["fixes"] = Json::array();
      for (const Fix& edit : finding.fixes) json["fixes"].push_back(fix(edit, finding.advice));
    }
    return json;
  }

  const std::filesystem::path root_ = source_root();
  SourceLines sources_;
  std::map<std::string, int> seen_;  // fingerprints
};

}  // namespace

void write_sarif(std::ostream& out, std::span<const Finding> findings) {
  out << SarifWriter().document(findings).dump(2, ' ', false, Json::error_handler_t::replace)
      << '\n';
}

}  // namespace devsan
