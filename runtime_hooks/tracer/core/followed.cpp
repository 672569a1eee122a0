// Whom a move followed: told by the text of its line.
#include "core/followed.h"

#include <algorithm>
#include <optional>
#include <regex>

#include "core/source.h"

namespace devsan::trace {
namespace {

// A variable, a member or an element as it is written: "moved.input_ids", "self.head->weight",
// `inputs["ids"]`.
constexpr const char* kName = R"([A-Za-z_]\w*(?:(?:\.|->|::)\w+|\[[^\[\]]*\])*)";

std::string statement_of(const Stack& stack) {
  const OwnedFrame* frame = innermost_shown_frame(stack);
  return frame ? source_statement(frame->frame.file, frame->frame.line) : std::string();
}

// The y of "x.to(y.device())" or "x.to(y.device)"; empty when the statement has none.
std::string followed_name(const std::string& statement) {
  static const std::regex move("\\bto\\s*\\(\\s*(?:device\\s*=\\s*)?(" + std::string(kName) +
                               R"()\.device\b)");
  std::smatch match;
  return std::regex_search(statement, match, move) ? match.str(1) : std::string();
}

// The y of "y = ..." or "auto y = ...", with all that stands before it.
std::string assigned_name_of(const std::string& statement) {
  static const std::regex assignment("(" + std::string(kName) + R"()\s*=[^=])");
  std::smatch match;
  return std::regex_search(statement, match, assignment) ? match.str(1) : std::string();
}

// "input_ids" of "moved.input_ids": a member may be reached by more than one way.
std::string last_part(const std::string& name) {
  const auto at = name.find_last_of(".>");
  return at == name.npos ? name : name.substr(at + 1);
}

// The statement of the line, with the line before it where that is its left side.
std::string assignment_of(const Stack& stack) {
  const OwnedFrame* frame = innermost_user_frame(stack);
  if (!frame) return {};
  const std::string before = source_line(frame->frame.file, frame->frame.line - 1);
  return (before.ends_with('=') ? before + ' ' : std::string()) + statement_of(stack);
}

bool is_by_literal(const RunMove& move) {
  const OwnedFrame* frame = innermost_user_frame(move.moved);
  return frame && device_literal(source_statement(frame->frame.file, frame->frame.line), move.to);
}

bool is_librarys(const Stack& stack) {
  const OwnedFrame* frame = innermost_shown_frame(stack);
  return frame && frame->owner == Owner::kLibrary;
}

// The only move by a literal under the user's call that led to the library's.
const RunMove* move_before_library(const Step& step, std::span<const RunMove> moves) {
  const std::span<const OwnedFrame> call = innermost_user_call(step.stack);
  const RunMove* only = nullptr;
  for (const RunMove& move : moves) {
    if (move.to != step.device || has_constructor(move.made)) continue;
    if (!runs_through(move.moved, call) || !is_by_literal(move)) continue;
    if (only) return nullptr;
    only = &move;
  }
  return only;
}

const RunMove* move_of(const std::string& name, const Step& step, std::span<const RunMove> moves) {
  const auto is_its = [&](const RunMove& move) {
    return move.to == step.device && is_by_literal(move) &&
           last_part(assigned_name_of(assignment_of(move.moved))) == last_part(name);
  };
  const auto found = std::ranges::find_if(moves, is_its);
  return found == moves.end() ? nullptr : &*found;
}

const RunMove* followed_move(const Step& step, std::span<const RunMove> moves) {
  const std::string name = followed_name(statement_of(step.stack));
  if (!name.empty()) return move_of(name, step, moves);
  return is_librarys(step.stack) ? move_before_library(step, moves) : nullptr;
}

}  // namespace

void add_followed_move(std::vector<Step>& path, std::span<const RunMove> moves) {
  if (path.empty() || path.front().kind != Origin::Kind::kMoved) return;
  if (device_literal(statement_of(path.front().stack), path.front().device)) return;
  const RunMove* move = followed_move(path.front(), moves);
  if (!move) return;
  path.front().link = Origin::Link::kFollowed;
  Step followed;
  followed.kind = Origin::Kind::kMoved;
  followed.link = Origin::Link::kSame;
  followed.device = move->to;
  followed.op = move->op;
  followed.stack = move->moved;
  path.insert(path.begin() + 1, std::move(followed));
}

}  // namespace devsan::trace
