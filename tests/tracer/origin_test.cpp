// Chains of origins.
#include "core/origin.h"

#include <gtest/gtest.h>

namespace devsan::trace {
namespace {

using Kind = Origin::Kind;
using Link = Origin::Link;

OriginRef origin(Kind kind, OriginRef previous = nullptr, Link how = Link::kNone) {
  auto made = std::make_shared<Origin>();
  made->kind = kind;
  link(*made, std::move(previous), how);
  return made;
}

TEST(Origin, CauseOfAComputedTensorIsWhatItWasComputedFrom) {
  const OriginRef moved = origin(Kind::kMoved);
  const OriginRef computed = origin(Kind::kCreated, moved, Link::kSame);
  const Cause cause = cause_of_device(computed, /*only_input=*/true);
  EXPECT_EQ(cause.origin, moved);
  EXPECT_EQ(cause.link, Link::kSame);
}

TEST(Origin, OneTensorAmongSeveralMakesTheLinkBeside) {
  const OriginRef moved = origin(Kind::kMoved);
  const OriginRef computed = origin(Kind::kCreated, moved, Link::kBeside);
  EXPECT_EQ(cause_of_device(computed, /*only_input=*/true).link, Link::kBeside);
  EXPECT_EQ(cause_of_device(moved, /*only_input=*/false).link, Link::kBeside);
}

TEST(Origin, WhatWasMadeFromNothingIsItsOwnCause) {
  const OriginRef created = origin(Kind::kCreated);
  EXPECT_EQ(cause_of_device(created, true).origin, created);
  EXPECT_EQ(cause_of_device(nullptr, true).link, Link::kNone);
}

TEST(Origin, ChainsAreCut) {
  OriginRef at = origin(Kind::kCreated);
  for (int i = 0; i < 100; ++i) at = origin(Kind::kMoved, at, Link::kSame);
  int length = 0;
  for (const Origin* step = at.get(); step; step = step->previous.get()) ++length;
  EXPECT_LE(length, kMaxHops + 1);
}

}  // namespace
}  // namespace devsan::trace
