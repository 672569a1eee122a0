// LibTorch's headers, parsed once: a PCH whose function bodies were skipped, kept in the user's
// cache.
//
// The PCH is for analysis only. It is keyed by every flag that changes how the headers read and by
// the headers themselves, so that a file never sees a PCH of other flags; clang itself checks only
// some.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compile_flags.h"

namespace devsan::lint {

// What headers a PCH holds.
enum class HeaderSet {
  kTorch,   // torch/torch.h, torch/script.h
  kPython,  // these, and torch/extension.h with pybind11 and Python.h
};

// Which set fits a source text best. Any set fits: what a PCH lacks is read from the headers.
HeaderSet header_set_for(const std::string& source_text);

class HeaderCache {
 public:
  // `use_cache` false: the PCHs are made in a temporary folder that goes with this object.
  explicit HeaderCache(bool use_cache);
  ~HeaderCache();
  HeaderCache(const HeaderCache&) = delete;
  HeaderCache& operator=(const HeaderCache&) = delete;

  // All that decides what such a PCH holds.
  static std::string key_of(const FileFlags& flags, HeaderSet set);

  // The path of a PCH for these flags, made now if there is none. Thread-safe; other processes that
  // want the same one wait for it. Throws std::runtime_error with one line when it cannot be made.
  std::string pch_for(const FileFlags& flags, HeaderSet set);

  // How many were made, and how long that took, in seconds.
  int built() const { return built_; }
  double build_seconds() const { return build_seconds_; }

 private:
  // What came of making a PCH in this run: its path, or why there is none.
  struct Made {
    std::string path;
    std::string error;
  };

  std::string make(const FileFlags& flags, HeaderSet set, const std::string& key);

  std::string folder_;
  bool temporary_;
  std::mutex mutex_;
  std::map<std::string, Made> made_;  // by key
  int built_ = 0;
  double build_seconds_ = 0;
};

}  // namespace devsan::lint
