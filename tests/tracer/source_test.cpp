// What source lines say.
#include "core/source.h"

#include <gtest/gtest.h>

#include "scenes.h"

namespace devsan::trace {
namespace {

using namespace test;
using Arguments = std::vector<std::string>;

TEST(Source, DeviceLiterals) {
  EXPECT_EQ(device_literal("x = x.to(\"cuda:0\")", kCuda0), "\"cuda:0\"");
  EXPECT_EQ(device_literal("x = x.to('cuda')", kCuda0), "'cuda'");
  EXPECT_EQ(device_literal("auto x = torch::ones({2}, torch::Device(torch::kCUDA, 1));", kCuda1),
            "Device(torch::kCUDA, 1)");
  EXPECT_EQ(device_literal("auto x = y.to(torch::kCUDA);", kCuda0), "torch::kCUDA");
  EXPECT_EQ(device_literal("x = y.cuda()", kCuda0), ".cuda()");
  EXPECT_EQ(device_literal("x = y.cuda(1)", kCuda1), ".cuda(1)");
}

TEST(Source, NoDeviceLiterals) {
  EXPECT_EQ(device_literal("x = x.to(\"cuda:1\")", kCuda0), std::nullopt);
  EXPECT_EQ(device_literal("x = x.to(device)", kCuda0), std::nullopt);
  EXPECT_EQ(device_literal("x = x.to(y.device)", kCuda0), std::nullopt);
  EXPECT_EQ(device_literal("auto x = y.to(torch::Device(torch::kCUDA, rank));", kCuda0),
            std::nullopt);
  EXPECT_EQ(device_literal("x = y.cuda(rank)", kCuda0), std::nullopt);
}

TEST(Source, StatementsGoOnUntilBracketsClose) {
  const std::string file =
      source_file(testing::TempDir() + "source.py", {"x = f(a,  # not this", "      b)", "y = 1"});
  EXPECT_EQ(source_statement(file, 1), "x = f(a, b)");
  EXPECT_EQ(source_line(file, 3), "y = 1");
  EXPECT_EQ(source_line(file, 99), "");
  EXPECT_EQ(source_line("/no/such/file", 1), "");
}

TEST(Source, ArgumentsOfCalls) {
  EXPECT_EQ(call_arguments("y = torch::linear(pooled, head->weight);", "aten::linear"),
            (Arguments{"pooled", "head->weight"}));
  EXPECT_EQ(call_arguments("y = a.matmul(b);", "aten::matmul"), (Arguments{"a", "b"}));
  EXPECT_EQ(call_arguments("const Tensor m = positions < letters;", "aten::lt"),
            (Arguments{"positions", "letters"}));
  EXPECT_EQ(call_arguments("y = x * self.scale", "aten::mul"), (Arguments{"x", "self.scale"}));
}

TEST(Source, NoArgumentsWhereItIsNotSure) {
  EXPECT_TRUE(call_arguments("y = a * b * c", "aten::mul").empty());
  EXPECT_TRUE(call_arguments("y = linear(linear(x, w), v)", "aten::linear").empty());
  EXPECT_TRUE(call_arguments("y = head(x)", "aten::linear").empty());
}

class ReturnTest : public testing::Test {
 protected:
  std::string file_ = source_file(testing::TempDir() + "returns.py",
                                  {
                                      "def forward(self, ids,",     // 1
                                      "            labels=None):",  // 2
                                      "    loss = fn(ids)",         // 3
                                      "    if early:",              // 4
                                      "        return ids",         // 5
                                      "",                           // 6
                                      "    return Output(",         // 7
                                      "        loss=loss)",         // 8
                                      "def after():",               // 9
                                      "    return loss",            // 10
                                  });
};

TEST_F(ReturnTest, IsTheOneThatHasTheName) {
  EXPECT_EQ(return_line(file_, 3, "loss"), 7);
  EXPECT_EQ(return_line(file_, 3, ""), 5);
  EXPECT_EQ(return_line(file_, 3, "other"), 5);
}

TEST_F(ReturnTest, IsInTheSameFunction) {
  EXPECT_EQ(return_line(file_, 10, "loss"), 10);
  EXPECT_EQ(return_line(file_, 99, "loss"), 0);
}

TEST_F(ReturnTest, SignatureOfTheFunctionAround) {
  EXPECT_EQ(enclosing_signature(file_, 5), "def forward(self, ids, labels=None):");
  EXPECT_TRUE(has_word(enclosing_signature(file_, 5), "labels"));
  EXPECT_FALSE(has_word(enclosing_signature(file_, 5), "label"));
}

TEST(Source, NameThatIsAssigned) {
  EXPECT_EQ(assigned_name("loss = fn(a == b)"), "loss");
  EXPECT_EQ(assigned_name("loss: Tensor = fn()"), "loss");
  EXPECT_EQ(assigned_name("loss == other"), "");
  EXPECT_EQ(assigned_name("self.loss = fn()"), "");
}

}  // namespace
}  // namespace devsan::trace
