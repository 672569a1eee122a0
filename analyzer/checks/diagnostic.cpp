// Clang's places become lines, columns and paths.
#include "diagnostic.h"

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace devsan::lint {
namespace {

SourceRange to_source_range(clang::CharSourceRange range, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  range = sources.getExpansionRange(range);
  const clang::SourceLocation begin = range.getBegin();
  clang::SourceLocation end = range.getEnd();
  if (range.isTokenRange()) {
    end = clang::Lexer::getLocForEndOfToken(end, 0, sources, context.getLangOpts());
  }
  SourceRange place;
  place.file = file_of(begin, sources);
  place.line = static_cast<int>(sources.getSpellingLineNumber(begin));
  place.column = static_cast<int>(sources.getSpellingColumnNumber(begin));
  const bool ends_in_it = end.isValid() && sources.getFileID(begin) == sources.getFileID(end);
  place.end_line = ends_in_it ? static_cast<int>(sources.getSpellingLineNumber(end)) : place.line;
  place.end_column =
      ends_in_it ? static_cast<int>(sources.getSpellingColumnNumber(end)) : place.column;
  return place;
}

}  // namespace

Finding to_finding(const Diagnostic& diagnostic, const clang::ASTContext& context) {
  Finding finding;
  finding.rule = diagnostic.rule;
  finding.level = diagnostic.level;
  finding.message = diagnostic.message;
  finding.advice = diagnostic.advice;
  finding.place =
      to_source_range(clang::CharSourceRange::getTokenRange(diagnostic.tokens), context);
  for (const Note& note : diagnostic.notes) {
    PathStep step;
    step.label = note.text;
    step.place = note.place.isValid()
                     ? to_source_range(clang::CharSourceRange::getTokenRange(note.place), context)
                     : note.elsewhere;
    finding.path.push_back(std::move(step));
  }
  for (const Edit& edit : diagnostic.edits) {
    finding.fixes.push_back(Fix{to_source_range(edit.range, context), edit.text});
  }
  return finding;
}

}  // namespace devsan::lint
