// Entries of a zip file, read with a limit: what an archive says of its own sizes is not believed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct zip;

namespace devsan::lint {

class ZipArchive {
 public:
  // Throws std::runtime_error with one line when `path` cannot be read as a zip file.
  explicit ZipArchive(const std::string& path);

  const std::vector<std::string>& names() const { return names_; }
  bool contains(const std::string& name) const;

  // The content of an entry, unpacked. Throws std::runtime_error with one line when there is none,
  // when its checksum is wrong, when it has more than `most` bytes, or when all that was read is
  // over a limit.
  std::string read(const std::string& name, std::size_t most);

 private:
  struct Close {
    void operator()(zip* archive) const;
  };

  std::unique_ptr<zip, Close> archive_;
  std::vector<std::string> names_;
  std::size_t bytes_left_;
};

}  // namespace devsan::lint
