// Finds the first include by the text of the file.
#include "include_edit.h"

#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

std::optional<Edit> include_edit(clang::SourceLocation place, const std::string& header,
                                 const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::FileID file = sources.getFileID(sources.getExpansionLoc(place));
  const llvm::StringRef text = sources.getBufferData(file);
  const clang::SourceLocation begin = sources.getLocForStartOfFile(file);
  if (text.contains(header)) return Edit{clang::CharSourceRange::getCharRange(begin, begin), ""};
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    const auto [line, after] = rest.split('\n');
    const llvm::StringRef directive = line.trim();
    // What is under a condition may not be read at all.
    if (directive.starts_with("#if") && !directive.starts_with("#ifndef")) return std::nullopt;
    if (directive.starts_with("#include")) {
      const auto offset = static_cast<int>(line.data() - text.data());
      const clang::SourceLocation at = begin.getLocWithOffset(offset);
      return Edit{clang::CharSourceRange::getCharRange(at, at), "#include <" + header + ">\n"};
    }
    rest = after;
  }
  return Edit{clang::CharSourceRange::getCharRange(begin, begin), ""};
}

}  // namespace devsan::lint
