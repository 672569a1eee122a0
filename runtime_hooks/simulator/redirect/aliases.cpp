// Strided tensors and the bookkeeping; sparse layouts are in sparse_aliases.cpp.
#include "simulator/redirect/aliases.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstring>

#include "simulator/redirect/allocator.h"

namespace devsan::sim {
namespace {

// Up to here a linear search is faster than a hash table.
constexpr std::size_t kLinearSearch = 16;

const c10::Device kCpu(c10::DeviceType::CPU);

void copy_flags(const c10::TensorImpl& from, c10::TensorImpl& to) {
  if (from.is_wrapped_number()) to.set_wrapped_number(true);
  if (from.is_conj()) to._set_conj(true);
  if (from.is_neg()) to._set_neg(true);
}

void copy_geometry(const c10::TensorImpl& from, c10::TensorImpl& to) {
  to.set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

bool same_geometry(const c10::TensorImpl& a, const c10::TensorImpl& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.storage_offset() == b.storage_offset();
}

at::Tensor make_tensor(const c10::Storage& storage, c10::DispatchKey key,
                       const c10::TensorImpl& like) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(key), like.dtype());
  copy_geometry(like, *tensor.unsafeGetTensorImpl());
  copy_flags(like, *tensor.unsafeGetTensorImpl());
  return tensor;
}

}  // namespace

const at::Tensor* Aliases::find_alias(const at::Tensor& original) const {
  const c10::TensorImpl* wanted = original.unsafeGetTensorImpl();
  if (tensors_.size() <= kLinearSearch) {
    for (const TensorPair& pair : tensors_) {
      if (pair.original.unsafeGetTensorImpl() == wanted) return &pair.alias;
    }
    return nullptr;
  }
  const auto found = tensor_index_.find(wanted);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second].alias;
}

const at::Tensor* Aliases::find_original(const at::Tensor& alias) const {
  const c10::TensorImpl* wanted = alias.unsafeGetTensorImpl();
  if (tensors_.size() <= kLinearSearch) {
    for (const TensorPair& pair : tensors_) {
      if (pair.alias.unsafeGetTensorImpl() == wanted) return &pair.original;
    }
    return nullptr;
  }
  const auto found = tensor_index_.find(wanted);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second].original;
}

void Aliases::remember(const at::Tensor& original, const at::Tensor& alias) {
  tensors_.push_back({original, alias});
  if (tensors_.size() <= kLinearSearch) return;
  // At the change-over all earlier ones are entered too.
  for (std::size_t i = tensor_index_.empty() ? 0 : tensors_.size() - 1; i < tensors_.size(); ++i) {
    tensor_index_.emplace(tensors_[i].original.unsafeGetTensorImpl(), i);
    tensor_index_.emplace(tensors_[i].alias.unsafeGetTensorImpl(), i);
  }
}

c10::Storage Aliases::storage_to_cpu(const c10::Storage& storage) {
  const c10::StorageImpl* wanted = storage.unsafeGetStorageImpl();
  if (storages_.size() <= kLinearSearch) {
    for (const StoragePair& pair : storages_) {
      if (pair.original.unsafeGetStorageImpl() == wanted) return pair.alias;
    }
  } else if (const auto found = storage_index_.find(wanted); found != storage_index_.end()) {
    return storages_[found->second].alias;
  }
  // No deleter: the original, which is kept beside it, owns the memory.
  c10::Storage alias(c10::Storage::use_byte_size_t(), storage.nbytes(),
                     c10::DataPtr(const_cast<void*>(storage.data()), kCpu), switchable_allocator(),
                     /*resizable=*/true);
  remember(storage, alias);
  return alias;
}

void Aliases::remember(const c10::Storage& original, const c10::Storage& alias) {
  storages_.push_back({original, alias});
  if (storages_.size() <= kLinearSearch) return;
  for (std::size_t i = storage_index_.empty() ? 0 : storages_.size() - 1; i < storages_.size();
       ++i) {
    storage_index_.emplace(storages_[i].original.unsafeGetStorageImpl(), i);
    storage_index_.emplace(storages_[i].alias.unsafeGetStorageImpl(), i);
  }
}

const c10::Storage* Aliases::original_storage(const c10::Storage& alias) const {
  const c10::StorageImpl* wanted = alias.unsafeGetStorageImpl();
  if (storages_.size() <= kLinearSearch) {
    for (const StoragePair& pair : storages_) {
      if (pair.alias.unsafeGetStorageImpl() == wanted) return &pair.original;
    }
    return nullptr;
  }
  const auto found = storage_index_.find(wanted);
  return found == storage_index_.end() ? nullptr : &storages_[found->second].original;
}

