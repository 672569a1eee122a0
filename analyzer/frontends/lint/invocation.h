// Clang's own command for a file or for the header PCH, made from our flags.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Frontend/CompilerInvocation.h"
#include "compile_flags.h"

namespace devsan::lint {

// The flags that the PCH and every file that uses it must share; a PCH is keyed by these.
std::vector<std::string> shared_arguments(const FileFlags& flags);

// `arguments` without a program's name. Null when clang's driver refuses them, with why in `error`.
std::unique_ptr<clang::CompilerInvocation> make_invocation(
    const std::vector<std::string>& arguments, std::string& error);

}  // namespace devsan::lint
