// How the rules that judge meetings speak of operands and devices, and what they write for one.
#pragma once

#include <optional>
#include <string>

#include "../placement/evaluate.h"
#include "clang/AST/ASTContext.h"
#include "diagnostic.h"

namespace devsan::lint {

// `device` of `net->to(device)`, `x.to(device)` or `torch::jit::load(path, device)`. Null when
// `made` is no call, or names none.
const clang::Expr* device_argument(const clang::Expr* made);

// The operand as the program spells it, in quotes.
std::string name_of(const Operand& operand, const clang::ASTContext& context);

// "the CPU", "cuda:1", "'device'", "the device of 'x'".
std::string place_of(const Operand& operand, const clang::ASTContext& context);

// An expression that gives the operand's device and can be written at `place`. Nothing when there
// is none that is certain to mean the same there.
std::optional<std::string> device_text(const Operand& operand, clang::SourceLocation place,
                                       const clang::ASTContext& context);

// Appends `.to(device)` to where `operand` is written: in the op, or where it was put into the
// container that the op takes.
void add_move(const Operand& operand, const Operand& target, const clang::ASTContext& context,
              Diagnostic& diagnostic);

// Where the operand's device comes from, as notes of the path.
void add_origin(const Operand& operand, const clang::ASTContext& context, Diagnostic& diagnostic);

// For a meeting inside a function that is called: the calls that lead there, and the op.
void add_way(const Meeting& meeting, const clang::ASTContext& context, Diagnostic& diagnostic);

// "forward", "'matmul'", "'+'": the op that both enter.
std::string op_of(const Meeting& meeting);

}  // namespace devsan::lint
