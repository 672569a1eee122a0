// How reports write down places: small helpers that every maker of findings uses.
#pragma once

#include <string>

#include "core/frames.h"

namespace devsan::trace {

// The frame as a finding's place; unknown for null.
inline SourceRange place_of(const OwnedFrame* frame) {
  SourceRange place;
  if (!frame) return place;
  place.file = frame->frame.file;
  place.line = place.end_line = frame->frame.line;
  return place;
}

// "train.py:38".
inline std::string short_place(const std::string& file, int line) {
  const auto slash = file.rfind('/');
  return (slash == file.npos ? file : file.substr(slash + 1)) + ":" + std::to_string(line);
}

}  // namespace devsan::trace
