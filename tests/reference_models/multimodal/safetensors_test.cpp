// Tensors in files: those written here, those of other programs, and those that are broken.
#include "common/safetensors.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/usage_error.h"

namespace models {
namespace {

namespace fs = std::filesystem;

class SafetensorsTest : public testing::Test {
 protected:
  SafetensorsTest() : path_(fs::path(testing::TempDir()) / (std::string("tensors-") + name())) {}
  ~SafetensorsTest() override { fs::remove(path_); }

  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  // A file with this header, its length before it, and these values behind.
  void write(const std::string& header, const std::string& values) {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size() % 256);
    bytes[1] = static_cast<char>(header.size() / 256);
    write(bytes + header + values);
  }
  std::string error() {
    try {
      read_safetensors(path_);
    } catch (const UsageError& problem) {
      const std::string message = problem.what();
      const std::string start = path_.string() + ": not a safetensors file: ";
      EXPECT_TRUE(message.starts_with(start)) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
      return message.substr(std::min(start.size(), message.size()));
    }
    return "no error";
  }
  const fs::path path_;

 private:
  static const char* name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
};

TEST_F(SafetensorsTest, ReadsWhatItWrote) {
  const std::map<std::string, torch::Tensor> tensors{
      {"float", torch::randn({2, 3})},
      {"half", torch::randn({5}).to(torch::kHalf)},
      {"long", torch::arange(4)},
      {"bool", torch::tensor({true, false})},
      {"scalar", torch::tensor(3.5)},
      {"none", torch::zeros({0, 7})},
      {"transposed", torch::randn({2, 3}).t()},
  };
  write_safetensors(path_, tensors);
  const auto read = read_safetensors(path_);
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(read.at(name), tensor)) << name;
  }
}

TEST_F(SafetensorsTest, ReadsAFileWrittenByHand) {
  write(R"({"__metadata__":{"format":"pt"},"x":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
        std::string("\x01\0\0\0\xfe\xff\xff\xff", 8));
  const auto tensors = read_safetensors(path_);
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_TRUE(torch::equal(tensors.at("x"), torch::tensor({1, -2}, torch::kInt)));
}

TEST_F(SafetensorsTest, SaysWhatIsWrongWithAFile) {
  write("");
  EXPECT_EQ(error(), "it is too short for a header");
  write(std::string("\xff\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(error(), "it is shorter than it says its header is");
  write(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10));
  EXPECT_EQ(error(), "it is shorter than it says its header is");
  write("{nonsense", "");
  EXPECT_EQ(error(), "the header is not a JSON object");
  write("[]", "");
  EXPECT_EQ(error(), "the header is not a JSON object");
  write(R"({"x":{"dtype":"F32","shape":[1]}})", "0123");
  EXPECT_EQ(error(), "'x' is not described by dtype, shape and data_offsets");
  write(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "0123");
  EXPECT_EQ(error(), "'x' is not described by dtype, shape and data_offsets");
  write(R"({"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", "01234567");
  EXPECT_EQ(error(), "'x' has the type \"C64\", which is not known");
  write(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "0123");
  EXPECT_EQ(error(), "'x' has a shape that its data_offsets do not fit");
  write(R"({"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "");
  EXPECT_EQ(error(), "'x' has a shape that its data_offsets do not fit");
  write(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", "0123");
  EXPECT_EQ(error(), "'x' has a shape that its data_offsets do not fit");
  write(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "012");
  EXPECT_EQ(error(), "there are 3 bytes of values, and the header speaks of 4");
  write(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "01234");
  EXPECT_EQ(error(), "there are 5 bytes of values, and the header speaks of 4");
  write(
      R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
      "012");
  EXPECT_EQ(error(), "the bytes of 'y' do not follow on those before them");
}

TEST_F(SafetensorsTest, RefusesATypeThatTheFormatHasNot) {
  EXPECT_THROW(write_safetensors(path_, {{"x", torch::zeros({1}, torch::kComplexFloat)}}),
               UsageError);
}

}  // namespace
}  // namespace models
