// Flags: what is kept of a compile command, what is worked out without one, what keys the PCH.
#include "compile_flags.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "invocation.h"
#include "nvcc_command.h"
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

TEST(NvccCommand, BecomesWordsThatCompilersShare) {
  const FileFlags flags = normalise({"ccache",
                                     "/opt/cuda/bin/nvcc",
                                     "-forward-unknown-to-host-compiler",
                                     "-DFOO=1",
                                     "--define-macro",
                                     "BAR",
                                     "-Iinclude",
                                     "--include-path=other",
                                     "-isystem=/usr/x",
                                     "-std",
                                     "c++20",
                                     "-gencode",
                                     "arch=compute_80,code=sm_80",
                                     "--generate-code=arch=compute_90,code=[compute_90,sm_90]",
                                     "-Xcompiler",
                                     "-fPIC,-DHOST=2",
                                     "-Xcompiler=-Wall",
                                     "-Xptxas",
                                     "-v",
                                     "-ccbin",
                                     "gcc",
                                     "--expt-relaxed-constexpr",
                                     "--use_fast_math",
                                     "-x",
                                     "cu",
                                     "-c",
                                     "a.cpp",
                                     "-o",
                                     "a.o"});
  EXPECT_THAT(flags.rest, ElementsAre("-DFOO=1", "-DBAR", "-I", "/source/include", "-I",
                                      "/source/other", "-isystem", "/usr/x", "-DHOST=2"));
  EXPECT_EQ(flags.standard, "gnu++20");
  EXPECT_TRUE(flags.cuda);
}

TEST(NvccCommand, OptionsOfOtherCompilersAreTheirOwn) {
  // For GCC, -Xcompiler is nothing and the words behind it are words.
  EXPECT_FALSE(is_nvcc(std::vector<std::string>{"g++", "-c", "nvcc.cpp"}));
  EXPECT_FALSE(normalise({"g++", "-x", "c++", "-c", "a.cpp"}).cuda);
  EXPECT_TRUE(normalise({"clang++", "-x", "cuda", "-c", "a.cpp"}).cuda);
}

using NvccOptionsFile = TemporaryFolder;

TEST_F(NvccOptionsFile, IsRead) {
  add("flags.rsp", "-I\"with space\" -DFROM_FILE");
  const FileFlags flags = normalise_flags({"nvcc", "--options-file", "flags.rsp", "-c", "a.cu"},
                                          root_.string(), TorchLocation{});
  EXPECT_THAT(flags.rest, ElementsAre("-I", (root_ / "with space").string(), "-DFROM_FILE"));
}

using CudaHeaders = TemporaryFolder;

TEST_F(CudaHeaders, AreWholeWithTheCompilersPart) {
  const std::string runtime = (root_ / "cuda_runtime").string();
  const std::string crt = (root_ / "crt_wheel").string();
  add("cuda_runtime/cuda_runtime.h");
  add("cuda_runtime/cuda.h", "#ifndef X\n#define CUDA_VERSION 12090\n#endif\n");
  EXPECT_FALSE(cuda_in({runtime}));
  add("crt_wheel/crt/host_defines.h");
  const auto cuda = cuda_in({runtime, crt});
  ASSERT_TRUE(cuda);
  EXPECT_EQ(cuda->version, "12.9");
  EXPECT_THAT(cuda->folders, ElementsAre(runtime, crt));
}

TEST_F(CudaHeaders, ThrustHasAFolderOfItsOwnSinceCuda13) {
  add("include/cuda_runtime.h");
  add("include/cuda.h", "#define CUDA_VERSION 13000\n");
  add("include/crt/host_defines.h");
  add("include/cccl/thrust/version.h");
  const std::string include = (root_ / "include").string();
  const auto cuda = cuda_in({include});
  ASSERT_TRUE(cuda);
  EXPECT_EQ(cuda->version, "13.0");
  EXPECT_THAT(cuda->folders, ElementsAre(include, include + "/cccl"));
}

TEST_F(CudaHeaders, OfTheNvccInTheCommandGoFirst) {
  add("include/cuda_runtime.h");
  add("include/cuda.h", "#define CUDA_VERSION 12040\n");
  add("include/crt/host_defines.h");
  TorchLocation torch;
  torch.cuda = CudaLocation{{"/wheels"}, "13.0"};
  const std::string nvcc = (root_ / "bin/nvcc").string();
  EXPECT_EQ(normalise_flags({nvcc, "-c", "a.cu"}, "/source", torch).torch.cuda->version, "12.4");
  EXPECT_EQ(normalise_flags({"nvcc", "-c", "a.cu"}, "/source", torch).torch.cuda->version, "13.0");
}

TEST(Invocation, OfCudaFilesReadsTheHostSideOnly) {
  FileFlags flags = normalise({"nvcc", "-x", "cu", "a.cpp"});
  const auto host = shared_arguments(flags);
  EXPECT_THAT(host, Contains("--cuda-host-only"));
  flags.cuda = false;
  EXPECT_THAT(shared_arguments(flags), Not(Contains("--cuda-host-only")));
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

TEST_F(InferFlags, FilesOfOneFolderKeepTheirLanguage) {
  FlagSource source("", TorchLocation{});
  const std::string host = add("op.cpp");
  const std::string kernel = add("op.cu");
  EXPECT_FALSE(source.flags_for(host).cuda);
  EXPECT_TRUE(source.flags_for(kernel).cuda);
  EXPECT_FALSE(source.flags_for(host).cuda);
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
