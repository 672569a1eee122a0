// Flags: what is kept of a compile command, what is worked out without one, what keys the PCH.
#include "compile_flags.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "invocation.h"
#include "temporary_folder.h"

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

FileFlags normalise(const std::vector<std::string>& command) {
  return normalise_flags(command, "/source", TorchLocation{});
}

TEST(NormaliseFlags, KeepsHeadersAndDefinesWithAbsolutePaths) {
  const FileFlags flags =
      normalise({"g++", "-Iinclude", "-I", "../other", "-isystem", "/usr/x", "-DFOO=1", "-D", "BAR",
                 "-UBAZ", "-include", "prefix.h", "-c", "a.cpp", "-o", "a.o"});
  EXPECT_THAT(flags.rest, ElementsAre("-I", "/source/include", "-I", "/other", "-isystem", "/usr/x",
                                      "-DFOO=1", "-DBAR", "-UBAZ", "-include", "/source/prefix.h"));
}

TEST(NormaliseFlags, WhatOnlyChangesCodeLeavesThePchAlone) {
  const auto plain = shared_arguments(normalise({"g++", "-std=c++17", "a.cpp"}));
  EXPECT_EQ(plain, shared_arguments(
                       normalise({"g++", "-std=gnu++17", "-O3", "-march=native", "-fPIC",
                                  "-fopenmp", "-fno-rtti", "-Wall", "-g", "-DMINE=1", "a.cpp"})));
}

TEST(NormaliseFlags, WhatChangesTheHeadersKeysThePch) {
  const auto plain = shared_arguments(normalise({"g++", "-std=c++17", "a.cpp"}));
  EXPECT_NE(plain, shared_arguments(normalise({"g++", "-std=c++20", "a.cpp"})));
  EXPECT_NE(plain, shared_arguments(normalise({"g++", "-std=c++17", "-DNDEBUG", "a.cpp"})));
  EXPECT_NE(plain, shared_arguments(normalise({"g++", "-std=c++17", "-DUSE_C10D_NCCL", "a.cpp"})));
}

TEST(NormaliseFlags, OrderOfDefinesDoesNotMatter) {
  EXPECT_EQ(normalise({"g++", "-DNDEBUG", "-DUSE_CUDA"}).defines,
            normalise({"g++", "-DUSE_CUDA", "-DNDEBUG"}).defines);
}

TEST(NormaliseFlags, OldStandardsBecomeTheOneThatTorchNeeds) {
  EXPECT_EQ(normalise({"g++", "-std=c++14"}).standard, "gnu++17");
  EXPECT_EQ(normalise({"g++"}).standard, "gnu++17");
  EXPECT_EQ(normalise({"g++", "-std=c++2a"}).standard, "gnu++20");
  EXPECT_EQ(normalise({"g++", "-std=gnu++23"}).standard, "gnu++23");
}

using InferFlags = TemporaryFolder;

TEST_F(InferFlags, NearestFoldersComeFirst) {
  const std::string file = add("csrc/cpu/op.cpp");
  add("include/a.h");
  add("deep/lib/include/b.h");
  const FileFlags flags = infer_flags(file, root_.string(), TorchLocation{});
  EXPECT_TRUE(flags.inferred);
  EXPECT_THAT(flags.rest,
              ElementsAre("-I", (root_ / "csrc/cpu").string(), "-I", (root_ / "csrc").string(),
                          "-I", root_.string(), "-I", (root_ / "include").string(), "-I",
                          (root_ / "deep/lib/include").string()));
}

TEST_F(InferFlags, FolderThatWouldHideTheStandardLibraryComesLast) {
  const std::string file = add("src/a.cpp");
  add("include/string.h");
  const FileFlags flags = infer_flags(file, root_.string(), TorchLocation{});
  const auto at = std::find(flags.rest.begin(), flags.rest.end(), (root_ / "include").string());
  ASSERT_NE(at, flags.rest.end());
  EXPECT_EQ(*std::prev(at), "-idirafter");
}

TEST_F(InferFlags, StandardIsWhatTheBuildFilesSay) {
  const std::string file = add("a.cpp");
  EXPECT_EQ(infer_flags(file, root_.string(), TorchLocation{}).standard, "gnu++17");
  add("CMakeLists.txt", "set(CMAKE_CXX_STANDARD 20)");
  EXPECT_EQ(infer_flags(file, root_.string(), TorchLocation{}).standard, "gnu++20");
  TorchLocation new_torch;
  new_torch.minor = 14;
  fs::remove(root_ / "CMakeLists.txt");
  EXPECT_EQ(infer_flags(file, root_.string(), new_torch).standard, "gnu++20");
}

using CompileCommands = TemporaryFolder;

TEST_F(CompileCommands, AreFoundUpwardsInBuildAndByOption) {
  add("CMakeLists.txt");
  const std::string file = add("src/a.cpp");
  const std::string json =
      R"([{"directory": ")" + root_.string() +
      R"(", "file": "src/a.cpp", "command": "g++ -DFROM_COMMANDS -c src/a.cpp"}])";
  EXPECT_TRUE(FlagSource("", TorchLocation{}).flags_for(file).inferred);

  add("build/compile_commands.json", json);
  FlagSource found("", TorchLocation{});
  EXPECT_FALSE(found.flags_for(file).inferred);
  EXPECT_THAT(found.flags_for(file).rest, ElementsAre("-DFROM_COMMANDS"));

  fs::rename(root_ / "build", root_ / "elsewhere");
  EXPECT_TRUE(FlagSource("", TorchLocation{}).flags_for(file).inferred);
  EXPECT_FALSE(
      FlagSource((root_ / "elsewhere").string(), TorchLocation{}).flags_for(file).inferred);
  EXPECT_THROW(FlagSource((root_ / "src").string(), TorchLocation{}), std::invalid_argument);
}

TEST_F(CompileCommands, NameTheTorchThatIsUsed) {
  add("torch/include/ATen/ATen.h");
  add("torch/include/torch/csrc/api/include/torch/torch.h");
  const std::string include = (root_ / "torch/include").string();
  const FileFlags flags =
      normalise({"g++", "-I" + include, "-I" + include + "/torch/csrc/api/include", "-Imine"});
  EXPECT_EQ(flags.torch.include, fs::canonical(include));
  EXPECT_THAT(flags.rest, ElementsAre("-I", "/source/mine"));
}

}  // namespace
}  // namespace devsan::lint::test
