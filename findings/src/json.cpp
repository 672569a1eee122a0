// Findings as JSON and back. The names are a contract: additions are allowed, renames are not.
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "devsan/findings/catalogue.h"
#include "devsan/findings/writers.h"
#include "source_lines.h"

namespace devsan {
namespace {

using Json = nlohmann::ordered_json;

// Invalid UTF-8 in a source line or a name must not cost the report.
constexpr auto kOnBadUtf8 = Json::error_handler_t::replace;

void put_range(Json& json, const SourceRange& range) {
  json["file"] = range.file;
  json["line"] = range.line;
  json["column"] = range.column;
  json["end_line"] = range.end_line;
  json["end_column"] = range.end_column;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json frames_json(const std::vector<Frame>& frames) {
  Json list = Json::array();
  for (const Frame& frame : frames) {
    list.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return list;
}

Json path_json(const std::vector<PathStep>& path) {
  Json list = Json::array();
  for (const PathStep& step : path) {
    Json json = {{"label", step.label}, {"device", step.device}};
    put_range(json, step.place);
    json["note"] = step.note;
    json["code"] = step.code;
    json["stack"] = frames_json(step.stack);
    list.push_back(std::move(json));
  }
  return list;
}

Json arguments_json(const std::vector<Argument>& arguments) {
  Json list = Json::array();
  for (const Argument& argument : arguments) {
    list.push_back({{"name", argument.name},
                    {"dtype", argument.dtype},
                    {"shape", argument.shape},
                    {"device", argument.device},
                    {"parameter", or_null(argument.parameter)},
                    {"odd", argument.odd}});
  }
  return list;
}

void put_run(Json& json, const RunFacts& run) {
  json["process"] = run.process;
  json["rank"] = run.rank;
  json["world_size"] = run.world_size;
  json["ranks"] = run.ranks.empty() ? std::vector{run.rank} : run.ranks;
  json["step"] = run.step;
  json["collectives"] = run.collectives;
  json["time_us"] = run.time_us;
  json["op"] = {
      {"name", run.op.name}, {"sequence", run.op.sequence}, {"backward", run.op.backward}};
  json["inner_op"] = run.inner_op;
  json["error"] = run.error;
  json["arguments"] = arguments_json(run.arguments);
  json["stack"] = frames_json(run.stack);
  json["forward_stack"] = frames_json(run.forward_stack);
  if (run.count > 0) {
    json["count"] = run.count;
    json["bytes"] = run.bytes;
    json["steps"] = run.steps;
  }
  if (!run.own_device.empty()) json["own_device"] = run.own_device;
}

Json process_json(const ReportedProcess& process) {
  return {{"pid", process.pid},
          {"rank", or_null(process.rank)},
          {"world_size", or_null(process.world_size)},
          {"local_rank", or_null(process.local_rank)},
          {"own_device", or_null(process.own_device)}};
}

Json finding_json(const Finding& finding, SourceLines& sources) {
  Json json = {{"rule", public_id(finding)},
               {"level", to_string(finding.level)},
               {"message", finding.message}};
  put_range(json, finding.place);
  json["why"] = finding.why;
  json["advice"] = finding.advice;
  json["fingerprint"] = fingerprint(finding, sources.line(finding.place.file, finding.place.line));
  json["path"] = path_json(finding.path);
  json["fixes"] = Json::array();
  for (const Fix& fix : finding.fixes) {
    Json entry;
    put_range(entry, fix.place);
    entry["text"] = fix.text;
    json["fixes"].push_back(std::move(entry));
  }
  if (finding.run) put_run(json, *finding.run);
  return json;
}

// ------------------------------------------------------------------------------------------
// reading

SourceRange get_range(const Json& json) {
  return {json.at("file").get<std::string>(), json.at("line").get<int>(), json.value("column", 0),
          json.value("end_line", 0), json.value("end_column", 0)};
}

std::vector<Frame> get_frames(const Json& json, const char* key) {
  std::vector<Frame> frames;
  for (const Json& frame : json.value(key, Json::array())) {
    frames.push_back({frame.at("function").get<std::string>(), frame.at("file").get<std::string>(),
                      frame.at("line").get<int>()});
  }
  return frames;
}

Level get_level(const Json& json) {
  const auto text = json.at("level").get<std::string>();
  for (const Level level : {Level::kNote, Level::kWarning, Level::kError}) {
    if (text == to_string(level)) return level;
  }
  throw std::runtime_error(fmt::format("level '{}' is not note, warning or error", text));
}

RunFacts get_run(const Json& json) {
  RunFacts run;
  run.process = json.value("process", std::int64_t{0});
  run.rank = json.at("rank").get<int>();
  run.world_size = json.at("world_size").get<int>();
  run.ranks = json.value("ranks", std::vector<int>());
  if (run.ranks.size() < 2) run.ranks.clear();
  run.step = json.at("step").get<std::int64_t>();
  run.collectives = json.value("collectives", std::int64_t{0});
  run.time_us = json.value("time_us", std::int64_t{0});
  const Json& op = json.at("op");
  run.op = {op.at("name").get<std::string>(), op.at("sequence").get<std::int64_t>(),
            op.at("backward").get<bool>()};
  run.inner_op = json.value("inner_op", "");
  run.error = json.value("error", "");
  for (const Json& argument : json.at("arguments")) {
    Argument read{argument.at("name").get<std::string>(),
                  argument.at("dtype").get<std::string>(),
                  argument.at("shape").get<std::vector<std::int64_t>>(),
                  argument.at("device").get<std::string>(),
                  std::nullopt,
                  argument.at("odd").get<bool>()};
    if (const Json& name = argument.at("parameter"); !name.is_null()) {
      read.parameter = name.get<std::string>();
    }
    run.arguments.push_back(std::move(read));
  }
  run.stack = get_frames(json, "stack");
  run.forward_stack = get_frames(json, "forward_stack");
  run.count = json.value("count", std::int64_t{0});
  run.bytes = json.value("bytes", std::int64_t{0});
  run.steps = json.value("steps", std::int64_t{0});
  run.own_device = json.value("own_device", "");
  return run;
}

Finding get_finding(const Json& json) {
  Finding finding;
  const auto id = json.at("rule").get<std::string>();
  const bool is_run = json.contains("op");
  const Rule* rule = find_rule(id, is_run ? Half::kRun : Half::kLint);
  if (rule == nullptr) throw std::runtime_error(fmt::format("there is no rule '{}'", id));
  finding.rule = rule->id;
  finding.level = get_level(json);
  finding.message = json.at("message").get<std::string>();
  finding.place = get_range(json);
  finding.why = json.value("why", "");
  finding.advice = json.value("advice", "");
  for (const Json& step : json.at("path")) {
    finding.path.push_back({step.at("label").get<std::string>(),
                            step.at("device").get<std::string>(), step.value("note", ""),
                            get_range(step), step.value("code", ""), get_frames(step, "stack")});
  }
  for (const Json& fix : json.at("fixes")) {
    finding.fixes.push_back({get_range(fix), fix.at("text").get<std::string>()});
  }
  if (is_run) finding.run = get_run(json);
  return finding;
}

template <class T>
std::optional<T> get_optional(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? std::nullopt : std::optional(found->get<T>());
}

ReportedProcess get_process(const Json& json) {
  return {json.at("pid").get<std::int64_t>(), get_optional<int>(json, "rank"),
          get_optional<int>(json, "world_size"), get_optional<int>(json, "local_rank"),
          get_optional<std::string>(json, "own_device")};
}

// What `get` makes of the document.
template <class Get>
auto read_report(std::string_view text, Get&& get) {
  try {
    const Json document = Json::parse(text);
    if (document.value("tool", "") != "devsan") {
      throw std::runtime_error("not a report of DevSan: \"tool\" is not \"devsan\"");
    }
    return get(document);
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("not a report of DevSan: {}", error.what()));
  }
}

}  // namespace

void write_json(std::ostream& out, std::span<const Finding> findings,
                const ReportedProcess* process) {
  SourceLines sources;
  Json document = {{"tool", "devsan"}, {"version", DEVSAN_VERSION}, {"findings", Json::array()}};
  if (process) document["process"] = process_json(*process);
  for (const Finding& finding : findings) {
    document["findings"].push_back(finding_json(finding, sources));
  }
  out << document.dump(2, ' ', false, kOnBadUtf8) << '\n';
}

std::vector<Finding> read_json(std::string_view text) {
  return read_report(text, [](const Json& document) {
    std::vector<Finding> findings;
    for (const Json& json : document.at("findings")) findings.push_back(get_finding(json));
    return findings;
  });
}

std::optional<ReportedProcess> read_process(std::string_view text) {
  return read_report(text, [](const Json& document) {
    const auto process = document.find("process");
    return process == document.end() ? std::nullopt : std::optional(get_process(*process));
  });
}

}  // namespace devsan
