// What both halves of DevSan say: one Finding, whether it was read in source or seen in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace devsan {

enum class Level { kNote, kWarning, kError };

// "note", "warning" or "error": as SARIF, JSON and our text spell it.
const char* to_string(Level level);

// Lines and columns count from 1, columns in bytes; 0 is unknown. `end_column` is one past the last
// byte.
struct SourceRange {
  std::string file;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;

  bool known() const { return !file.empty() && line > 0; }
  bool operator==(const SourceRange&) const = default;
};

// One frame of a stack, innermost first in every list of frames.
struct Frame {
  std::string function;
  std::string file;
  int line = 0;

  bool operator==(const Frame&) const = default;
};

// One step of how a tensor came to be where it is. Paths run from the use back to the creation.
struct PathStep {
  std::string label;  // "used", "moved", "copied", "created", "first seen"
  std::string
      device;         // where the tensor was after the step, e.g. "cuda:0"; empty where it has none
  std::string note;   // a sentence beside the step, may be empty
  SourceRange place;  // the user's line of the step
  std::string code;   // that line's text, may be empty
  std::vector<Frame> stack;

  bool operator==(const PathStep&) const = default;
};

// Replace `place` (an empty range inserts) by `text`.
struct Fix {
  SourceRange place;
  std::string text;

  bool operator==(const Fix&) const = default;
};

// One tensor argument of the op that failed, by its name in the op's schema.
struct Argument {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string device;
  std::optional<std::string> parameter;  // its name in the model, "encoder.block.2.q.lora_A.weight"
  bool odd = false;                      // the one that is not where the others are

  bool operator==(const Argument&) const = default;
};

struct Op {
  std::string name;  // "aten::addmm"
  std::int64_t sequence = 0;
  bool backward = false;

  bool operator==(const Op&) const = default;
};

// What only a run knows.
struct RunFacts {
  std::int64_t process = 0;
  int rank = 0;
  int world_size = 1;
  std::vector<int> ranks;        // all that had it, ascending; empty: `rank` alone
  std::int64_t step = 0;         // optimizer steps finished before the op
  std::int64_t collectives = 0;  // collectives seen before the op: orders findings over ranks
  std::int64_t time_us = 0;      // since the epoch: orders findings between the same collectives
  Op op;
  std::string inner_op;  // the op inside `op` whose check failed, empty when it is `op` itself
  std::string error;     // PyTorch's own message
  std::vector<Argument> arguments;
  std::vector<Frame> stack;
  std::vector<Frame> forward_stack;  // of the op whose backward failed
  // Of what was counted over the run (silent-move, rank-affinity); 0 elsewhere.
  std::int64_t count = 0;  // tensors
  std::int64_t bytes = 0;  // of all of them together
  std::int64_t steps = 0;  // optimizer steps in which it happened
  std::string own_device;  // rank-affinity: the rank's own, which this was not

  bool operator==(const RunFacts&) const = default;
};

struct Finding {
  std::string rule;  // id without a prefix: "dropped-move", "device-mismatch"
  Level level = Level::kWarning;
  std::string message;  // one line
  SourceRange place;    // lint: the finding; run: the line to change, or where the op was called
  std::vector<PathStep> path;
  std::string why;     // one sentence; may be empty
  std::string advice;  // what to change, without the place; may be empty
  std::vector<Fix> fixes;
  std::optional<RunFacts> run;

  bool operator==(const Finding&) const = default;
};

// The process that a report comes from. What is not known is empty.
struct ReportedProcess {
  std::int64_t pid = 0;
  std::optional<int> rank;
  std::optional<int> world_size;
  std::optional<int> local_rank;
  std::optional<std::string> own_device;  // the GPU that is this rank's, "cuda:1"

  bool operator==(const ReportedProcess&) const = default;
};

// Identifies a finding over edits elsewhere in the file: a hash of rule, file name, message and
// `line_text` (the text of the line it stands on, blanks folded). SARIF's partialFingerprints.
std::string fingerprint(const Finding& finding, const std::string& line_text);

}  // namespace devsan
