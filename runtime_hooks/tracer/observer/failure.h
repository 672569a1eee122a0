// An error about devices, from the throw to the report.
//
// PyTorch is the judge. A candidate is taken down when an error about devices is thrown while an op
// with tensors on different devices runs; it becomes a finding only when the outermost op, the one
// the program called, ends by an exception. An op that returns was legal, whatever was thrown
// inside.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/origin.h"
#include "core/scene.h"
#include "observer/origin_table.h"
#include "observer/thread_state.h"

namespace devsan::trace {

class Sink;

// An argument as it was when the error was thrown. Holding it keeps its address from being used
// again.
struct CapturedArgument {
  at::Tensor tensor;
  Suspect suspect;
};

struct CapturedOp {
  std::string name;
  std::vector<CapturedArgument> arguments;
  bool mixed = false;
};

struct Failure {
  std::string message;
  CapturedOp outermost;
  CapturedOp innermost;  // the op whose check failed; may be the outermost
  Site site;
  const c10::TensorImpl* checked_tensor = nullptr;
  bool collective = false;  // it is about what a collective takes: no mix is needed
};

// What a report says of a tensor itself; the caller names it.
Suspect suspect_of(const at::Tensor& tensor);

// How it came to be where it is, newest first.
std::vector<Step> history_of(const at::Tensor& tensor, OriginTable& origins);

// Called for every C++ exception before it is thrown.
void note_throw(ThreadState& state, void* object, void* type);

// Called when the outermost op ends by an exception: makes and publishes the finding, if there is
// one.
void report_failure(ThreadState& state, const ActiveOp& op, OriginTable& origins, Sink& sink);

}  // namespace devsan::trace
