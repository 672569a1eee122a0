// Name look-up over a finished parse, and types as text.
#include "declared_in.h"

#include <algorithm>
#include <set>

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/PrettyPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace devsan::lint::test {
namespace {

clang::PrintingPolicy policy_of(const clang::ASTContext& context) {
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressDefaultTemplateArgs = true;
#if LLVM_VERSION_MAJOR >= 22
  policy.SuppressInlineNamespace =
      llvm::to_underlying(clang::PrintingPolicy::SuppressInlineNamespaceMode::All);
#else
  policy.SuppressInlineNamespace = true;
#endif
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  return policy;
}

// Names of one parse mean nothing in another: they are looked up by their text or their kind.
clang::DeclarationName name_in(const clang::ASTContext& context, const clang::NamedDecl& like) {
  const clang::DeclarationName name = like.getDeclName();
  clang::DeclarationNameTable& names = context.DeclarationNames;
  switch (name.getNameKind()) {
    case clang::DeclarationName::Identifier:
      return &context.Idents.get(like.getName());
    case clang::DeclarationName::CXXOperatorName:
      return names.getCXXOperatorName(name.getCXXOverloadedOperator());
    default:
      return {};  // constructors, destructors and conversions belong to their class
  }
}

// Of a base, the pattern when it is a template like `Cloneable<Derived>`. Null when never defined.
const clang::CXXRecordDecl* class_behind(clang::QualType type) {
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (const auto* special = type->getAs<clang::TemplateSpecializationType>();
      record == nullptr && special != nullptr) {
    record = class_of(special->getTemplateName().getAsTemplateDecl());
  }
  return record == nullptr ? nullptr : record->getDefinition();
}

// `using Base::Base;`
bool inherits_constructors(const clang::CXXRecordDecl& record) {
  return std::any_of(record.decls_begin(), record.decls_end(), [](const clang::Decl* member) {
    if (!llvm::isa<clang::UsingDecl, clang::UnresolvedUsingValueDecl>(member)) return false;
    return llvm::cast<clang::NamedDecl>(member)->getDeclName().getNameKind() ==
           clang::DeclarationName::CXXConstructorName;
  });
}

class Lookup {
 public:
  explicit Lookup(clang::DeclarationName name) : name_(name) {}

  std::vector<const clang::NamedDecl*> in(const clang::DeclContext* scope) {
    if (!seen_.insert(scope->getPrimaryContext()).second) return {};
    std::vector<const clang::NamedDecl*> found = directly_in(scope);
    if (!found.empty()) return found;
    for (const clang::UsingDirectiveDecl* directive :
         const_cast<clang::DeclContext*>(scope)->using_directives()) {
      const auto more = in(directive->getNominatedNamespace());
      found.insert(found.end(), more.begin(), more.end());
    }
    const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(scope);
    if (record != nullptr && record->hasDefinition()) {
      for (const clang::CXXBaseSpecifier& base : record->bases()) {
        const clang::CXXRecordDecl* of = class_behind(base.getType());
        if (of == nullptr) continue;
        const auto more = in(of);
        found.insert(found.end(), more.begin(), more.end());
      }
    }
    return found;
  }

 private:
  std::vector<const clang::NamedDecl*> directly_in(const clang::DeclContext* scope) const {
    std::vector<const clang::NamedDecl*> found;
    for (const clang::NamedDecl* declaration : scope->lookup(name_)) {
      if (const auto* shadow = llvm::dyn_cast<clang::UsingShadowDecl>(declaration)) {
        declaration = shadow->getTargetDecl();
      }
      found.push_back(declaration);
    }
    return found;
  }

  clang::DeclarationName name_;
  std::set<const clang::DeclContext*> seen_;
};

// Constructors, destructors, conversions: those that the class declares.
std::vector<const clang::NamedDecl*> special_members(const clang::CXXRecordDecl& record,
                                                     const clang::NamedDecl& like) {
  std::vector<const clang::NamedDecl*> found;
  const auto kind = like.getDeclName().getNameKind();
  for (const clang::Decl* member : record.decls()) {
    const auto* named = llvm::dyn_cast<clang::NamedDecl>(member);
    if (named != nullptr && function_of(named) != nullptr &&
        named->getDeclName().getNameKind() == kind) {
      found.push_back(named);
    }
  }
  if (kind != clang::DeclarationName::CXXConstructorName) return found;
  for (const clang::CXXBaseSpecifier& base : record.bases()) {
    const clang::CXXRecordDecl* of = class_behind(base.getType());
    if (of == nullptr || !inherits_constructors(record)) continue;
    const auto more = special_members(*of, like);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace

std::string type_text(clang::QualType type, const clang::ASTContext& context) {
  return type.getCanonicalType().getAsString(policy_of(context));
}

std::string qualified_name(const clang::NamedDecl& declaration) {
  std::string text;
  llvm::raw_string_ostream out(text);
  declaration.printQualifiedName(out, policy_of(declaration.getASTContext()));
  return text;
}

std::string signature(const clang::FunctionDecl& function) {
  const clang::ASTContext& context = function.getASTContext();
  std::string text = qualified_name(function) + "(";
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (parameter != function.getParamDecl(0)) text += ", ";
    text += type_text(parameter->getType().getUnqualifiedType(), context);
  }
  text += ")";
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function)) {
    if (method->isConst()) text += " const";
    if (method->getRefQualifier() == clang::RQ_LValue) text += " &";
    if (method->getRefQualifier() == clang::RQ_RValue) text += " &&";
  }
  return text;
}

const clang::FunctionDecl* function_of(const clang::NamedDecl* declaration) {
  if (const auto* pattern = llvm::dyn_cast_or_null<clang::FunctionTemplateDecl>(declaration)) {
    return pattern->getTemplatedDecl();
  }
  return llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
}

const clang::CXXRecordDecl* class_of(const clang::NamedDecl* declaration) {
  const clang::CXXRecordDecl* record = nullptr;
  if (const auto* pattern = llvm::dyn_cast_or_null<clang::ClassTemplateDecl>(declaration)) {
    record = pattern->getTemplatedDecl();
  } else if (const auto* alias = llvm::dyn_cast_or_null<clang::TypedefNameDecl>(declaration)) {
    record = alias->getUnderlyingType()->getAsCXXRecordDecl();
  } else {
    record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(declaration);
  }
  if (record != nullptr && record->getDefinition() != nullptr) return record->getDefinition();
  return record;
}

std::vector<const clang::NamedDecl*> look_up(const clang::ASTContext& context,
                                             const clang::NamedDecl& like) {
  const clang::DeclContext* around = like.getDeclContext()->getRedeclContext();
  while (around->isInlineNamespace()) around = around->getParent();
  std::vector<const clang::DeclContext*> scopes;
  if (around->isTranslationUnit()) {
    scopes.push_back(context.getTranslationUnitDecl());
  } else {
    const auto* named = llvm::cast<clang::NamedDecl>(clang::Decl::castFromDeclContext(around));
    for (const clang::NamedDecl* outer : look_up(context, *named)) {
      if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(outer)) {
        scopes.push_back(space);
      } else if (const auto* alias = llvm::dyn_cast<clang::NamespaceAliasDecl>(outer)) {
        scopes.push_back(alias->getNamespace());
      } else if (const clang::CXXRecordDecl* record = class_of(outer)) {
        scopes.push_back(record);
      } else if (const auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(outer)) {
        scopes.push_back(enumeration);
      }
    }
  }
  std::vector<const clang::NamedDecl*> found;
  const clang::DeclarationName name = name_in(context, like);
  for (const clang::DeclContext* scope : scopes) {
    std::vector<const clang::NamedDecl*> more;
    if (!name.isEmpty()) {
      more = Lookup(name).in(scope);
    } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(scope)) {
      more = special_members(*record, like);
    }
    for (const clang::NamedDecl* declaration : more) {
      if (std::find(found.begin(), found.end(), declaration) == found.end()) {
        found.push_back(declaration);
      }
    }
  }
  return found;
}

}  // namespace devsan::lint::test
