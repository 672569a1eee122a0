// The policy: reported at the factory, where the device is to be written.
#include "factory_without_device.h"

#include "../placement/expressions.h"
#include "../placement/torch_types.h"
#include "meeting_text.h"

namespace devsan::lint {
namespace {

// The parameter that a symbol stands for, when it is a tensor.
const clang::ValueDecl* tensor_of(const Operand& operand) {
  const DeviceValue* device = operand.placement.single();
  if (device == nullptr || !device->is_symbol()) return nullptr;
  const clang::ValueDecl* variable = device->symbol->variable();
  return variable != nullptr && is_tensor(variable->getType()) ? variable : nullptr;
}

// How the device is said in a factory's arguments. The dtype stays what it was.
void add_device(const clang::CallExpr& factory, const std::string& device,
                const clang::ASTContext& context, Diagnostic& diagnostic) {
  const auto whole = file_range(factory.getSourceRange(), context);
  if (!whole) return;
  const auto at = [](clang::SourceLocation place) {
    return clang::CharSourceRange::getCharRange(place, place);
  };
  const clang::FunctionDecl* callee = factory.getDirectCallee();
  if (plain_name(callee) == "from_blob") {
    // The memory is the host's: what is made of it can only be moved.
    diagnostic.edits.push_back({at(whole->getEnd()), ".to(" + device + ")"});
    diagnostic.advice = "write '.to(" + device + ")' behind it";
    return;
  }
  for (unsigned i = 0; i < factory.getNumArgs() && i < callee->getNumParams(); ++i) {
    if (!is_tensor_options(callee->getParamDecl(i)->getType())) continue;
    const clang::Expr* options = factory.getArg(i);
    if (llvm::isa<clang::CXXDefaultArgExpr>(options)) {
      diagnostic.edits.push_back({at(whole->getEnd().getLocWithOffset(-1)), ", " + device});
      diagnostic.advice = "write '" + device + "' as its last argument";
      return;
    }
    const auto range = file_range(options->getSourceRange(), context);
    if (!range) return;
    const clang::Expr* bare = written(options);
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(bare);
    const bool dtype = made != nullptr && !llvm::isa<clang::CXXTemporaryObjectExpr>(made);
    if (dtype) {
      diagnostic.edits.push_back({at(range->getBegin()), "torch::TensorOptions("});
      diagnostic.edits.push_back({at(range->getEnd()), ").device(" + device + ")"});
    } else {
      diagnostic.edits.push_back({at(range->getEnd()), ".device(" + device + ")"});
    }
    diagnostic.advice = "write '.device(" + device + ")' in its options";
    return;
  }
}

}  // namespace

std::optional<Diagnostic> factory_without_device(const Meeting& meeting,
                                                 const clang::ASTContext& context) {
  const bool first = meeting.first.placement.by_default;
  const Operand& made_here = first ? meeting.first : meeting.second;
  const Operand& other = first ? meeting.second : meeting.first;
  const auto* factory = llvm::dyn_cast_or_null<clang::CallExpr>(made_here.placement.made);
  if (!made_here.placement.by_default || factory == nullptr) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.rule = kFactoryWithoutDevice;
  diagnostic.tokens = factory->getSourceRange();
  diagnostic.message = "'" + quoted(factory, context) +
                       "' names no device and is made on the CPU, but it meets " +
                       name_of(other, context) + ", which is wherever " +
                       (other.module ? "the module was moved" : "the inputs and weights are");
  if (meeting.steps.empty()) {
    diagnostic.notes.push_back(
        {meeting.op->getExprLoc(), "they meet in " + op_of(meeting) + " here"});
  }
  add_way(meeting, context, diagnostic);
  if (made_here.placement.steps != nullptr) {
    // Made in a function that was called: what to change there is not said here.
    add_origin(made_here, context, diagnostic);
    return diagnostic;
  }
  std::optional<std::string> device = device_text(other, factory->getBeginLoc(), context);
  if (const clang::ValueDecl* tensor = device ? nullptr : tensor_of(other)) {
    device = tensor->getNameAsString() + ".device()";
  }
  if (device) add_device(*factory, *device, context, diagnostic);
  return diagnostic;
}

}  // namespace devsan::lint
