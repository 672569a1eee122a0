// CUDA tensors seen as CPU tensors over the same memory for the length of one op, and the results
// turned back into CUDA tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>
#include <c10/util/SmallVector.h>

#include <unordered_map>

namespace devsan::sim {

// For one op on `device`. Tensors and storages keep their identity through it: the same CUDA tensor
// twice is the same CPU tensor twice, and what an op returns of its arguments comes back as the
// argument itself.
class Aliases {
 public:
  explicit Aliases(c10::Device device) : device_(device) {}

  // The CPU view of `tensor`; CPU and undefined tensors are returned as they are.
  at::Tensor to_cpu(at::Tensor tensor);

  // The CUDA tensor for a result of the op. Fresh results are relabelled in place.
  at::Tensor to_cuda(at::Tensor result);

  // Carries what the op did to its arguments' sizes and storages (out=, resize) over to the
  // originals.
  void write_back();

 private:
  struct TensorPair {
    at::Tensor original;
    at::Tensor alias;
  };
  struct StoragePair {
    c10::Storage original;
    c10::Storage alias;
  };

  at::Tensor strided_to_cpu(const at::Tensor& tensor);
  at::Tensor sparse_to_cpu(const at::Tensor& tensor);
  at::Tensor sparse_csr_to_cpu(const at::Tensor& tensor);
  at::Tensor strided_to_cuda(at::Tensor result);
  at::Tensor sparse_to_cuda(const at::Tensor& result);
  at::Tensor sparse_csr_to_cuda(const at::Tensor& result);

  c10::Storage storage_to_cpu(const c10::Storage& storage);
  // Null where the storage is not the alias of an argument's.
  const c10::Storage* original_storage(const c10::Storage& alias) const;
  const at::Tensor* find_alias(const at::Tensor& original) const;
  const at::Tensor* find_original(const at::Tensor& alias) const;
  void remember(const at::Tensor& original, const at::Tensor& alias);
  void remember(const c10::Storage& original, const c10::Storage& alias);
  void write_back_sparse(const at::Tensor& original, const at::Tensor& alias);
  void relabel(c10::StorageImpl& storage) const;

  c10::Device device_;
  c10::SmallVector<TensorPair, 6> tensors_;
  c10::SmallVector<StoragePair, 6> storages_;
  // Lists of a thousand tensors are common in optimizers: from some length on, lookup is by hash.
  std::unordered_map<const void*, std::size_t> tensor_index_;  // originals and aliases
  std::unordered_map<const void*, std::size_t> storage_index_;
};

}  // namespace devsan::sim
