// A finding's identity over edits elsewhere in its file.
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "devsan/findings/finding.h"

namespace devsan {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): stable over builds and machines, which
// std::hash is not.
class Fnv1a {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    hash_ = (hash_ ^ 0xff) * 0x100000001b3u;  // so that "ab","c" is not "a","bc"
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::string fold_blanks(std::string_view text) {
  std::string folded;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r') folded += c;
  }
  return folded;
}

}  // namespace

std::string fingerprint(const Finding& finding, const std::string& line_text) {
  Fnv1a hash;
  hash.add(finding.rule);
  hash.add(std::filesystem::path(finding.place.file).filename().string());
  hash.add(finding.message);
  hash.add(fold_blanks(line_text));
  return fmt::format("{:016x}", hash.value());
}

}  // namespace devsan
