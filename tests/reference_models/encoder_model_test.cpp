// The encoder's layers and LoRA against their formulas, written out here a second time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <set>

#include "common/lora.h"
#include "common/rms_norm.h"
#include "encoder_classifier/classifier.h"
#include "encoder_classifier/sequences.h"
#include "encoder_classifier/t5_encoder.h"

namespace models {
namespace {

T5Config small_config() {
  T5Config config;
  config.vocabulary = kVocabulary;
  config.width = 32;
  config.head_width = 16;
  config.heads = 2;
  config.inner_width = 48;
  config.layers = 2;
  return config;
}

// Buckets of relative positions from `first` to `last`, both included.
std::vector<std::int64_t> buckets(std::int64_t first, std::int64_t last) {
  const torch::Tensor result = relative_position_bucket(torch::arange(first, last + 1), 32, 128);
  return {result.data_ptr<std::int64_t>(), result.data_ptr<std::int64_t>() + result.numel()};
}

TEST(RelativePositionBucket, MatchesTheDefinition) {
  // Of 16 buckets a direction 8 are exact; bucket 8 + n begins at distance 8 * 16^(n/8): 8, 11.3,
  // 16, 22.6, ...
  const std::vector<std::int64_t> begins{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  std::vector<std::int64_t> expected;
  for (std::int64_t distance = 0; distance <= 300; ++distance) {
    expected.push_back(std::upper_bound(begins.begin(), begins.end(), distance) - begins.begin() -
                       1);
  }
  const std::vector<std::int64_t> before = buckets(-300, 0);  // keys before the query
  EXPECT_EQ(std::vector<std::int64_t>(before.rbegin(), before.rend()), expected);

  for (std::int64_t& bucket : expected) bucket += 16;
  const std::vector<std::int64_t> after = buckets(1, 300);
  EXPECT_EQ(after, std::vector<std::int64_t>(expected.begin() + 1, expected.end()));
}

TEST(RMSNorm, MatchesTheFormula) {
  RMSNorm norm(3, 1e-6);
  {
    const torch::NoGradGuard no_grad;
    norm->weight.copy_(torch::tensor({1.0F, 2.0F, -0.5F}));
  }
  const torch::Tensor output =
      norm->forward(torch::tensor({{3.0F, -4.0F, 12.0F}, {0.0F, 0.0F, 0.0F}}));
  const double scale = 1 / std::sqrt((9.0 + 16.0 + 144.0) / 3 + 1e-6);
  EXPECT_NEAR(output[0][0].item<double>(), 3 * scale, 1e-6);
  EXPECT_NEAR(output[0][1].item<double>(), -8 * scale, 1e-6);
  EXPECT_NEAR(output[0][2].item<double>(), -6 * scale, 1e-6);
  EXPECT_TRUE(torch::equal(output[1], torch::zeros({3})));
}

TEST(RMSNorm, TakesItsMeanInFloat) {
  RMSNorm norm(2, 1e-6);
  norm->to(torch::kHalf);
  const torch::Tensor output =
      norm->forward(torch::full({1, 2}, 1000, torch::kHalf));  // 1000² > 65504
  EXPECT_EQ(output.scalar_type(), torch::kHalf);
  EXPECT_NEAR(output[0][0].item<double>(), 1, 1e-3);
}

// softmax(q · k + bias) · v, element by element: no division by sqrt(head_width).
TEST(T5Attention, MatchesLoops) {
  torch::manual_seed(1);
  const T5Config config = small_config();
  T5Attention attention(config, /*has_relative_attention_bias=*/true);
  attention->eval();
  const std::int64_t length = 5;
  const torch::Tensor hidden = torch::randn({1, length, config.width});
  const torch::Tensor bias = torch::randn({1, config.heads, length, length});
  const torch::Tensor output = attention->forward(hidden, bias);

  const auto project = [&](const LoraLinear& linear) {
    return torch::matmul(hidden[0].to(torch::kDouble), linear->weight.to(torch::kDouble).t());
  };
  const torch::Tensor q = project(attention->q);
  const torch::Tensor k = project(attention->k);
  const torch::Tensor v = project(attention->v);
  torch::Tensor context = torch::zeros({length, config.heads * config.head_width}, torch::kDouble);
  for (std::int64_t head = 0; head < config.heads; ++head) {
    const std::int64_t begin = head * config.head_width;
    const auto part = [&](const torch::Tensor& rows, std::int64_t row) {
      return rows[row].slice(0, begin, begin + config.head_width);
    };
    for (std::int64_t query = 0; query < length; ++query) {
      std::vector<double> share(static_cast<std::size_t>(length));
      double total = 0;
      for (std::int64_t key = 0; key < length; ++key) {
        const double score = part(q, query).dot(part(k, key)).item<double>() +
                             bias[0][head][query][key].item<double>();
        share[static_cast<std::size_t>(key)] = std::exp(score);
        total += share[static_cast<std::size_t>(key)];
      }
      for (std::int64_t key = 0; key < length; ++key) {
        part(context, query).add_(part(v, key) * (share[static_cast<std::size_t>(key)] / total));
      }
    }
  }
  const torch::Tensor expected =
      torch::matmul(context, attention->o->weight.to(torch::kDouble).t());
  EXPECT_TRUE(torch::allclose(output[0].to(torch::kDouble), expected, 1e-4, 1e-5));
}

TEST(T5Attention, BiasDependsOnKeyMinusQuery) {
  torch::manual_seed(1);
  T5Attention attention(small_config(), /*has_relative_attention_bias=*/true);
  const torch::Tensor bias = attention->compute_bias(40);
  EXPECT_EQ(bias.sizes(), (std::vector<std::int64_t>{1, 2, 40, 40}));
  const torch::Tensor table = attention->relative_attention_bias->weight;       // [32, heads]
  EXPECT_TRUE(torch::equal(bias[0].select(1, 5).select(1, 5), table[0]));       // the same place
  EXPECT_TRUE(torch::equal(bias[0].select(1, 5).select(1, 2), table[3]));       // three before
  EXPECT_TRUE(torch::equal(bias[0].select(1, 5).select(1, 8), table[16 + 3]));  // three after
  EXPECT_TRUE(torch::equal(bias[0].select(1, 39).select(1, 4), table[12]));     // 35 before
}

TEST(T5Dense, MatchesTheFormulas) {
  torch::manual_seed(1);
  T5Config config = small_config();
  const torch::Tensor x = torch::randn({1, 4, config.width});

  config.feed_forward = FeedForward::kRelu;
  T5Dense relu(config);
  relu->eval();
  const torch::Tensor inner = torch::matmul(x, relu->wi->weight.t()).clamp_min(0);
  EXPECT_TRUE(
      torch::allclose(relu->forward(x), torch::matmul(inner, relu->wo->weight.t()), 1e-4, 1e-5));

  config.feed_forward = FeedForward::kGatedGelu;
  T5Dense gated(config);
  gated->eval();
  const torch::Tensor a = torch::matmul(x, gated->wi_0->weight.t());
  const torch::Tensor gelu =
      0.5 * a * (1 + torch::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * torch::pow(a, 3))));
  const torch::Tensor content = torch::matmul(x, gated->wi_1->weight.t());
  EXPECT_TRUE(torch::allclose(gated->forward(x),
                              torch::matmul(gelu * content, gated->wo->weight.t()), 1e-4, 1e-5));
}

std::set<std::string> names_of(const torch::nn::Module& module) {
  std::set<std::string> names;
  for (const auto& parameter : module.named_parameters()) names.insert(parameter.key());
  return names;
}

TEST(EncoderClassifier, ParametersHaveTheNamesOfT5EncoderModel) {
  std::set<std::string> expected{
      "shared.weight", "encoder.final_layer_norm.weight", "classifier.weight", "classifier.bias",
      "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"};
  for (const std::string block : {"encoder.block.0.", "encoder.block.1."}) {
    for (const char* name :
         {"layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v",
          "layer.0.SelfAttention.o", "layer.0.layer_norm", "layer.1.layer_norm",
          "layer.1.DenseReluDense.wi_0", "layer.1.DenseReluDense.wi_1",
          "layer.1.DenseReluDense.wo"}) {
      expected.insert(block + name + ".weight");
    }
  }
  EXPECT_EQ(names_of(*EncoderClassifier(small_config(), kPadding)), expected);
}

TEST(EncoderClassifier, PaddingChangesNothing) {
  torch::manual_seed(1);
  EncoderClassifier model(small_config(), kPadding);
  model->eval();
  const std::vector<Sequence> sequences{{"GLFDIVKKV", 1}, {std::string(90, 'W'), 0}};
  const Batch alone = make_batch(sequences, {0}, 0, 1);
  const Batch padded = make_batch(sequences, {0, 1}, 0, 2);
  ASSERT_GT(padded.input_ids.size(1), alone.input_ids.size(1));
  const double difference =
      (model->forward(alone.input_ids)[0] - model->forward(padded.input_ids)[0])
          .abs()
          .item<double>();
  EXPECT_LT(difference, 1e-5);
  // The two sequences do differ, so the model does look at what it is given.
  const torch::Tensor logits = model->forward(padded.input_ids);
  EXPECT_GT((logits[0] - logits[1]).abs().item<double>(), 1e-3);
}

TEST(EncoderClassifier, PoolsOverLettersAlone) {
  torch::manual_seed(1);
  EncoderClassifier model(small_config(), kPadding);
  model->eval();
  const torch::Tensor ids = make_batch({{"GLFD", 1}}, {0}, 0, 1).input_ids;
  const torch::Tensor hidden = model->encoder->forward(model->shared->forward(ids), ids != kPadding)
                                   .hidden;  // [1, 5, width]
  const torch::Tensor mean = (hidden[0][0] + hidden[0][1] + hidden[0][2] + hidden[0][3]) / 4;
  const torch::Tensor expected =
      mean.dot(model->classifier->weight[0]) + model->classifier->bias[0];
  EXPECT_NEAR(model->forward(ids)[0].item<double>(), expected.item<double>(), 1e-5);
}

TEST(EncoderClassifier, ARowOfPaddingIsFinite) {
  EncoderClassifier model(small_config(), kPadding);
  model->eval();
  EXPECT_TRUE(torch::isfinite(model->forward(torch::full({1, 4}, kPadding, torch::kLong)))
                  .all()
                  .item<bool>());
}

TEST(EncoderClassifier, PartsCoverEveryParameterOnce) {
  EncoderClassifier model(small_config(), kPadding);
  std::int64_t bytes = 0;
  for (const torch::Tensor& parameter : model->parameters()) bytes += parameter.numel() * 4;
  std::int64_t bytes_of_parts = 0;
  std::vector<std::string> names;
  for (const ModelPart& part : model->parts()) {
    bytes_of_parts += part.bytes;
    names.push_back(part.name);
  }
  EXPECT_EQ(bytes_of_parts, bytes);
  EXPECT_THAT(names, ::testing::ElementsAre("shared", "encoder.block.0", "encoder.block.1",
                                            "encoder.final_layer_norm", "classifier"));
}

TEST(LoraLinear, IsTheBaseAtFirst) {
  torch::manual_seed(1);
  LoraLinear linear(6, 4);
  const torch::Tensor x = torch::randn({3, 6});
  const torch::Tensor before = linear->forward(x);
  linear->add_adapter({/*rank=*/2, /*alpha=*/16, /*dropout=*/0.5});
  EXPECT_TRUE(torch::equal(linear->forward(x), before));
  EXPECT_TRUE(torch::equal(linear->lora_b->weight, torch::zeros({4, 2})));
  // Kaiming-uniform with a = sqrt(5): up to 1 / sqrt(in_features), and not zeros.
  EXPECT_LE(linear->lora_a->weight.abs().max().item<double>(), 1 / std::sqrt(6.0));
  EXPECT_GT(linear->lora_a->weight.abs().min().item<double>(), 0);
}

TEST(LoraLinear, EqualsItsMergedWeight) {
  torch::manual_seed(1);
  LoraLinear linear(6, 4);
  linear->add_adapter({/*rank=*/2, /*alpha=*/16, /*dropout=*/0.5});
  torch::nn::init::normal_(linear->lora_b->weight);
  linear->eval();
  const torch::Tensor x = torch::randn({3, 6});
  const torch::Tensor merged =
      linear->weight +
      8.0 * torch::matmul(linear->lora_b->weight, linear->lora_a->weight);  // 16 / 2
  EXPECT_TRUE(torch::allclose(linear->merged_weight(), merged));
  EXPECT_TRUE(torch::allclose(linear->forward(x), torch::matmul(x, merged.t()), 1e-4, 1e-5));
  EXPECT_FALSE(
      torch::allclose(linear->forward(x), torch::matmul(x, linear->weight.t()), 1e-2, 1e-2));
}

TEST(EncoderClassifier, LoraAdaptsQAndVAndFreezesTheEncoder) {
  EncoderClassifier model(small_config(), kPadding);
  model->add_lora({});
  std::set<std::string> trained;
  for (const auto& parameter : model->named_parameters()) {
    if (parameter.value().requires_grad()) trained.insert(parameter.key());
  }
  std::set<std::string> expected{"classifier.weight", "classifier.bias"};
  for (const std::string block : {"encoder.block.0.", "encoder.block.1."}) {
    for (const char* name : {"q.lora_A", "q.lora_B", "v.lora_A", "v.lora_B"}) {
      expected.insert(block + "layer.0.SelfAttention." + name + ".weight");
    }
  }
  EXPECT_EQ(trained, expected);
}

}  // namespace
}  // namespace models
