// Sparse tensors: their parts are strided tensors, which are aliased as such.
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>

#include "simulator/redirect/aliases.h"

namespace devsan::sim {
namespace {

at::Tensor make_sparse(const at::SparseTensorImpl& like, c10::DispatchKey key,
                       const at::Tensor& indices, const at::Tensor& values) {
  at::Tensor tensor =
      at::detail::make_tensor<at::SparseTensorImpl>(c10::DispatchKeySet(key), like.dtype());
  auto& impl = static_cast<at::SparseTensorImpl&>(*tensor.unsafeGetTensorImpl());
  impl.resize_(like.sparse_dim(), like.dense_dim(), like.sizes());
  impl.set_indices_and_values_unsafe(indices, values);
  impl.set_coalesced(like.coalesced());
  return tensor;
}

at::Tensor make_compressed(const at::SparseCsrTensorImpl& like, c10::Device device,
                           const at::Tensor& compressed, const at::Tensor& plain,
                           const at::Tensor& values) {
  const c10::DispatchKey key =
      device.is_cuda() ? c10::DispatchKey::SparseCsrCUDA : c10::DispatchKey::SparseCsrCPU;
  at::Tensor tensor = at::detail::make_tensor<at::SparseCsrTensorImpl>(
      c10::DispatchKeySet(key), device, like.layout(), like.dtype());
  static_cast<at::SparseCsrTensorImpl&>(*tensor.unsafeGetTensorImpl())
      .set_member_tensors(compressed, plain, values, like.sizes());
  return tensor;
}

}  // namespace

at::Tensor Aliases::sparse_to_cpu(const at::Tensor& tensor) {
  const auto& impl = static_cast<const at::SparseTensorImpl&>(*tensor.unsafeGetTensorImpl());
  return make_sparse(impl, c10::DispatchKey::SparseCPU, to_cpu(impl.indices()),
                     to_cpu(impl.values()));
}

at::Tensor Aliases::sparse_to_cuda(const at::Tensor& result) {
  const auto& impl = static_cast<const at::SparseTensorImpl&>(*result.unsafeGetTensorImpl());
  return make_sparse(impl, c10::DispatchKey::SparseCUDA, to_cuda(impl.indices()),
                     to_cuda(impl.values()));
}

void Aliases::write_back_sparse(const at::Tensor& original, const at::Tensor& alias) {
  if (original.layout() == at::kSparse) {
    auto& to = static_cast<at::SparseTensorImpl&>(*original.unsafeGetTensorImpl());
    const auto& from = static_cast<const at::SparseTensorImpl&>(*alias.unsafeGetTensorImpl());
    to.resize_(from.sparse_dim(), from.dense_dim(), from.sizes());
    to.set_indices_and_values_unsafe(to_cuda(from.indices()), to_cuda(from.values()));
    to.set_coalesced(from.coalesced());
  } else {
    auto& to = static_cast<at::SparseCsrTensorImpl&>(*original.unsafeGetTensorImpl());
    const auto& from = static_cast<const at::SparseCsrTensorImpl&>(*alias.unsafeGetTensorImpl());
    to.set_member_tensors(to_cuda(from.compressed_indices()), to_cuda(from.plain_indices()),
                          to_cuda(from.values()), from.sizes());
  }
}

at::Tensor Aliases::sparse_csr_to_cpu(const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      tensor.is_sparse_csr() || at::sparse_csr::is_sparse_compressed(tensor.layout()),
      "devsan simulator: tensors of type ", tensor.toString(), " are not emulated");
  auto& impl = static_cast<at::SparseCsrTensorImpl&>(*tensor.unsafeGetTensorImpl());
  return make_compressed(impl, c10::Device(c10::DeviceType::CPU), to_cpu(impl.compressed_indices()),
                         to_cpu(impl.plain_indices()), to_cpu(impl.values()));
}

at::Tensor Aliases::sparse_csr_to_cuda(const at::Tensor& result) {
  auto& impl = static_cast<at::SparseCsrTensorImpl&>(*result.unsafeGetTensorImpl());
  return make_compressed(impl, device_, to_cuda(impl.compressed_indices()),
                         to_cuda(impl.plain_indices()), to_cuda(impl.values()));
}

}  // namespace devsan::sim
