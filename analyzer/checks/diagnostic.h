// What a check says, in clang's own places, and the one piece of code that turns it into a Finding.
#pragma once

#include <string>
#include <vector>

#include "../placement/source_place.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceLocation.h"
#include "devsan/findings/finding.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace devsan::lint {

struct Note {
  clang::SourceLocation place;
  std::string text;
  SourceRange elsewhere = {};  // when it is in a file that this translation unit does not read
};

// Replace `range` (an empty one inserts before its begin) by `text`.
struct Edit {
  clang::CharSourceRange range;
  std::string text;
};

struct Diagnostic {
  const char* rule = "";  // without a prefix: "dropped-move"
  Level level = Level::kWarning;
  std::string message;
  clang::SourceRange tokens;  // what is wrong; in a macro, where the macro is used
  std::vector<Note> notes;
  std::string advice;
  std::vector<Edit> edits;  // applied together or not at all
};

using Report = llvm::function_ref<void(const Diagnostic&)>;

// The finding with absolute paths of files.
Finding to_finding(const Diagnostic& diagnostic, const clang::ASTContext& context);

}  // namespace devsan::lint
