// One PCH a key, made under a file lock, checked by length and hash before it is used.
#include "header_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "cache_folder.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticBuffer.h"
#include "clang/Lex/Preprocessor.h"
#include "interrupt.h"
#include "invocation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include "no_instantiation.h"
#include "safe_thread.h"
#include "whole_files.h"

namespace devsan::lint {
namespace fs = std::filesystem;
namespace {

// Changes when what we put into a PCH, or how we make it, does.
constexpr const char* kRevision = "1";

std::string headers_of(HeaderSet set, const FileFlags& flags) {
  std::string headers;
  if (flags.cuda) {
    // What clang's driver would include first, had it found the toolkit.
    headers = flags.torch.cuda ? "#include <__clang_cuda_runtime_wrapper.h>\n" : cuda_stand_in();
  }
  headers +=
      set == HeaderSet::kTorch ? "#include <torch/torch.h>\n" : "#include <torch/extension.h>\n";
  headers += "#include <torch/script.h>\n";
  if (flags.cuda)
    headers += "#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n";
  return headers;
}

// Holds a file's lock while it lives; the kernel gives it back should we die.
class FileLock {
 public:
  explicit FileLock(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) {
      throw std::runtime_error("cannot write to the cache folder '" + path.parent_path().string() +
                               "' (--no-cache does without)");
    }
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { ::close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

// Length and hash of a file, as its .sum records them; empty when it cannot be read.
std::string checksum(const fs::path& path) {
  const auto buffer = llvm::MemoryBuffer::getFile(path.string(), false, false);
  if (!buffer) return {};
  const llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::to_string(bytes.size()) + " " +
         llvm::utohexstr(llvm::xxh3_64bits(llvm::arrayRefFromStringRef(bytes)));
}

class MakePch : public clang::GeneratePCHAction {
 public:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    compiler.getPreprocessor().SetSuppressIncludeNotFoundError(true);
    return GeneratePCHAction::BeginSourceFileAction(compiler);
  }

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    auto writer = GeneratePCHAction::CreateASTConsumer(compiler, file);
    if (writer == nullptr) return nullptr;
    // In this order: what is pending goes before the PCH is written.
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<NoInstantiation>());
    consumers.push_back(std::move(writer));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }
};

void build_pch(const FileFlags& flags, const fs::path& header, const fs::path& pch) {
  std::vector<std::string> arguments = shared_arguments(flags);
  arguments.insert(arguments.end(), {"-x", flags.cuda ? "cuda" : "c++-header", header.string()});
  std::string error;
  auto invocation = make_invocation(arguments, error);
  if (invocation == nullptr) throw std::runtime_error(error);
  invocation->getFrontendOpts().OutputFile = pch.string();
  invocation->getFrontendOpts().SkipFunctionBodies = true;
  clang::TextDiagnosticBuffer messages;
  const auto compiler =
      make_compiler(std::move(invocation), llvm::vfs::createPhysicalFileSystem(), messages);
  MakePch action;
  compiler->ExecuteAction(action);
  if (!fs::exists(pch)) {
    throw std::runtime_error("LibTorch's headers cannot be parsed" +
                             (messages.err_begin() == messages.err_end()
                                  ? std::string()
                                  : ": " + messages.err_begin()->second));
  }
}

// A crash must not take our caller's locks with it.
void build_safely(const FileFlags& flags, const fs::path& header, const fs::path& pch) {
  const bool survived = run_on_safe_thread([&] { build_pch(flags, header, pch); });
  if (!survived) throw std::runtime_error("clang crashed while it parsed LibTorch's headers");
}

}  // namespace

HeaderSet header_set_for(const std::string& source_text) {
  const llvm::StringRef text = source_text;
  const bool python = text.contains("torch/extension.h") || text.contains("pybind11") ||
                      text.contains("torch/csrc/utils/pybind.h");
  return python ? HeaderSet::kPython : HeaderSet::kTorch;
}

HeaderCache::HeaderCache(bool use_cache) {
  const fs::path user = use_cache ? user_cache_folder() : fs::path();
  temporary_ = user.empty();
  if (!temporary_) {
    folder_ = (user / kHeadersFolder).string();
    std::error_code error;
    fs::create_directories(folder_, error);
    return;
  }
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("devsan-headers", folder)) {
    throw std::runtime_error("cannot make a temporary folder");
  }
  folder_ = folder.str().str();
  remove_on_interrupt(folder_);
}

HeaderCache::~HeaderCache() {
  std::error_code error;
  if (temporary_) fs::remove_all(folder_, error);
}

std::string HeaderCache::key_of(const FileFlags& flags, HeaderSet set) {
  std::string key = std::string(kRevision) + "\n" + clang::getClangFullVersion() + "\n" +
                    headers_of(set, flags) + flags.torch.identity + "\n";
  for (const std::string& argument : shared_arguments(flags)) key += argument + "\n";
  return key;
}

std::string HeaderCache::pch_for(const FileFlags& flags, HeaderSet set) {
  const std::string key = key_of(flags, set);
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto [known, is_new] = made_.try_emplace(key);
  Made& made = known->second;
  if (is_new) {
    try {
      made.path = make(flags, set, key);
    } catch (const std::exception& error) {
      made.error = error.what();
    }
  }
  if (made.path.empty()) throw std::runtime_error(made.error);
  return made.path;
}

std::string HeaderCache::make(const FileFlags& flags, HeaderSet set, const std::string& key) {
  const auto hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(llvm::StringRef(key)));
  const fs::path base =
      fs::path(folder_) / (llvm::utohexstr(hash.high64) + llvm::utohexstr(hash.low64));
  const fs::path pch = base.string() + ".pch";
  const fs::path sum = base.string() + ".sum";
  const fs::path header = base.string() + ".h";

  const std::string headers = headers_of(set, flags);
  const FileLock lock(base.string() + ".lock");
  const std::string expected = read_file(sum);
  if (!expected.empty() && expected == checksum(pch) && read_file(header) == headers) {
    mark_used(sum);
    return pch.string();
  }
  const auto start = std::chrono::steady_clock::now();
  std::error_code error;
  fs::remove(sum, error);
  fs::remove(pch, error);
  // So that a reader never sees half a file.
  replace_file(header, headers);
  build_safely(flags, header, pch);
  replace_file(sum, checksum(pch));
  ++built_;
  build_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return pch.string();
}

}  // namespace devsan::lint
