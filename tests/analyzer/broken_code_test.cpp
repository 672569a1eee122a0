// Code as an editor sees it while it is written, and bytes that are no code at all: nothing
// crashes, and nothing is found where there is nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "check_code.h"

namespace devsan::lint::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> files_below(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(DEVSAN_SOURCE "/" + folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Its examples of C++, one after the other.
std::string examples_of(const std::string& page) {
  const std::string fence = "```cpp\n";
  std::string code;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const std::size_t end = page.find("```", at);
    code += page.substr(at, end - at);
    at = end;
  }
  return code;
}

int count_lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
}

// Parses `code` up to the end of every line. How often something was found, over all.
std::size_t truncate_at_each_line(const std::string& code, const std::string& name) {
  std::size_t found = 0;
  for (std::size_t end = code.find('\n'); end != std::string::npos;
       end = code.find('\n', end + 1)) {
    const std::string part = code.substr(0, end + 1);
    const Checked checked = check_anything(part);
    found += checked.findings.size();
    for (const Finding& finding : checked.findings) {
      EXPECT_GE(finding.place.line, 1) << name << " cut at " << count_lines(part);
      EXPECT_LE(finding.place.line, count_lines(part)) << name << " cut at " << count_lines(part);
    }
  }
  return found;
}

TEST(Truncated, ExamplesOfRulePages) {
  std::size_t found = 0;
  for (const fs::path& page : files_below("docs/rules", ".md")) {
    found += truncate_at_each_line(examples_of(read(page)), page.string());
  }
  EXPECT_GT(found, 50U) << "code that is not finished yet must still be looked at";
}

// Most of what they use the mock has not: errors in nearly every line.
TEST(Truncated, ReferenceModels) {
  const std::vector<fs::path> files = files_below("reference_models", ".cpp");
  ASSERT_GT(files.size(), 20U);
  for (const fs::path& file : files) truncate_at_each_line(read(file), file.string());
}

// A file cut in the middle of tokens, strings and comments.
TEST(Truncated, AtEachByte) {
  const std::string code =
      "struct NetImpl : torch::nn::Module {\n  NetImpl() : fc(2, 2) { s = \"a\\\"b\"; /* not */ }\n"
      "  torch::Tensor forward(torch::Tensor x) { x.cuda(); return fc(x) + torch::zeros({2}); }\n"
      "  torch::nn::Linear fc; const char* s = R\"(raw)\"; // end\n};\nTORCH_MODULE(Net);\n";
  for (std::size_t length = 0; length < code.size(); ++length) {
    check_anything(code.substr(0, length));
  }
}

TEST(Broken, LinesLeftOut) {
  const std::string code = examples_of(read(DEVSAN_SOURCE "/docs/rules/unregistered-member.md"));
  std::vector<std::string> lines;
  std::stringstream in(code);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  ASSERT_GT(lines.size(), 10U);
  for (std::size_t left_out = 0; left_out < lines.size(); ++left_out) {
    std::string rest;
    for (std::size_t i = 0; i < lines.size(); ++i) rest += i == left_out ? "" : lines[i];
    check_anything(rest);
  }
}

struct Bytes {
  std::string name;
  std::string code;
  std::size_t findings;
};

class NoText : public ::testing::TestWithParam<Bytes> {};

TEST_P(NoText, IsLookedAtAsFarAsItGoes) {
  EXPECT_EQ(
      check_anything(GetParam().code, RuleSet::parse("-*,devsan-dropped-move")).findings.size(),
      GetParam().findings);
}

constexpr const char* kDropped = "void f(torch::Tensor x) { x.cuda(); }\n";

std::string noise() {
  std::string bytes;
  unsigned state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525 + 1013904223;
    bytes += static_cast<char>(state >> 24);
  }
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Files, NoText,
    ::testing::Values(
        Bytes{"Empty", "", 0}, Bytes{"OneNewline", "\n", 0}, Bytes{"Noise", noise(), 0},
        Bytes{"NulBetween", std::string("\0 \0", 3) + kDropped + std::string("\0", 1), 1},
        Bytes{"NulInString", "const char* s = \"" + std::string("a\0b", 3) + "\";\n" + kDropped, 1},
        Bytes{"Latin1", std::string("// \xe9\xff\n") + kDropped, 1},
        Bytes{"BadUtf8InDevice", "torch::Device d(\"\xff\xfe:\xf0\");\n" + std::string(kDropped),
              1},
        Bytes{"Utf8Mark", std::string("\xef\xbb\xbf") + kDropped, 1},
        Bytes{"WindowsLines", "void f(torch::Tensor x) {\r\n  x.cuda();\r\n}\r\n", 1},
        Bytes{"OldMacLines", "void f(torch::Tensor x) {\r  x.cuda();\r}\r", 1},
        Bytes{"NoLastNewline", "void f(torch::Tensor x) { x.cuda(); }", 1},
        Bytes{"OpenComment", std::string(kDropped) + "/* ", 1},
        Bytes{"OpenRawString", std::string(kDropped) + "const char* s = R\"x(", 1},
        Bytes{"OpenConditional", std::string("#if 1\n") + kDropped, 1},
        Bytes{"Directives",
              std::string("#if\n#elif (\n#endif\n#line 0\n#line 99999999999\n#error no\n"
                          "#pragma once\n#define f(\n#include\n#include \"\"\n") +
                  kDropped,
              1},
        Bytes{"LineOfAnotherFile", std::string("#line 7 \"/nowhere/else.cpp\"\n") + kDropped, 1}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace devsan::lint::test
