// Runs clang on one file and keeps what its own declarations gave.
#include "translation_unit.h"

#include <algorithm>
#include <optional>

#include "checks/allow_comments.h"
#include "checks/nolint.h"
#include "checks/rules.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "invocation.h"
#include "llvm/ADT/DenseMap.h"
#include "no_instantiation.h"
#include "unit_files.h"

namespace devsan::lint {
namespace {

// Answers by file of a source manager, so that a path is compared once.
class OwnFiles {
 public:
  OwnFiles(const OwnCode& own, std::set<std::string>& seen) : own_(own), seen_(seen) {}

  bool contains(clang::SourceLocation place, const clang::SourceManager& sources) {
    if (place.isInvalid()) return false;  // of the compiler's making
    const clang::FileID file = sources.getFileID(sources.getExpansionLoc(place));
    const auto [entry, fresh] = known_.try_emplace(file, false);
    if (!fresh) return entry->second;
    const std::string path = file_of(place, sources);
    const bool own = own_.contains(path);
    if (own) seen_.insert(path);
    return known_[file] = own;
  }

  // The project's own files that were met, in the order of their numbers.
  std::vector<clang::FileID> read() const {
    std::vector<clang::FileID> files;
    for (const auto& [file, own] : known_) {
      if (own) files.push_back(file);
    }
    std::sort(files.begin(), files.end());
    return files;
  }

 private:
  const OwnCode& own_;
  std::set<std::string>& seen_;
  llvm::DenseMap<clang::FileID, bool> known_;
};

class Consumer : public NoInstantiation {
 public:
  Consumer(const OwnCode& own, const RuleSet& rules, const SummaryTable& known, UnitReport& report)
      : own_code_(own),
        rules_(rules),
        known_(known),
        report_(report),
        own_files_(own, report.own_files) {}

  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  void declared(clang::Decl* declaration) override {
    if (is_own(declaration)) declarations_.push_back(declaration);
  }

  bool is_wanted(const clang::FunctionDecl& instance) override { return is_own(&instance); }

  bool shouldSkipFunctionBody(clang::Decl* declaration) override { return !is_own(declaration); }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    context.setTraversalScope(declarations_);
    report_.confidence = parse_confidence(declarations_);
    const auto keep = [&](const Diagnostic& diagnostic) {
      if (auto finding = finding_of(diagnostic, context)) {
        report_.findings.push_back(std::move(*finding));
      }
    };
    UnitExchange exchange;
    exchange.known = &known_;
    const RuleStatistics statistics =
        run_rules(context, declarations_, rules_, own_code_.root_of(report_.file), keep, &exchange);
    for (const GuardQuestions::Candidate& candidate : exchange.guards.candidates) {
      if (auto finding = finding_of(candidate.diagnostic, context)) {
        report_.held.push_back({candidate.question, std::move(*finding)});
      }
    }
    report_.guard_facts = std::move(exchange.guards.facts);
    report_.summaries = std::move(exchange.summaries);
    report_.asked = std::move(exchange.asked);
    report_.functions_over_limit = statistics.functions_over_limit;
    if (statistics.too_deep.isValid()) {
      report_.failure =
          "code is nested too deep to be followed, in line " +
          std::to_string(sources_of(context).getExpansionLineNumber(statistics.too_deep));
    }
    for (const clang::FileID file : own_files_.read()) {
      const clang::SourceLocation begin = sources_of(context).getLocForStartOfFile(file);
      const std::string path = file_of(begin, sources_of(context));
      for (const AllowComment& comment : allow_comments(sources_of(context).getBufferData(file))) {
        if (rules_.runs(comment.rule)) report_.allows.insert(use_of(comment, path));
      }
    }
  }

 private:
  bool is_own(const clang::Decl* declaration) {
    return own_files_.contains(declaration->getLocation(), context_->getSourceManager());
  }

  static const clang::SourceManager& sources_of(const clang::ASTContext& context) {
    return context.getSourceManager();
  }

  static AllowUse use_of(const AllowComment& comment, const std::string& file) {
    return {file, comment.line, comment.rule, comment.has_reason};
  }

  // Nothing when a comment silences it.
  std::optional<Finding> finding_of(const Diagnostic& diagnostic,
                                    const clang::ASTContext& context) {
    const clang::SourceManager& sources = context.getSourceManager();
    const clang::SourceLocation place = sources.getExpansionLoc(diagnostic.tokens.getBegin());
    const llvm::StringRef text = sources.getBufferData(sources.getFileID(place));
    const std::string rule = std::string("devsan-") + diagnostic.rule;
    const unsigned line = sources.getSpellingLineNumber(place);
    if (is_silenced(text, line, rule)) return std::nullopt;
    for (const AllowComment& comment : allow_comments(text)) {
      if (!allows(comment, diagnostic.rule, line)) continue;
      report_.allows_used.insert(use_of(comment, file_of(place, sources)));
      return std::nullopt;
    }
    Finding finding = to_finding(diagnostic, context);
    // An edit outside the project's own files is not ours to make.
    const bool editable =
        std::all_of(finding.fixes.begin(), finding.fixes.end(),
                    [&](const Fix& fix) { return own_code_.contains(fix.place.file); });
    if (!editable) finding.fixes.clear();
    return finding;
  }

