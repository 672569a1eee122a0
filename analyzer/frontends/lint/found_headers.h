// For a file whose flags are guessed: where in the project the headers are that these flags do not
// lead to. They are found while the file is parsed, so that it is parsed once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "header_index.h"

namespace devsan::lint {

class FoundHeaders {
 public:
  // Headers as they were asked for, and the file that was found, empty where none was.
  using Answers = std::vector<std::pair<std::string, std::string>>;

  // `indices` must outlive this.
  FoundHeaders(HeaderIndices& indices, std::string file);

  // The header's path. What was found once leads further: its folder is looked in first.
  std::optional<std::string> find(const std::string& header);

  // All that was asked, in order.
  const Answers& answers() const { return answers_; }

 private:
  std::optional<std::string> look_for(const std::string& header);

  HeaderIndices& indices_;
  const std::string file_;
  const std::string root_;
  std::vector<std::string> folders_;  // from which something was found
  Answers answers_;
};

}  // namespace devsan::lint
