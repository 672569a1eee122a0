// Which C++ types are LibTorch's: the questions every rule asks of a type or a declaration.
//
// Names are compared without building qualified strings, since they are asked for every expression.
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

// The name of a declaration that has a plain one, else empty (operators, constructors).
llvm::StringRef plain_name(const clang::NamedDecl* declaration);

// True when the declaration is `space::name`, inline namespaces aside; `space` is one name, "c10".
bool is_named(const clang::NamedDecl* declaration, llvm::StringRef space, llvm::StringRef name);

// The class of a type, looking through references, typedefs and qualifiers. Null when it is none.
const clang::CXXRecordDecl* record_of(clang::QualType type);

bool is_tensor(clang::QualType type);           // at::Tensor, at::TensorBase
bool is_device(clang::QualType type);           // c10::Device
bool is_optional_device(clang::QualType type);  // std::optional<c10::Device>
bool is_tensor_options(clang::QualType type);   // c10::TensorOptions
bool is_device_type(clang::QualType type);      // the enumeration c10::DeviceType

bool takes_tensor(const clang::FunctionDecl& function);  // as a parameter

// A class that makes later CUDA work happen on a device it was given: CUDAGuard and its kin.
bool is_device_guard(clang::QualType type);

// Declared in one of LibTorch's namespaces, at any depth.
bool is_of_libtorch(const clang::Decl& declaration);

// Declared in the standard library, at any depth.
bool is_of_std(const clang::Decl& declaration);

// Derives from `space::name` (or is it). Asks bases of complete classes only; dependent ones are
// no.
bool derives_from(const clang::CXXRecordDecl* record, llvm::StringRef space, llvm::StringRef name);

// A class whose methods are a model's code: a torch::nn::Module or a torch::autograd::Function.
bool is_module_class(const clang::CXXRecordDecl* record);

}  // namespace devsan::lint
