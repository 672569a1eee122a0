// Fingerprints in a JSON file that version control can merge: one finding a line, in order.
#include "baseline.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "whole_files.h"

namespace devsan::lint {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Finding& finding) {
  std::ifstream in(finding.place.file);
  std::string text;
  for (int line = 0; line < finding.place.line && std::getline(in, text);) ++line;
  return text;
}

std::string fingerprint_of(const Finding& finding) {
  return fingerprint(finding, line_of(finding));
}

}  // namespace

void write_baseline(const std::string& path, const std::vector<Finding>& findings) {
  std::vector<std::string> entries;
  for (const Finding& finding : findings) {
    const std::size_t slash = finding.place.file.find_last_of('/');
    const Json entry = {{"rule", "devsan-" + finding.rule},
                        {"file", finding.place.file.substr(slash + 1)},
                        {"fingerprint", fingerprint_of(finding)}};
    entries.push_back(entry.dump());
  }
  std::sort(entries.begin(), entries.end());
  std::ostringstream out;
  out << "{\"tool\": \"devsan\", \"baseline\": 1, \"findings\": [";
  const char* separator = "\n";
  for (const std::string& entry : entries) {
    out << separator << "  " << entry;
    separator = ",\n";
  }
  out << "\n]}\n";
  if (!replace_file(path, out.str()))
    throw std::runtime_error("--write-baseline: cannot write to '" + path + "'");
}

int subtract_baseline(const std::string& path, std::vector<Finding>& findings) {
  std::ifstream in(path);
  if (!in) throw std::invalid_argument("--baseline: cannot read '" + path + "'");
  std::map<std::string, int> known;
  try {
    const Json document = Json::parse(in);
    if (document.at("baseline") != 1) throw std::invalid_argument("another version");
    for (const Json& entry : document.at("findings")) {
      ++known[entry.at("fingerprint").get<std::string>()];
    }
  } catch (const std::exception&) {
    throw std::invalid_argument("--baseline: '" + path +
                                "' is not a file that --write-baseline wrote");
  }
  const std::size_t before = findings.size();
  std::erase_if(findings, [&](const Finding& finding) {
    const auto entry = known.find(fingerprint_of(finding));
    return entry != known.end() && entry->second-- > 0;
  });
  return static_cast<int>(before - findings.size());
}

}  // namespace devsan::lint
