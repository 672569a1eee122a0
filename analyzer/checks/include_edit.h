// Adding a header to a file that a fix-it needs.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/ASTContext.h"
#include "diagnostic.h"

namespace devsan::lint {

// The edit that includes `header` (as in <header>) before the first include of the file in which
// `place` stands; with an empty text when the file names it already, or includes nothing at all and
// so gets its declarations from whoever includes it. Nothing when there is no safe place for it.
std::optional<Edit> include_edit(clang::SourceLocation place, const std::string& header,
                                 const clang::ASTContext& context);

}  // namespace devsan::lint
