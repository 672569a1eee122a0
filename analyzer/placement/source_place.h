// Places in files that outlive clang's own: absolute paths, lines and columns.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceLocation.h"
#include "devsan/findings/finding.h"

namespace devsan::lint {

// The absolute path of the file in which a place stands, macros resolved to where they are used.
// Empty when it stands in none.
std::string file_of(clang::SourceLocation place, const clang::SourceManager& sources);

// Macros are resolved to where they are used.
SourceRange place_of(clang::SourceLocation place, const clang::ASTContext& context);

// The place in this translation unit. Invalid when its file was not read here.
clang::SourceLocation location_of(const SourceRange& place, const clang::ASTContext& context);

}  // namespace devsan::lint
