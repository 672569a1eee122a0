// Parses a test's code in memory and runs the rules on its own declarations.
#include "check_code.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "apply_fixes.h"
#include "checks/rules.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Tooling/Tooling.h"
#include "cuda_location.h"
#include "no_instantiation.h"
#include "real_torch.h"
#include "source_files.h"

namespace devsan::lint::test {
namespace {

class Consumer : public NoInstantiation {
 public:
  Consumer(const RuleSet& rules, std::vector<Finding>& findings)
      : rules_(rules), findings_(findings) {}

  void Initialize(clang::ASTContext& context) override { context_ = &context; }
  void declared(clang::Decl* declaration) override {
    if (is_in_main_file(*declaration)) declarations_.push_back(declaration);
  }
  void HandleTranslationUnit(clang::ASTContext& context) override {
    run_rules(context, declarations_, rules_, "/project", [&](const Diagnostic& diagnostic) {
      findings_.push_back(to_finding(diagnostic, context));
    });
  }

 private:
  bool is_in_main_file(const clang::Decl& declaration) const {
    const clang::SourceManager& sources = context_->getSourceManager();
    return sources.isInMainFile(sources.getExpansionLoc(declaration.getLocation()));
  }
  bool is_wanted(const clang::FunctionDecl& instance) override { return is_in_main_file(instance); }

  const RuleSet& rules_;
  std::vector<Finding>& findings_;
  clang::ASTContext* context_ = nullptr;
  std::vector<clang::Decl*> declarations_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(const RuleSet& rules, std::vector<Finding>& findings)
      : rules_(rules), findings_(findings) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<Consumer>(rules_, findings_);
  }

 private:
  const RuleSet& rules_;
  std::vector<Finding>& findings_;
};

std::vector<std::string> mock_arguments() {
  return {"-std=c++20",  "-w",       "-nostdinc",
          "-nostdinc++", "-include", DEVSAN_MOCK_TORCH "/torch/torch.h"};
}

constexpr const char* kCudaRuntime = "/project/cuda_runtime.h";

// What `devsan lint` parses CUDA files with where there are no CUDA headers.
std::vector<std::string> cuda_arguments() {
  return {"-x",         "cuda",    "--cuda-host-only",         "-nocudainc",
          "-nocudalib", "-Xclang", "-target-sdk-version=12.0", "-include",
          kCudaRuntime};
}

std::vector<std::string> real_arguments(const std::string& code) {
  std::vector<std::string> arguments = real_torch_arguments();
  // Not in torch/torch.h, and slow to read.
  if (code.find("c10::cuda::") != std::string::npos) {
    arguments.insert(arguments.end(), {"-include", "c10/cuda/CUDAGuard.h"});
  }
  if (code.find("nn::parallel::") != std::string::npos) {
    arguments.insert(arguments.end(), {"-include", "torch/nn/parallel/data_parallel.h"});
  }
  return arguments;
}

}  // namespace

std::string Checked::fixed() const {
  std::vector<const Finding*> pointers;
  for (const Finding& finding : findings) pointers.push_back(&finding);
  std::vector<std::size_t> applied;
  return with_fixes(code, pointers, applied);
}

Checked check_anything(const std::string& code, const RuleSet& rules, const std::string& path) {
  Checked checked;
  checked.code = code;
  const bool cuda = is_cuda(path);
  std::vector<std::string> arguments = std::getenv("DEVSAN_REAL_TORCH") != nullptr && !cuda
                                           ? real_arguments(code)
                                           : mock_arguments();
  clang::tooling::FileContentMappings files;
  if (cuda) {
    files.emplace_back(kCudaRuntime, cuda_stand_in());
    const std::vector<std::string> more = cuda_arguments();
    arguments.insert(arguments.begin(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"-include", DEVSAN_MOCK_TORCH "/ATen/cuda/CUDAContext.h"});
  }
  checked.compiles = clang::tooling::runToolOnCodeWithArgs(
      std::make_unique<Action>(rules, checked.findings), code, arguments, path, "clang-tool",
      std::make_shared<clang::PCHContainerOperations>(), files);
  return checked;
}

Checked check(const std::string& code, const RuleSet& rules, const std::string& path) {
  Checked checked = check_anything(code, rules, path);
  EXPECT_TRUE(checked.compiles) << "the test's code does not compile";
  return checked;
}

std::vector<int> lines(const Checked& checked) {
  std::vector<int> result;
  for (const Finding& finding : checked.findings) result.push_back(finding.place.line);
  return result;
}

}  // namespace devsan::lint::test
