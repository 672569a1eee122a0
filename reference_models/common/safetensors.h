// Tensors by name on disk, in the format of Hugging Face's safetensors: eight bytes with the length
// of a header, the header in JSON, and the values one after another.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <string>

namespace models {

// The tensors of a file, on the CPU. Throws UsageError, with one line that says what is wrong with
// the file, for one that is cut short, or whose header and values do not agree.
std::map<std::string, torch::Tensor> read_safetensors(const std::filesystem::path& path);

// Throws UsageError when the file cannot be written, or when a tensor has a type that the format
// does not know.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, torch::Tensor>& tensors);

}  // namespace models
