// Which operators are redirected, and the entry point that the core calls once the identity of
// PyTorch is known.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "simulator/compat.h"
#include "simulator/core/machine.h"
#include "simulator/redirect/allocator.h"
#include "simulator/redirect/redirect_kernel.h"
#include "simulator/redirect/replacements.h"

namespace devsan::sim {
namespace {

using c10::DispatchKey;

struct KeyPair {
  DispatchKey cuda;
  DispatchKey cpu;
};

constexpr KeyPair kKeys[] = {
    {DispatchKey::CUDA, DispatchKey::CPU},
    {DispatchKey::SparseCUDA, DispatchKey::SparseCPU},
    {DispatchKey::SparseCsrCUDA, DispatchKey::SparseCsrCPU},
};

// PyTorch's own kernels of these work on simulated memory: they allocate, describe or copy, and
// launch nothing.
const std::unordered_set<std::string>& kept() {
  static const std::unordered_set<std::string> names = {
      "aten::empty",
      "aten::empty_strided",
      "aten::set_",
      "aten::resize_",
      "aten::record_stream",
      "aten::is_pinned",
      "aten::_pin_memory",
      "aten::is_set_to",
      "aten::_efficientzerotensor",
      "aten::_assert_async",
      "aten::_has_same_storage_numel",
      "aten::_local_scalar_dense",
      "aten::_fused_sdp_choice",
  };
  return names;
}

bool is_view(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) return true;
  }
  return false;
}

bool has_cpu_kernel(const c10::OperatorHandle& op, DispatchKey cpu) {
  for (const DispatchKey key : {cpu, DispatchKey::CompositeExplicitAutograd,
                                DispatchKey::CompositeExplicitAutogradNonFunctional,
                                DispatchKey::CompositeImplicitAutograd}) {
    if (op.hasKernelForDispatchKey(key)) return true;
  }
  return false;
}

class Registration {
 public:
  // Registers every redirect. Other namespaces are left alone: c10d's collectives are not computed
  // by a CPU kernel, and what an extension launches must be named by the launch policy.
  void register_all() {
    register_replacements();
    for (const KeyPair& keys : kKeys) {
      for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
        const auto op = c10::Dispatcher::singleton().findSchema(name);
        if (op && name.name.starts_with("aten::")) consider(*op, keys);
      }
    }
    register_copy();
  }

  int count() const { return static_cast<int>(handles_.size()); }

 private:
  void consider(const c10::OperatorHandle& op, const KeyPair& keys) {
    const std::string& name = op.operator_name().name;
    if (!op.hasKernelForDispatchKey(keys.cuda) || kept().contains(name) || is_view(op.schema()))
      return;
    if (replaced_.contains(full_name(op)) || !has_cpu_kernel(op, keys.cpu)) return;
    put(op, keys.cuda,
        {.judge = compat::saved_kernel(op, keys.cuda),
         .replacement = std::nullopt,
         .cpu_key = keys.cpu});
  }

  void register_replacements() {
    Replacements list;
    add_convolutions(list);
    add_normalizations(list);
    add_sync_batch_norms(list);
    add_dropouts(list);
    add_grids(list);
    add_attentions(list);
    add_recurrent_cells(list);
    add_recurrent(list);
    for (Replacement& replacement : list) {
      const auto op =
          c10::Dispatcher::singleton().findSchema({replacement.name, replacement.overload});
      TORCH_CHECK(op.has_value(), "no operator ", replacement.name, ".", replacement.overload);
      replaced_.insert(full_name(*op));
      put(*op, DispatchKey::CUDA,
          {.judge = compat::saved_kernel(*op, DispatchKey::CUDA),
           .replacement = std::move(replacement.kernel)});
    }
  }

  // copy_ is one kernel for all devices, which chooses by itself; every mix of devices is legal.
  void register_copy() {
    const auto op = c10::Dispatcher::singleton().findSchema({"aten::copy_", ""});
    TORCH_CHECK(op.has_value(), "no operator aten::copy_");
    put(*op, DispatchKey::CUDA, {});
  }

  static std::string full_name(const c10::OperatorHandle& op) {
    return op.operator_name().name + "." + op.operator_name().overload_name;
  }

  void put(const c10::OperatorHandle& op, DispatchKey key, RedirectKernel::Policy policy) {
    auto kernel = c10::KernelFunction::makeFromBoxedFunctor<RedirectKernel>(
        std::make_unique<RedirectKernel>(op, std::move(policy)));
    handles_.push_back(c10::Dispatcher::singleton().registerImpl(
        op.operator_name(), key, std::move(kernel), std::nullopt, nullptr, "devsan simulator"));
  }

  std::vector<c10::RegistrationHandleRAII> handles_;
  std::unordered_set<std::string> replaced_;
};

// PyTorch warns for each kernel that is registered over another.
class Silence final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

std::string problem;

}  // namespace
}  // namespace devsan::sim

// Null when all went well, else one line that lives on.
extern "C" __attribute__((visibility("default"))) const char* devsan_redirect_start() {
  using namespace devsan::sim;  // NOLINT(google-build-using-namespace)
  // Never destroyed: the dispatcher outlives this library's statics.
  static auto* const registration = new Registration;
  try {
    Silence silence;
    const c10::WarningUtils::WarningHandlerGuard silent(&silence);
    registration->register_all();
  } catch (const std::exception& error) {
    problem = std::string("the kernel redirect could not be registered: ") + error.what();
    return problem.c_str();
  }
  const int count = registration->count();
  if (count < compat::kFewestKernels || count > compat::kMostKernels) {
    problem = std::to_string(count) + " kernels were redirected, expected are " +
              std::to_string(compat::kFewestKernels) + " to " +
              std::to_string(compat::kMostKernels);
    return problem.c_str();
  }
  install_allocator();
  set_recurrent_stubs();
  if (machine().config().verbose)
    std::fprintf(stderr, "devsan simulator: %d kernels redirected\n", count);
  return nullptr;
}
