// The readers of TorchScript archives over any bytes. The first says which: a whole archive has
// checksums, which keep changed bytes from what lies behind.
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <stdexcept>

#include "target.h"
#include "torchscript/pickle.h"
#include "torchscript/script_archive.h"
#include "torchscript/script_code.h"
#include "torchscript/script_origins.h"

namespace devsan::fuzz {
namespace {

void read_archive(const std::string& bytes) {
  const int file = memfd_create("archive", MFD_CLOEXEC);
  const bool written =
      write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  try {
    if (written) lint::read_script_archive("/proc/self/fd/" + std::to_string(file));
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
}

void read(char kind, const std::string& bytes) {
  switch (kind) {
    case 'c':
      lint::script_devices(bytes, [](std::string_view name) { return name == "c0"; });
      break;
    case 'o':
      lint::ScriptOrigins(lint::Pickle(bytes)).at(bytes.size() / 2);
      break;
    case 'p':
      lint::Pickle{bytes};
      break;
    case 'z':
      read_archive(bytes);
      break;
    default:
      break;
  }
}

}  // namespace

std::string mutated(const std::string& input, unsigned chance) {
  std::minstd_rand random(chance);
  std::string bytes = input;
  for (unsigned changes = 1 + random() % 8; changes > 0 && bytes.size() > 1; --changes) {
    const std::size_t at = 1 + random() % (bytes.size() - 1);
    switch (random() % 3) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + random() % 16);
        break;
      default:
        bytes.insert(at, bytes.substr(1 + random() % (bytes.size() - 1), random() % 16));
    }
  }
  return bytes;
}

}  // namespace devsan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    devsan::fuzz::read(static_cast<char>(data[0]),
                       {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const std::runtime_error&) {
    // How the readers refuse.
  }
  return 0;
}
