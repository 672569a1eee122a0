// Types whose values are followed, and the calls that lead from a value to what it holds.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringRef.h"

namespace devsan::lint {

// Device, DeviceType, optional<Device>, TensorOptions.
bool names_device(clang::QualType type);

// Of the types whose values are followed: all classes, pointers to them, and devices.
bool is_followed(clang::QualType type);

// The step of a path to a member: its name, or its number in a std::pair.
llvm::StringRef member_step(const clang::ValueDecl& member);

// std::tuple or std::pair.
bool is_tuple(clang::QualType type);

// std::optional, smart pointers, IValue, ModuleHolder, ...: stand for what they hold.
bool is_wrapper(clang::QualType type);
bool is_wrapper(const clang::CXXRecordDecl& record);

// What is given as this type is shared: a function can change it for its caller. References and
// pointers to what is not const, smart pointers, modules.
bool is_shared(clang::QualType type);

// A pointer, raw or smart, that others may hold too, to what is no module.
bool may_be_aliased(clang::QualType type);

// What a method gives of its object: nothing that is followed, what it wraps, one of its elements.
enum class Access { kNone, kWhole, kElement };
Access access_of(const clang::CXXMemberCallExpr& call);

// "1" of `std::get<1>(tuple)`.
std::optional<std::string> got_element(const clang::CallExpr& call);

// std::move, std::forward, std::ref, ...: gives what it is given.
bool passes_on(const clang::CallExpr& call);

}  // namespace devsan::lint
