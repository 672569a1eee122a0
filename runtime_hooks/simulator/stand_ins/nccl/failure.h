// How a call of NCCL fails: inside the stand-in by an exception, outside by a result code and the
// text that ncclGetLastError gives.
#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

namespace devsan::sim::nccl {

class Failure : public std::runtime_error {
 public:
  Failure(ncclResult_t result, const std::string& text)
      : std::runtime_error(text), result_(result) {}

  ncclResult_t result() const { return result_; }

 private:
  ncclResult_t result_;
};

// The last error of this process, whichever thread met it: PyTorch asks for it without naming a
// communicator.
void set_last_error(const std::string& text);
// Lives until the same thread asks again.
const char* last_error();

// Runs the body of a function of NCCL's interface and turns what it throws into what it returns.
template <typename Body>
ncclResult_t answer(Body&& body) {
  try {
    body();
    return ncclSuccess;
  } catch (const Failure& failure) {
    set_last_error(failure.what());
    return failure.result();
  } catch (const std::exception& error) {
    set_last_error(std::string("devsan simulator: ") + error.what());
    return ncclSystemError;
  }
}

}  // namespace devsan::sim::nccl
