// Whom a move followed, and where nobody is known.
#include "core/followed.h"

#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Kind = Origin::Kind;
using Link = Origin::Link;

const std::string& program() {
  static const std::string file = source_file(
      testing::TempDir() + "followed.cpp",
      {
          "moved.input_ids = made.input_ids.to(literal ? Device(\"cuda:0\") : device);",  // 1
          "moved.pixel_values = made.pixel_values.to(moved.input_ids.device());",         // 2
          "moved.labels = made.labels.to(device);",                                       // 3
          "mask = made.mask.to(torch::Device(\"cuda:0\"));",                              // 4
          "out = model(**inputs)",                                                        // 5
          "moved.input_ids =",                                                            // 6
          "    made.input_ids.to(literal ? Device(\"cuda:0\") : device);",                // 7
      });
  return file;
}

OwnedFrame process(int line) {
  return user("process", line, program());
}

RunMove move_at(int line, Device to = kCuda0) {
  return {to, 1, "aten::to", {process(line), user("train", 50)}, {user("make_batch", 30)}};
}

std::vector<Step> path_at(int line) {
  return {step(Kind::kMoved, kCuda0, {process(line), user("train", 50)}, Link::kSame),
          step(Kind::kCreated, kCpu, {user("make_batch", 33)})};
}

std::vector<Step> followed(std::vector<Step> path, const std::vector<RunMove>& moves) {
  add_followed_move(path, moves);
  return path;
}

TEST(Followed, TheOneThatTheLineNames) {
  const auto path = followed(path_at(2), {move_at(4), move_at(1)});
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[0].link, Link::kFollowed);
  EXPECT_EQ(path[1].stack.front().frame.line, 1);
  EXPECT_EQ(path[2].kind, Kind::kCreated);
}

TEST(Followed, AStatementOfTwoLines) {
  EXPECT_EQ(followed(path_at(2), {move_at(7)}).size(), 3u);
}

TEST(Followed, NotAnotherThanTheNamedOne) {
  EXPECT_EQ(followed(path_at(2), {move_at(4)}).size(), 2u);
}

TEST(Followed, NotOneThatWentElsewhereOrByNoLiteral) {
  EXPECT_EQ(followed(path_at(2), {move_at(1, kCuda1), move_at(3)}).size(), 2u);
}

TEST(Followed, NotWhereTheMoveIsALiteralsItself) {
  EXPECT_EQ(followed(path_at(4), {move_at(1)}).size(), 2u);
}

TEST(Followed, NotWhereTheUserMovedItToADeviceOfUnknownOrigin) {
  EXPECT_EQ(followed(path_at(3), {move_at(1)}).size(), 2u);
}

// The library's forward(), called at line 5 of the user's process().
std::vector<Step> path_by_library() {
  return {step(Kind::kMoved, kCuda0, {library("Idefics.forward"), process(5), user("train", 50)},
               Link::kSame),
          step(Kind::kCreated, kCpu, {user("make_batch", 33)})};
}

TEST(Followed, WhatTheUserMovedBeforeTheLibrarysCall) {
  const auto path = followed(path_by_library(), {move_at(1)});
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[1].stack.front().frame.line, 1);
}

TEST(Followed, NotOneOfTwoByALibrary) {
  EXPECT_EQ(followed(path_by_library(), {move_at(1), move_at(4)}).size(), 2u);
}

TEST(Followed, NotWhatWasMovedOutsideThatCallOrIsAParameter) {
  RunMove outside = move_at(1);
  outside.moved.back() = user("main", 9);
  RunMove parameter = move_at(1);
  parameter.made.insert(parameter.made.begin(), library("Linear.__init__"));
  EXPECT_EQ(followed(path_by_library(), {outside, parameter}).size(), 2u);
}

TEST(Followed, NotWhatWasNeverMoved) {
  EXPECT_EQ(followed({step(Kind::kCreated, kCuda0, {process(2)})}, {move_at(1)}).size(), 1u);
  EXPECT_EQ(followed({}, {move_at(1)}).size(), 0u);
}

}  // namespace
}  // namespace devsan::trace
