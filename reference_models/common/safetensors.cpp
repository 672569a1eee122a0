// The format, with every check before the values are looked at.
#include "safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "files.h"
#include "usage_error.h"

namespace models {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";  // the one entry that is no tensor

struct TypeName {
  torch::ScalarType type;
  std::string_view name;
};
constexpr std::array<TypeName, 10> kTypes{{
    {torch::kDouble, "F64"},
    {torch::kFloat, "F32"},
    {torch::kHalf, "F16"},
    {torch::kBFloat16, "BF16"},
    {torch::kLong, "I64"},
    {torch::kInt, "I32"},
    {torch::kShort, "I16"},
    {torch::kChar, "I8"},
    {torch::kByte, "U8"},
    {torch::kBool, "BOOL"},
}};

// What is wrong with a file; read_safetensors() says which file.
[[noreturn]] void reject(const std::string& reason) {
  throw UsageError(reason);
}

std::uint64_t read_length(const std::vector<char>& bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return length;
}

void append_length(std::vector<char>& bytes, std::uint64_t length) {
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
  }
}

torch::ScalarType type_called(const std::string& tensor, const Json& name) {
  for (const TypeName& entry : kTypes) {
    if (name.is_string() && name.get<std::string>() == entry.name) return entry.type;
  }
  reject(fmt::format("'{}' has the type {}, which is not known", tensor, name.dump()));
}

bool is_list_of_sizes(const Json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& size) {
           return size.is_number_unsigned() &&
                  size.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
         });
}

// Bytes of a tensor; none when they are more than memory could hold.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape,
                                      torch::ScalarType type) {
  std::uint64_t bytes = torch::elementSize(type);
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return {};
  }
  return bytes;
}

struct Entry {
  std::string name;
  torch::ScalarType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;  // of its bytes, counted from the end of the header
  std::uint64_t end;
};

Entry parse_entry(const std::string& name, const Json& json) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets") || !is_list_of_sizes(json["shape"]) ||
      !is_list_of_sizes(json["data_offsets"]) || json["data_offsets"].size() != 2) {
    reject(fmt::format("'{}' is not described by dtype, shape and data_offsets", name));
  }
  Entry entry{name, type_called(name, json["dtype"]),
              json["shape"].get<std::vector<std::int64_t>>(), json["data_offsets"][0],
              json["data_offsets"][1]};
  if (entry.begin > entry.end || bytes_of(entry.shape, entry.type) != entry.end - entry.begin) {
    reject(fmt::format("'{}' has a shape that its data_offsets do not fit", name));
  }
  return entry;
}

std::vector<Entry> parse_header(std::string_view text) {
  const Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) reject("the header is not a JSON object");
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name != kMetadata) entries.push_back(parse_entry(name, json));
  }
  return entries;
}

// The format has no gaps and no overlaps: every byte belongs to one tensor.
void check_layout(std::vector<Entry> entries, std::uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end) {
      reject(fmt::format("the bytes of '{}' do not follow on those before them", entry.name));
    }
    end = entry.end;
  }
  if (end != data_bytes) {
    reject(
        fmt::format("there are {} bytes of values, and the header speaks of {}", data_bytes, end));
  }
}

std::map<std::string, torch::Tensor> parse(const std::vector<char>& bytes) {
  if (bytes.size() < kLengthBytes) reject("it is too short for a header");
  const std::uint64_t header_bytes = read_length(bytes);
  if (header_bytes > bytes.size() - kLengthBytes) {
    reject("it is shorter than it says its header is");
  }
  const char* header = bytes.data() + kLengthBytes;
  const char* data = header + header_bytes;
  const std::vector<Entry> entries =
      parse_header(std::string_view(header, static_cast<std::size_t>(header_bytes)));
  check_layout(entries, bytes.size() - kLengthBytes - header_bytes);

  std::map<std::string, torch::Tensor> tensors;
  for (const Entry& entry : entries) {
    torch::Tensor tensor = torch::empty(entry.shape, entry.type);
    if (entry.end > entry.begin) {
      std::memcpy(tensor.data_ptr(), data + entry.begin,
                  static_cast<std::size_t>(entry.end - entry.begin));
    }
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

}  // namespace

std::map<std::string, torch::Tensor> read_safetensors(const std::filesystem::path& path) {
  const std::vector<char> bytes = read_file(path, "safetensors file");
  try {
    return parse(bytes);
  } catch (const UsageError& reason) {
    throw UsageError(fmt::format("{}: not a safetensors file: {}", path.string(), reason.what()));
  }
}

void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, torch::Tensor>& tensors) {
  Json header = Json::object();
  std::vector<char> data;
  for (const auto& [name, tensor] : tensors) {
    const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& entry) {
      return entry.type == tensor.scalar_type();
    });
    if (type == kTypes.end()) {
      throw UsageError(fmt::format("{}: '{}' has a type that safetensors has not: {}",
                                   path.string(), name, torch::toString(tensor.scalar_type())));
    }
    const torch::Tensor values = tensor.detach().cpu().contiguous();
    const auto* begin = static_cast<const char*>(values.const_data_ptr());
    const std::size_t offset = data.size();
    data.insert(data.end(), begin, begin + values.nbytes());
    header[name] = {{"dtype", type->name},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the values are aligned

  std::vector<char> bytes;
  append_length(bytes, text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  write_file(path, "safetensors file", bytes);
}

}  // namespace models
