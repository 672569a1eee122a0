// What the user got wrong. A program shows it as one line on stderr and exits with 2; a mistake
// inside the model is PyTorch's exception to throw and nobody's to catch.
#pragma once

#include <stdexcept>

namespace models {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace models
