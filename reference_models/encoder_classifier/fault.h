// The mistakes `--fault` plants. Each stands in the code at the line where a person would have made
// it, behind `if (fault == Fault::k...)`, and that line ends in `// fault: <name>`.
#pragma once

#include <array>
#include <string_view>

namespace models {

enum class Fault { kNone, kLabels, kPooled, kHeadMoved, kLora, kMask, kLiteral };

struct FaultInfo {
  Fault fault;
  std::string_view name;
  std::string_view summary;
};

inline constexpr std::array<FaultInfo, 7> kFaults{{
    {Fault::kNone, "none", "no fault"},
    {Fault::kLabels, "labels", "the labels stay on the first shard, the logits are on the last"},
    {Fault::kPooled, "pooled",
     "the pooled tensor goes to the first shard, the head is on the last"},
    {Fault::kHeadMoved, "head-moved", "forward moves the head to the first shard"},
    {Fault::kLora, "lora", "every LoRA matrix is put on the first shard"},
    {Fault::kMask, "mask", "the mask of the pooling is made on the CPU"},
    {Fault::kLiteral, "literal", "the pooling, on the last shard, makes a tensor on \"cuda:0\""},
}};

}  // namespace models
