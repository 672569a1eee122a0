// From clang's places to lines, and back.
#include "source_place.h"

#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/Path.h"

namespace devsan::lint {

std::string file_of(clang::SourceLocation place, const clang::SourceManager& sources) {
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(place));
  const clang::OptionalFileEntryRef entry = sources.getFileEntryRefForID(file);
  if (!entry) return {};
  // As it was asked for, not resolved: a checkout behind a link keeps the names its user knows.
  llvm::SmallString<256> path = entry->getName();
  sources.getFileManager().makeAbsolutePath(path);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

SourceRange place_of(clang::SourceLocation place, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  place = sources.getExpansionLoc(place);
  SourceRange range;
  range.file = file_of(place, sources);
  range.line = range.end_line = static_cast<int>(sources.getSpellingLineNumber(place));
  range.column = range.end_column = static_cast<int>(sources.getSpellingColumnNumber(place));
  return range;
}

clang::SourceLocation location_of(const SourceRange& place, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::OptionalFileEntryRef file = sources.getFileManager().getOptionalFileRef(place.file);
  if (!place.known() || !file) return {};
  return sources.translateFileLineCol(&file->getFileEntry(), static_cast<unsigned>(place.line),
                                      static_cast<unsigned>(place.column));
}

}  // namespace devsan::lint
