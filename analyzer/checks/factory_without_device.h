// Rule factory-without-device: in a module, a tensor made on the default device meets one whose
// device follows an input or a parameter.
#pragma once

#include <optional>

#include "../placement/evaluate.h"
#include "diagnostic.h"

namespace devsan::lint {

inline constexpr const char* kFactoryWithoutDevice = "factory-without-device";

// Nothing when neither side is what a factory made without being told a device.
std::optional<Diagnostic> factory_without_device(const Meeting& meeting,
                                                 const clang::ASTContext& context);

}  // namespace devsan::lint
