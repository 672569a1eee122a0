// A thread's open group. What concerns one communicator runs on one thread, in order; different
// communicators run at the same time, because each may be waited for by the other's peers.
#include "simulator/stand_ins/nccl/group.h"

#include <exception>
#include <optional>
#include <thread>

namespace devsan::sim::nccl {
namespace {

struct Batch {
  std::shared_ptr<Communicator> communicator;  // null for one that is to be made
  std::vector<std::function<void()>> makes;
  std::vector<Work> works;
};

struct Group {
  int depth = 0;
  std::vector<Batch> batches;
  std::optional<Failure> failure;

  Batch& batch(const std::shared_ptr<Communicator>& communicator) {
    for (Batch& batch : batches) {
      if (communicator != nullptr && batch.communicator == communicator) return batch;
    }
    return batches.emplace_back(Batch{communicator, {}, {}});
  }
};

thread_local Group group;

void run(const Batch& batch) {
  for (const std::function<void()>& make : batch.makes) make();
  if (batch.works.empty()) return;
  Communicator& communicator = *batch.communicator;
  std::vector<const Work*> messages;
  for (const Work& work : batch.works) {
    if (is_message(work.call)) {
      messages.push_back(&work);
      continue;
    }
    communicator.begin(work.call);
    run_collective(work);
    communicator.end();
  }
  if (messages.empty()) return;
  communicator.begin(messages.front()->call);
  run_messages(communicator, messages);
  communicator.end();
}

void run_all(const std::vector<Batch>& batches) {
  if (batches.size() == 1) return run(batches.front());
  std::vector<std::exception_ptr> failures(batches.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        run(batches[i]);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void run_unless_grouped() {
  if (group.depth > 0) return;
  const std::vector<Batch> batches = std::exchange(group.batches, {});
  run_all(batches);
}

}  // namespace

void start_group() {
  ++group.depth;
}

void end_group() {
  if (group.depth == 0) {
    throw Failure(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  }
  if (--group.depth > 0) return;
  const std::vector<Batch> batches = std::exchange(group.batches, {});
  if (const std::optional<Failure> failure = std::exchange(group.failure, std::nullopt)) {
    throw *failure;
  }
  if (!batches.empty()) run_all(batches);
}

void drop_group() {
  group.depth = 0;
  group.batches.clear();
  group.failure.reset();
}

void submit(Work work) {
  group.batch(work.communicator).works.push_back(std::move(work));
  run_unless_grouped();
}

void submit(std::shared_ptr<Communicator> parent, std::function<void()> make) {
  group.batch(parent).makes.push_back(std::move(make));
  run_unless_grouped();
}

void note_failure(const Failure& failure) {
  if (group.depth > 0 && !group.failure) group.failure = failure;
}

}  // namespace devsan::sim::nccl
