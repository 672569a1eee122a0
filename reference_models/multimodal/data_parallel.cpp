// The reducer of LibTorch, set up as DistributedDataParallel does it.
#include "data_parallel.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace models::multimodal {
namespace {

// PyTorch's own sizes, 1 MiB and 25 MiB, would make one bucket of a model as small as these, and
// with one bucket nothing is reduced before backward ends.
constexpr std::int64_t kFirstBucketBytes = std::int64_t{64} << 10;
constexpr std::int64_t kBucketBytes = std::int64_t{256} << 10;

constexpr std::size_t kBroadcastBytes = std::size_t{250} << 20;

}  // namespace

DataParallel::DataParallel(const torch::nn::Module& model, const ProcessGroup& group) {
  std::vector<torch::Tensor> trained;
  std::unordered_map<std::size_t, std::string> names;
  for (const auto& parameter : model.named_parameters()) {
    if (!parameter.value().requires_grad()) continue;
    names.emplace(trained.size(), parameter.key());
    trained.push_back(parameter.value());
  }
  c10d::verify_params_across_processes(group, trained, std::nullopt);

  std::vector<torch::Tensor> state;
  for (const torch::Tensor& parameter : model.parameters()) state.push_back(parameter.detach());
  for (const torch::Tensor& buffer : model.buffers()) state.push_back(buffer);
  c10d::broadcast_coalesced(group, state, kBroadcastBytes, /*rank=*/0);

  // Backward comes to the last parameters first.
  const std::vector<bool> is_sparse(trained.size(), false);
  auto [buckets, bucket_limits] = c10d::compute_bucket_assignment_by_size(
      trained,
      {static_cast<std::size_t>(kFirstBucketBytes), static_cast<std::size_t>(kBucketBytes)},
      is_sparse);
  std::reverse(buckets.begin(), buckets.end());
  reducer_ = std::make_unique<c10d::Reducer>(
      trained, buckets, group, is_sparse, kBucketBytes, /*find_unused_parameters=*/false,
      /*gradient_as_bucket_view=*/false, names, kFirstBucketBytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
}

void DataParallel::before_forward() {
  reducer_->prepare_for_forward();
  // Once, after the first backward: in the order in which the gradients came.
  reducer_->rebuild_buckets();
}

void DataParallel::before_backward() {
  reducer_->prepare_for_backward({});
}

std::size_t DataParallel::bucket_count() const {
  return reducer_->get_grad_buckets().size();
}

}  // namespace models::multimodal
