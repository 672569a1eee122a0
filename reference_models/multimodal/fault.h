// The mistakes `--fault` plants. Each stands in the code at the line where a person would have made
// it, behind `if (fault == Fault::k...)`, and that line ends in `// fault: <name>`.
#pragma once

#include <array>
#include <string_view>

namespace models::multimodal {

enum class Fault {
  kNone,
  kCpuPixels,
  kTokensLiteral,
  kVisionLiteral,
  kSetDevice,
  kCpuMetric,
  kBuffer,
  kLateMove,
};

struct FaultInfo {
  Fault fault;
  std::string_view name;
  std::string_view summary;
};

inline constexpr std::array<FaultInfo, 8> kFaults{{
    {Fault::kNone, "none", "no fault"},
    {Fault::kCpuPixels, "cpu-pixels", "the processor moves the tokens and leaves the pixels"},
    {Fault::kTokensLiteral, "tokens-literal",
     "the processor moves the tokens to \"cuda:0\", and the pixels to where the tokens are"},
    {Fault::kVisionLiteral, "vision-literal", "the vision tower moves the pixels to \"cuda:0\""},
    {Fault::kSetDevice, "set-device", "no rank chooses its GPU, so all are on GPU 0"},
    {Fault::kCpuMetric, "cpu-metric", "a metric on the CPU is given to an NCCL all-reduce"},
    {Fault::kBuffer, "buffer", "the scale of the cross-attention is not registered as a buffer"},
    {Fault::kLateMove, "late-move",
     "the inputs go to where the model is, then the model is moved to its device"},
}};

}  // namespace models::multimodal