at::Tensor Aliases::to_cpu(at::Tensor tensor) {
  if (!tensor.defined()) return tensor;
  if (tensor.is_cpu()) {
    // Remembered, so that a CPU argument that is returned (copy_ to the CPU) stays on the CPU.
    remember(tensor, tensor);
    if (tensor.has_storage()) remember(tensor.storage(), tensor.storage());
    return tensor;
  }
  TORCH_CHECK(tensor.is_cuda(), "devsan simulator: a tensor on ", tensor.device(),
              " beside CUDA tensors is not emulated");
  if (const at::Tensor* alias = find_alias(tensor)) return *alias;
  at::Tensor alias = tensor.layout() == at::kStrided  ? strided_to_cpu(tensor)
                     : tensor.layout() == at::kSparse ? sparse_to_cpu(tensor)
                                                      : sparse_csr_to_cpu(tensor);
  remember(tensor, alias);
  return alias;
}

at::Tensor Aliases::strided_to_cpu(const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.has_storage() && !tensor.is_nested() && !tensor.is_quantized(),
                              "devsan simulator: tensors of type ", tensor.toString(),
                              " are not emulated");
  return make_tensor(storage_to_cpu(tensor.storage()), c10::DispatchKey::CPU,
                     *tensor.unsafeGetTensorImpl());
}

at::Tensor Aliases::to_cuda(at::Tensor result) {
  if (!result.defined() || !result.is_cpu()) return result;
  if (const at::Tensor* original = find_original(result)) return *original;
  if (result.layout() == at::kSparse) return sparse_to_cuda(result);
  if (result.layout() != at::kStrided) return sparse_csr_to_cuda(result);
  return strided_to_cuda(std::move(result));
}

at::Tensor Aliases::strided_to_cuda(at::Tensor result) {
  c10::TensorImpl& impl = *result.unsafeGetTensorImpl();
  if (const c10::Storage* storage = original_storage(result.storage())) {
    if (storage->device_type() == c10::DeviceType::CPU) return result;  // of a CPU argument
    return make_tensor(*storage, c10::DispatchKey::CUDA, impl);
  }
  c10::Storage storage = result.storage();
  if (storage.device_type() == c10::DeviceType::CPU) relabel(*storage.unsafeGetStorageImpl());
  if (result.use_count() != 1) return make_tensor(storage, c10::DispatchKey::CUDA, impl);
  // Nobody else holds it: it becomes the CUDA tensor itself.
  impl.set_storage_keep_dtype(std::move(storage));
  impl._change_backend_component_keys(device_);
  return result;
}

void Aliases::relabel(c10::StorageImpl& storage) const {
  c10::Allocator* cuda = c10::cuda::CUDACachingAllocator::get();
  c10::DataPtr& data = storage._mutable_data_ptr_no_checks();
  // A kernel may hand out memory that it did not get from the allocator, or got on another thread.
  if (data.get() != nullptr && storage.nbytes() != 0 && data.get_deleter() != cuda->raw_deleter()) {
    c10::DataPtr on_device = cuda->allocate(storage.nbytes());
    std::memcpy(on_device.get(), data.get(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(on_device));
  } else {
    data.unsafe_set_device(device_);
  }
  storage.set_allocator(cuda);
}

void Aliases::write_back() {
  for (const StoragePair& pair : storages_) {
    c10::StorageImpl& original = *pair.original.unsafeGetStorageImpl();
    c10::StorageImpl& alias = *pair.alias.unsafeGetStorageImpl();
    if (&original == &alias) continue;
    if (alias.data() != original.data()) {
      const c10::Device device = original.device();
      c10::DataPtr data = alias.set_data_ptr(c10::DataPtr(nullptr, kCpu));
      data.unsafe_set_device(device);
      original.set_data_ptr_noswap(std::move(data));
    }
    if (alias.nbytes() != original.nbytes()) original.set_nbytes(alias.nbytes());
  }
  for (const TensorPair& pair : tensors_) {
    c10::TensorImpl& original = *pair.original.unsafeGetTensorImpl();
    const c10::TensorImpl& alias = *pair.alias.unsafeGetTensorImpl();
    if (&original == &alias) continue;
    if (pair.original.layout() != at::kStrided) {
      write_back_sparse(pair.original, pair.alias);
    } else if (!same_geometry(original, alias)) {
      copy_geometry(alias, original);
    }
  }
}

}  // namespace devsan::sim
