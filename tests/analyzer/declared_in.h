// What headers declare, in a form that two parses of different headers can be compared by.
#pragma once

#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint::test {

// A type as text: canonical, without inline namespaces and default template arguments; template
// parameters by their numbers. Equal texts of two parses are the same type.
std::string type_text(clang::QualType type, const clang::ASTContext& context);

// `at::Tensor::sum(c10::ArrayRef<long>, bool) const`: what tells an overload from another.
std::string signature(const clang::FunctionDecl& function);

// `c10::Device::type`, inline namespaces left out.
std::string qualified_name(const clang::NamedDecl& declaration);

// The declarations that `at::Tensor::sum`, given as its parts, names: through using-directives,
// aliases and base classes, using-declarations and templates resolved to what they stand for.
std::vector<const clang::NamedDecl*> look_up(const clang::ASTContext& context,
                                             const clang::NamedDecl& like);

// The function of a function or function template; null for anything else.
const clang::FunctionDecl* function_of(const clang::NamedDecl* declaration);

// The class of a class or class template, with its members; null for anything else.
const clang::CXXRecordDecl* class_of(const clang::NamedDecl* declaration);

}  // namespace devsan::lint::test
