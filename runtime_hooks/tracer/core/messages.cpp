// The forms of device errors. One line a form; each has its test with the message as PyTorch writes
// it.
#include "core/messages.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace devsan::trace {
namespace {

// In lower case.
constexpr std::array<std::string_view, 18> kForms = {
    "to be on the same device",  // Expected all tensors to be on the same device, but ...
    "be on the same device",     // tensors must / should be on the same device
    "are on the same device",
    "on the same device as",       // indices should be either on cpu or on the same device as
    "to have the same device as",  // Expected tensor for argument #1 ... to have the same device as
    "not at the same device",
    "must have the same device",
    "have the same device",
    "different from other tensors on",  // but got mat2 is on cuda:0, different from other tensors
                                        // on
    "on different devices",
    "expected object of device type",  // ... cuda but got device type cpu
    "is on cpu, but expected",  // Tensor for argument #2 'x' is on CPU, but expected it to be on
                                // GPU
    "expected it to be on gpu",
    "expected device",               // expected device cuda:0 but got device cuda:1
    "backend, but got tensor with",  // Expected tensor to have CUDA Backend, but got tensor with
                                     // CPU Backend
    "no backend type associated with device type",
    "all tensors must be on the same",
    "is not on the expected device",  // Tensor on device cpu is not on the expected device meta!
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return result;
}

std::string between(std::string_view text, std::string_view before, std::string_view after) {
  const auto start = text.find(before);
  if (start == text.npos) return {};
  const auto from = start + before.size();
  const auto end = text.find(after, from);
  return end == text.npos ? std::string() : std::string(text.substr(from, end - from));
}

// "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
// speaks of devices only when one of the types is CUDA's and the other is not.
bool is_type_pair_of_two_devices(const std::string& message) {
  if (message.find("should be the same") == message.npos) return false;
  const std::string input = between(message, "input type (", ")");
  std::string other = between(message, "weight type (", ")");
  if (other.empty()) other = between(message, "bias type (", ")");
  if (input.empty() || other.empty()) return false;
  return (input.find("cuda") != input.npos) != (other.find("cuda") != other.npos);
}

}  // namespace

bool speaks_of_devices(std::string_view message) {
  const std::string text = lower(message);
  if (text.find("generator") != text.npos) return false;  // a rule of its own
  return is_type_pair_of_two_devices(text) ||
         std::ranges::any_of(kForms,
                             [&](std::string_view form) { return text.find(form) != text.npos; });
}

std::optional<std::string> argument_named_in(std::string_view message) {
  const std::string name = between(message, "but got ", " is on ");
  if (name.empty() || name.find(' ') != name.npos) return std::nullopt;
  return name;
}

std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace devsan::trace
