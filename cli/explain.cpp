// `devsan explain [RULE]`: the rule's page, or the list of rules.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <stdexcept>

#include "commands.h"
#include "devsan/findings/catalogue.h"

namespace devsan {
namespace {

std::string typed_id(const Rule& rule) {
  return (rule.half == Half::kLint ? "devsan-" : "") + std::string(rule.id);
}

void list_rules() {
  for (const Rule& rule : rules()) {
    std::cout << fmt::format("{:<8} {:<28} {}\n", to_string(rule.level), typed_id(rule),
                             rule.summary);
  }
  std::cout << "\ndevsan explain RULE shows one rule's page.\n";
}

}  // namespace

int explain(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    list_rules();
    return 0;
  }
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    std::cout << "devsan explain [RULE]\n\nExample: devsan explain devsan-dropped-move\n";
    return 0;
  }
  if (arguments.size() > 1) throw std::invalid_argument("explain takes one rule");
  // Without the prefix a name that both halves have is run's.
  const Rule* rule =
      arguments[0].starts_with("devsan-") ? nullptr : find_rule(arguments[0], Half::kRun);
  if (rule == nullptr) rule = find_rule(arguments[0], Half::kLint);
  if (rule == nullptr) {
    std::string known;
    for (const Rule& each : rules()) known += (known.empty() ? "" : ", ") + typed_id(each);
    throw std::invalid_argument(
        fmt::format("there is no rule '{}'; there are {}", arguments[0], known));
  }
  const auto page =
      installation() / "share" / "devsan" / "rules" / (std::string(rule->page) + ".md");
  std::ifstream in(page);
  if (!in) throw std::runtime_error(fmt::format("the page {} is missing", page.string()));
  std::cout << in.rdbuf();
  return 0;
}

}  // namespace devsan
