// From digits and questions to what the model takes.
#pragma once

#include <torch/types.h>

#include <vector>

#include "digits.h"
#include "fault.h"
#include "idefics.h"
#include "questions.h"

namespace models::multimodal {

// A question about a digit, which is an index into the digits of a split.
struct Example {
  std::size_t digit;
  Question question;
};

// Both questions about each of `digits` digits.
std::vector<Example> all_examples(std::size_t digits);

// What the model takes and what it is to say. All on one device.
struct Batch {
  IdeficsInputs inputs;
  torch::Tensor task;    // int64 [batch]: the question, as the in-context-vector encoder has it
  torch::Tensor labels;  // int64 [batch, length]: answer and <eos> where they stand, else kIgnored
};

// Tokens and pixels of the examples, on the CPU: <bos> <image> question : answer <eos>, padded to
// the longest. Without `in_words` the question is left out.
Batch make_batch(const std::vector<Digit>& digits, const std::vector<Example>& examples,
                 bool in_words);

// Moves a batch to the model's device.
Batch process(const Batch& batch, torch::Device device, Fault fault = Fault::kNone);

}  // namespace models::multimodal