  const OwnCode& own_code_;
  const RuleSet& rules_;
  const SummaryTable& known_;
  UnitReport& report_;
  OwnFiles own_files_;
  clang::ASTContext* context_ = nullptr;
  std::vector<clang::Decl*> declarations_;
};

class MissingHeaders : public clang::PPCallbacks {
 public:
  explicit MissingHeaders(UnitReport& report) : report_(report) {}

  void InclusionDirective(clang::SourceLocation, const clang::Token&, llvm::StringRef name, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef file, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    if (file) return;
    auto& missing = report_.missing_headers;
    if (std::find(missing.begin(), missing.end(), name) == missing.end()) {
      missing.push_back(name.str());
    }
  }

 private:
  UnitReport& report_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(const OwnCode& own, const RuleSet& rules, const SummaryTable& known, UnitReport& report)
      : own_(own), rules_(rules), known_(known), report_(report) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<Consumer>(own_, rules_, known_, report_);
  }

  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    // As clangd does: a header that is not there costs its names, not the file.
    compiler.getPreprocessor().SetSuppressIncludeNotFoundError(true);
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<MissingHeaders>(report_));
    return true;
  }

 private:
  const OwnCode& own_;
  const RuleSet& rules_;
  const SummaryTable& known_;
  UnitReport& report_;
};

// Keeps the first error and the first fatal one; the rest are counted by what they broke.
class Errors : public clang::DiagnosticConsumer {
 public:
  std::string first;
  std::string fatal;

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    const bool is_fatal = level == clang::DiagnosticsEngine::Fatal;
    if (!first.empty() && (!is_fatal || !fatal.empty())) return;
    llvm::SmallString<128> text;
    diagnostic.FormatDiagnostic(text);
    std::string message = text.str().str();
    if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
      const clang::SourceManager& sources = diagnostic.getSourceManager();
      const clang::PresumedLoc place = sources.getPresumedLoc(diagnostic.getLocation());
      if (place.isValid()) {
        message = std::string(place.getFilename()) + ":" + std::to_string(place.getLine()) + ": " +
                  message;
      }
    }
    if (first.empty()) first = message;
    if (is_fatal) fatal = message;
  }
};

std::string failure_of(const UnitReport& report, const Errors& errors) {
  if (!errors.fatal.empty()) return errors.fatal;
  if (errors.first.empty()) return {};
  const ParseConfidence& confidence = report.confidence;
  const bool nothing_clean =
      confidence.statements > 0 && confidence.broken_statements == confidence.statements;
  if (confidence.declarations == 0 || nothing_clean) {
    return "nothing in it could be parsed; first error: " + errors.first;
  }
  return {};
}

}  // namespace

UnitReport analyse_unit(const std::string& file, const FileFlags& flags, const std::string& pch,
                        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files, const OwnCode& own,
                        const RuleSet& rules, const SummaryTable& known) {
  UnitReport report;
  report.file = file;
  report.summaries_used = static_cast<int>(known.size());
  report.inferred_flags = flags.inferred;
  report.cuda_headers_missing = flags.cuda && !flags.torch.cuda;

  std::vector<std::string> arguments = shared_arguments(flags);
  arguments.insert(arguments.end(), flags.rest.begin(), flags.rest.end());
  if (flags.inferred) arguments.insert(arguments.end(), {"-idirafter", UnitFiles::kFoundFolder});
  if (!pch.empty()) arguments.insert(arguments.end(), {"-include-pch", pch});
  // A header given by name is read as C++, and `#pragma once` in it is no news.
  arguments.insert(arguments.end(), {"-x", flags.cuda ? "cuda" : "c++", file});
  auto invocation = make_invocation(arguments, report.failure);
  if (invocation == nullptr) return report;
  invocation->getFrontendOpts().SkipFunctionBodies = true;  // Consumer says of which

  Errors errors;
  const auto compiler = make_compiler(std::move(invocation), std::move(files), errors);
  Action action(own, rules, known, report);
  compiler->ExecuteAction(action);
  report.first_error = errors.first;
  if (report.failure.empty()) report.failure = failure_of(report, errors);
  if (!report.failure.empty()) {
    report.findings.clear();
    report.held.clear();
    report.summaries = {};
    report.asked.clear();
  }
  return report;
}

}  // namespace devsan::lint
