// Tells errors about devices from all others, by PyTorch's own words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace devsan::trace {

// Whether the error says that tensors are on different devices. Shape, type, memory, generator and
// kernel errors are not about that, however legal or not the mix beside them.
bool speaks_of_devices(std::string_view message);

// The argument that "but got mat2 is on cuda:0, different from other tensors on cuda:1" names.
std::optional<std::string> argument_named_in(std::string_view message);

// Whether an exception that left the program, from whatever library, says that something is on the
// wrong device: one of the forms above, or a text with all of these: the word "device", a device by
// its name (cpu, cuda, cuda:1), a demand (must, should, expected, ...) and a contrast (but,
// instead, different, ...). Not: memory, kernels, devices that are not there, device strings that
// are wrong, generators, and texts that carry another process's traceback, which reports for
// itself.
bool is_about_placement(std::string_view message);

// Of such: whether it is one of PyTorch's own forms, which say it plainly. What other texts mean is
// shown by tensors alone ("device must be cpu or cuda but is gpu" is about an option).
bool is_plainly_about_placement(std::string_view message);

// The devices that "... must be on cuda:0 but ... is cuda:1" names: the last one before "but", and
// the first one behind it. As PyTorch writes them; empty where there is none.
struct DevicesInMessage {
  std::string expected;
  std::string found;
};
DevicesInMessage devices_in(std::string_view message);

// Whether a collective refused its tensors, or its ranks, because of the devices they are on.
bool is_about_collective(std::string_view message);

// "rank 1 and rank 0 both on CUDA device 1000": NCCL's way of saying that ranks share a GPU.
bool is_about_shared_gpu(std::string_view message);

// The first line, without the advice and traces that follow it.
std::string first_line(std::string_view message);

}  // namespace devsan::trace
