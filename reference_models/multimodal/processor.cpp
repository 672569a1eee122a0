// Tokens and pixels, and their way to the device.
#include "processor.h"

#include <algorithm>

namespace models::multimodal {

using torch::Device;

std::vector<Example> all_examples(std::size_t digits) {
  std::vector<Example> examples;
  for (std::size_t digit = 0; digit < digits; ++digit) {
    for (const Question question : kQuestions) examples.push_back({digit, question});
  }
  return examples;
}

Batch make_batch(const std::vector<Digit>& digits, const std::vector<Example>& examples,
                 bool in_words) {
  std::vector<std::vector<std::int64_t>> prompts;
  std::size_t longest = 0;
  for (const Example& example : examples) {
    prompts.push_back(prompt_of(example.question, in_words));
    longest = std::max(longest, prompts.back().size());
  }
  const auto rows = static_cast<std::int64_t>(examples.size());
  const auto length = static_cast<std::int64_t>(longest) + 2;  // the answer and <eos>
  const torch::Tensor ids = torch::full({rows, length}, kPadding, torch::kLong);
  const torch::Tensor labels = torch::full({rows, length}, kIgnored, torch::kLong);
  const torch::Tensor tasks = torch::empty({rows}, torch::kLong);
  const torch::Tensor pixels = torch::empty({rows, 1, 1, kImageSide, kImageSide});
  auto ids_of = ids.accessor<std::int64_t, 2>();
  auto labels_of = labels.accessor<std::int64_t, 2>();
  auto task_of = tasks.accessor<std::int64_t, 1>();
  auto* pixel = pixels.data_ptr<float>();

  for (std::int64_t row = 0; row < rows; ++row) {
    const Example& example = examples[static_cast<std::size_t>(row)];
    const Digit& digit = digits[example.digit];
    std::int64_t position = 0;
    for (const std::int64_t token : prompts[static_cast<std::size_t>(row)]) {
      ids_of[row][position++] = token;
    }
    for (const std::int64_t token : {answer_of(example.question, digit.label), token_of("<eos>")}) {
      ids_of[row][position] = token;
      labels_of[row][position++] = token;
    }
    task_of[row] = static_cast<std::int64_t>(example.question);
    for (const std::uint8_t ink : digit.pixels) {
      *pixel++ = static_cast<float>(ink) / kMaxInk - 0.5F;
    }
  }

  // As in Idefics, a token sees the image when it stands at it or after it.
  const torch::Tensor sees_image = (ids == kImage).cumsum(1).unsqueeze(-1);
  const torch::Tensor is_token = (ids != kPadding).to(torch::kLong);
  return {{ids, is_token, pixels, sees_image}, tasks, labels};
}

Batch process(const Batch& batch, Device device, Fault fault) {
  const IdeficsInputs& made = batch.inputs;
  IdeficsInputs moved;
  // One statement: two that end in the same call would be merged by the optimiser into one line's.
  const bool literal = fault == Fault::kTokensLiteral;
  moved.input_ids =
      made.input_ids.to(literal ? Device("cuda:0") : device);  // fault: tokens-literal
  if (fault == Fault::kCpuPixels) {
    moved.pixel_values = made.pixel_values;  // fault: cpu-pixels
  } else {
    // As in Idefics, where the tokens are.
    moved.pixel_values = made.pixel_values.to(moved.input_ids.device());
  }
  moved.attention_mask = made.attention_mask.to(device);
  moved.image_attention_mask = made.image_attention_mask.to(device);
  return {moved, batch.task.to(device), batch.labels.to(device)};
}

}  // namespace models::multimodal
