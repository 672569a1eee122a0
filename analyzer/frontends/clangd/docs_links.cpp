// The link that an editor shows beside a finding: clangd takes the pages of all checks for
// clang-tidy's own; ours are files of this installation.
#include <filesystem>

#include "clangd_interface.h"
#include "devsan/findings/catalogue.h"
#include "llvm/ADT/StringExtras.h"

namespace clang::clangd {
namespace {

// The page of a rule as file: URI; empty when it is not installed.
std::string page_of(llvm::StringRef code) {
  const devsan::Rule* rule = devsan::find_rule(code, devsan::Half::kLint);
  if (rule == nullptr) return {};
  std::error_code error;
  const auto bin = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto page =
      bin.parent_path() / "share" / "devsan" / "rules" / (std::string(rule->page) + ".md");
  if (!std::filesystem::exists(page, error)) return {};
  std::string uri = "file://";
  for (const char letter : page.string()) {
    if (llvm::isAlnum(letter) || llvm::StringRef("/-._~").contains(letter)) {
      uri += letter;
    } else {
      uri += "%" + llvm::utohexstr(static_cast<unsigned char>(letter), /*LowerCase=*/false, 2);
    }
  }
  return uri;
}

void set_page(llvm::json::Object& diagnostic) {
  const std::optional<llvm::StringRef> code = diagnostic.getString("code");
  if (!code || !code->starts_with("devsan-")) return;
  const std::string page = page_of(*code);
  diagnostic.erase("codeDescription");
  if (!page.empty()) diagnostic["codeDescription"] = llvm::json::Object{{"href", page}};
}

class LinkingTransport : public Transport {
 public:
  explicit LinkingTransport(std::unique_ptr<Transport> next) : next_(std::move(next)) {}

  void notify(llvm::StringRef method, llvm::json::Value parameters) override {
    if (method == "textDocument/publishDiagnostics" && parameters.getAsObject() != nullptr) {
      if (auto* diagnostics = parameters.getAsObject()->getArray("diagnostics")) {
        for (llvm::json::Value& diagnostic : *diagnostics) {
          if (auto* object = diagnostic.getAsObject()) set_page(*object);
        }
      }
    }
    next_->notify(method, std::move(parameters));
  }
  void call(llvm::StringRef method, llvm::json::Value parameters, llvm::json::Value id) override {
    next_->call(method, std::move(parameters), std::move(id));
  }
  void reply(llvm::json::Value id, llvm::Expected<llvm::json::Value> result) override {
    next_->reply(std::move(id), std::move(result));
  }
  llvm::Error loop(MessageHandler& handler) override { return next_->loop(handler); }

 private:
  std::unique_ptr<Transport> next_;
};

}  // namespace

std::unique_ptr<Transport> original_json_transport(std::FILE* in, llvm::raw_ostream& out,
                                                   llvm::raw_ostream* mirror, bool pretty,
                                                   JSONStreamStyle style)
    DEVSAN_ORIGINAL(DEVSAN_NEW_JSON_TRANSPORT);
std::unique_ptr<Transport> json_transport(std::FILE* in, llvm::raw_ostream& out,
                                          llvm::raw_ostream* mirror, bool pretty,
                                          JSONStreamStyle style)
    DEVSAN_WRAPPER(DEVSAN_NEW_JSON_TRANSPORT);

std::unique_ptr<Transport> json_transport(std::FILE* in, llvm::raw_ostream& out,
                                          llvm::raw_ostream* mirror, bool pretty,
                                          JSONStreamStyle style) {
  return std::make_unique<LinkingTransport>(
      original_json_transport(in, out, mirror, pretty, style));
}

}  // namespace clang::clangd
