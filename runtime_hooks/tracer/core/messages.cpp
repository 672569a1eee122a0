// The forms of device errors. One line a form; each has its test with the message as PyTorch writes
// it.
#include "core/messages.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

namespace devsan::trace {
namespace {

// In lower case.
constexpr std::array<std::string_view, 19> kForms = {
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
    "assign a gradient located on device",  // its message ends at a device's index that is 0
    "expected object of device type",       // ... cuda but got device type cpu
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

// What an error may be about although it names a device. In lower case.
constexpr std::array<std::string_view, 22> kOtherThings = {
    "out of memory",      "cuda error",      "cudnn error",
    "cublas error",       "nccl error",      "device-side assert",
    "device ordinal",     "device string",   "device id",
    "generator",          "no kernel image", "not compiled with cuda",
    "is_available()",     "device_count()",  "no cuda gpus",
    "re-initialize cuda", "not enabled",     "not implemented",
    "could not run",  // an op that a backend does not have
    "not found",          "no such",         "argument 'device'",
};

constexpr std::array<std::string_view, 5> kCollectiveForms = {
    "no backend type associated with device type",  // a CPU tensor given to NCCL alone
    "tensors must be cuda and dense",
    "but backend constrained to",  // Tensor found on device cuda:0 but backend constrained to
                                   // cuda:1
    "unsupported device type",     // Gloo
    "tensors must be on the same device",
};

template <std::size_t Count>
bool contains_any(const std::string& text, const std::array<std::string_view, Count>& forms) {
  return std::ranges::any_of(forms,
                             [&](std::string_view form) { return text.find(form) != text.npos; });
}

// One of `words`, not as a part of a longer word or of a path.
std::regex word_pattern(const std::string& words) {
  return std::regex("(^|[^\\w/.])(" + words + ")($|[^\\w/])");
}

}  // namespace

bool speaks_of_devices(std::string_view message) {
  const std::string text = lower(message);
  if (text.find("generator") != text.npos) return false;  // a rule of its own
  return is_type_pair_of_two_devices(text) || contains_any(text, kForms);
}

std::optional<std::string> argument_named_in(std::string_view message) {
  const std::string name = between(message, "but got ", " is on ");
  if (name.empty() || name.find(' ') != name.npos) return std::nullopt;
  return name;
}

bool is_about_placement(std::string_view message) {
  const std::string text = lower(message);
  if (text.find("device") == text.npos || contains_any(text, kOtherThings)) return false;
  // DataParallel's replicas are threads of this process; all else that carries a traceback is not.
  if (text.find("traceback (most recent call last)") != text.npos &&
      text.find(" in replica ") == text.npos) {
    return false;
  }
  if (speaks_of_devices(message)) return true;
  static const std::array<std::regex, 4> kAll = {
      word_pattern("devices?"), word_pattern("cpu|cuda(:\\d+)?|gpu"),
      word_pattern("must|should|expected|requires?|needs?|only works?|can't|cannot"),
      word_pattern("but|instead|different|differs?|mismatch(ed)?|same|convert")};
  return std::ranges::all_of(
      kAll, [&](const std::regex& pattern) { return std::regex_search(text, pattern); });
}

bool is_plainly_about_placement(std::string_view message) {
  return speaks_of_devices(message) ||
         lower(message).find("device type tensor to numpy") != std::string::npos;
}

DevicesInMessage devices_in(std::string_view message) {
  static const std::regex device(R"(\b(cpu|cuda(:\d+)?|xpu(:\d+)?|mps(:\d+)?|meta)\b)");
  const std::string text(first_line(message));
  const auto but = text.find(" but ");
  if (but == text.npos) return {};
  DevicesInMessage devices;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), device);
       match != std::sregex_iterator(); ++match) {
    const bool before = match->position() < static_cast<std::ptrdiff_t>(but);
    if (before) devices.expected = match->str();
    if (!before && devices.found.empty()) devices.found = match->str();
  }
  return devices;
}

bool is_about_collective(std::string_view message) {
  return is_about_shared_gpu(message) || contains_any(lower(message), kCollectiveForms);
}

bool is_about_shared_gpu(std::string_view message) {
  return lower(message).find("duplicate gpu detected") != std::string::npos;
}

std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace devsan::trace
