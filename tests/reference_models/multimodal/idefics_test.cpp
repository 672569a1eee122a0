// The parts of the model: rotary embedding, gated cross-attention, masks, in-context vectors.
#include "multimodal/idefics.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "multimodal/model.h"

namespace models::multimodal {
namespace {

IdeficsConfig small_config() {
  IdeficsConfig config;
  config.vocabulary = 12;
  config.additional_vocabulary = 2;
  config.width = 16;
  config.inner_width = 24;
  config.layers = 2;
  config.heads = 2;
  config.vision.width = 16;
  config.vision.layers = 1;
  config.vision.heads = 2;
  config.vision.inner_width = 24;
  return config;
}

// Two rows of six tokens with an image each, which is seen from the second token on.
IdeficsInputs some_inputs() {
  IdeficsInputs inputs;
  inputs.input_ids = torch::tensor({{1, 12, 3, 4, 5, 6}, {1, 13, 7, 8, 9, 10}});
  inputs.attention_mask = torch::ones({2, 6}, torch::kLong);
  inputs.pixel_values = torch::rand({2, 1, 1, 8, 8});
  inputs.image_attention_mask = torch::ones({2, 6, 1}, torch::kLong);
  inputs.image_attention_mask.select(1, 0).zero_();
  return inputs;
}

// Gates that let the image through.
void open_gates(IdeficsModel& model) {
  const torch::NoGradGuard no_grad;
  for (GatedCrossAttentionLayer& layer : model->gated_cross_attn_layers) {
    layer->alpha_cross_attn.fill_(1.0);
    layer->alpha_dense.fill_(1.0);
  }
}

torch::Tensor row_of(std::vector<std::int64_t> values) {
  return torch::tensor(values).unsqueeze(0);
}

bool is_close(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::allclose(a, b, /*rtol=*/1e-5, /*atol=*/1e-6);
}

class ModelTest : public testing::Test {
 protected:
  ModelTest() { torch::manual_seed(0); }
};

class RotaryTest : public ModelTest {};
class GatedCrossAttentionTest : public ModelTest {};
class MaskTest : public ModelTest {};
class EmbeddingTest : public ModelTest {};
class IcvTest : public ModelTest {};

TEST_F(RotaryTest, TurnsPairsByTheAngleOfTheirPosition) {
  RotaryEmbedding rotary(/*head_width=*/4, /*positions=*/8);
  const torch::Tensor pairs = torch::tensor({1.0F, 1.0F, 0.0F, 0.0F}).view({1, 1, 1, 4});
  const auto [turned, same] = rotary->forward(pairs, pairs, torch::tensor({{3}}));
  // The pairs are (0, 2) and (1, 3), with angles 3 · 10000^0 and 3 · 10000^(-1/2).
  const torch::Tensor expected =
      torch::tensor({std::cos(3.0F), std::cos(0.03F), std::sin(3.0F), std::sin(0.03F)});
  EXPECT_TRUE(is_close(turned.flatten(), expected)) << turned;
  EXPECT_TRUE(torch::equal(turned, same));
}

TEST_F(RotaryTest, ScoresDependOnTheDistanceAlone) {
  RotaryEmbedding rotary(/*head_width=*/8, /*positions=*/32);
  const torch::Tensor query = torch::randn({1, 1, 1, 8});
  const torch::Tensor key = torch::randn({1, 1, 1, 8});
  const auto score = [&](int query_position, int key_position) {
    const auto turned_query = rotary->forward(query, key, torch::tensor({{query_position}})).first;
    const auto turned_key = rotary->forward(query, key, torch::tensor({{key_position}})).second;
    return (turned_query * turned_key).sum().item<float>();
  };
  EXPECT_NEAR(score(5, 2), score(20, 17), 1e-5);
  EXPECT_GT(std::abs(score(5, 2) - score(5, 4)), 1e-3);
}

TEST_F(GatedCrossAttentionTest, AFreshLayerChangesNothing) {
  GatedCrossAttentionLayer layer(small_config(), Fault::kNone);
  const torch::Tensor hidden = torch::randn({2, 6, 16});
  const ImageContext image{torch::randn({2, 17, 16}), torch::zeros({2, 1, 6, 17}),
                           torch::ones({2, 6, 1}, torch::kBool)};
  EXPECT_TRUE(torch::equal(layer->forward(hidden, image), hidden));
}

TEST_F(GatedCrossAttentionTest, AnOpenGateLetsTheImageThrough) {
  GatedCrossAttentionLayer layer(small_config(), Fault::kNone);
  layer->alpha_cross_attn.data().fill_(1.0);
  const torch::Tensor hidden = torch::randn({2, 6, 16});
  ImageContext image{torch::randn({2, 17, 16}), torch::zeros({2, 1, 6, 17}),
                     torch::ones({2, 6, 1}, torch::kBool)};
  const torch::Tensor seen = layer->forward(hidden, image);
  EXPECT_FALSE(is_close(seen, hidden));

  image.gate.select(1, 0).fill_(false);
  const torch::Tensor first_is_blind = layer->forward(hidden, image);
  EXPECT_TRUE(torch::equal(first_is_blind.select(1, 0), hidden.select(1, 0)));
  EXPECT_TRUE(torch::equal(first_is_blind.slice(1, 1), seen.slice(1, 1)));
}

TEST_F(GatedCrossAttentionTest, PatchesThatAreMaskedAreNotSeen) {
  GatedCrossAttentionLayer layer(small_config(), Fault::kNone);
  layer->alpha_cross_attn.data().fill_(1.0);
  const torch::Tensor hidden = torch::randn({1, 3, 16});
  ImageContext image{torch::randn({1, 4, 16}), torch::zeros({1, 1, 3, 4}),
                     torch::ones({1, 3, 1}, torch::kBool)};
  image.bias.slice(3, 2).fill_(std::numeric_limits<float>::lowest());
  const torch::Tensor before = layer->forward(hidden, image);
  image.hidden.slice(1, 2).fill_(9.0);
  EXPECT_TRUE(torch::equal(layer->forward(hidden, image), before));
  image.hidden.slice(1, 0, 2).fill_(9.0);
  EXPECT_FALSE(is_close(layer->forward(hidden, image), before));
}

TEST_F(MaskTest, ATokenChangesNoTokenBeforeIt) {
  Idefics model(small_config());
  open_gates(model->model);
  IdeficsInputs inputs = some_inputs();
  const torch::Tensor before = model->forward(inputs);
  inputs.input_ids.select(1, 4).fill_(2);
  const torch::Tensor after = model->forward(inputs);
  EXPECT_TRUE(is_close(after.slice(1, 0, 4), before.slice(1, 0, 4)));
  EXPECT_FALSE(is_close(after.slice(1, 4), before.slice(1, 4)));
}

TEST_F(MaskTest, PaddingChangesNoToken) {
  Idefics model(small_config());
  open_gates(model->model);
  IdeficsInputs inputs = some_inputs();
  const torch::Tensor alone = model->forward(inputs);

  const auto pad = [](const torch::Tensor& tensor, std::vector<std::int64_t> shape) {
    return torch::cat({tensor, torch::zeros(shape, torch::kLong)}, 1);
  };
  inputs.input_ids = pad(inputs.input_ids, {2, 3});
  inputs.attention_mask = pad(inputs.attention_mask, {2, 3});
  inputs.image_attention_mask = pad(inputs.image_attention_mask, {2, 3, 1});
  EXPECT_TRUE(is_close(model->forward(inputs).slice(1, 0, 6), alone));
}

TEST_F(MaskTest, PaddingBeforeTheTokensChangesNoToken) {
  Idefics model(small_config());
  open_gates(model->model);
  IdeficsInputs inputs = some_inputs();
  const torch::Tensor alone = model->forward(inputs);

  const auto pad = [](const torch::Tensor& tensor, std::vector<std::int64_t> shape) {
    return torch::cat({torch::zeros(shape, torch::kLong), tensor}, 1);
  };
  inputs.input_ids = pad(inputs.input_ids, {2, 3});
  inputs.attention_mask = pad(inputs.attention_mask, {2, 3});
  inputs.image_attention_mask = pad(inputs.image_attention_mask, {2, 3, 1});
  EXPECT_TRUE(is_close(model->forward(inputs).slice(1, 3), alone));
}

TEST_F(MaskTest, ATokenBeforeTheImageDoesNotSeeIt) {
  Idefics model(small_config());
  open_gates(model->model);
  IdeficsInputs inputs = some_inputs();
  const torch::Tensor before = model->forward(inputs);
  inputs.pixel_values = torch::rand({2, 1, 1, 8, 8});
  const torch::Tensor after = model->forward(inputs);
  EXPECT_TRUE(is_close(after.select(1, 0), before.select(1, 0)));
  EXPECT_FALSE(is_close(after.slice(1, 1), before.slice(1, 1)));
}

TEST_F(MaskTest, RowsDoNotSeeEachOther) {
  Idefics model(small_config());
  open_gates(model->model);
  IdeficsInputs inputs = some_inputs();
  const torch::Tensor before = model->forward(inputs);
  inputs.input_ids[1].fill_(2);
  inputs.pixel_values[1].fill_(0.5);
  EXPECT_TRUE(is_close(model->forward(inputs)[0], before[0]));
}

TEST_F(EmbeddingTest, TokensOfTheSecondTableComeFromIt) {
  DecoupledEmbedding embedding(small_config());
  const torch::Tensor embedded = embedding->forward(torch::tensor({{0, 11, 12, 13}}))[0];
  EXPECT_TRUE(torch::equal(embedded[0], embedding->weight[0]));
  EXPECT_TRUE(torch::equal(embedded[1], embedding->weight[11]));
  EXPECT_TRUE(torch::equal(embedded[2], embedding->additional_embedding->weight[0]));
  EXPECT_TRUE(torch::equal(embedded[3], embedding->additional_embedding->weight[1]));
}

TEST_F(EmbeddingTest, ATokenOfTheSecondTableTeachesTheFirstNothing) {
  DecoupledEmbedding embedding(small_config());
  embedding->forward(torch::tensor({{12}})).sum().backward();
  EXPECT_EQ(embedding->weight.grad().abs().sum().item<float>(), 0.0F);
  EXPECT_GT(embedding->additional_embedding->weight.grad().abs().sum().item<float>(), 0.0F);
}

TEST_F(ModelTest, LossCountsTheLabelsThatAreNotIgnored) {
  // Logits that are equal: the loss of each of the three labels that count is log(vocabulary).
  const torch::Tensor logits = torch::zeros({1, 5, 7});
  const torch::Tensor labels = row_of({3, kIgnored, 1, 2, 6});
  EXPECT_NEAR(next_token_loss(logits, labels).item<double>(), 3 * std::log(7.0), 1e-5);
}

TEST_F(ModelTest, LossIsOfTheTokenThatFollows) {
  torch::Tensor logits = torch::zeros({1, 3, 4});
  logits[0][1][2] = 100;  // after the second token: token 2
  EXPECT_NEAR(next_token_loss(logits, row_of({kIgnored, kIgnored, 2})).item<double>(), 0.0, 1e-5);
  EXPECT_GT(next_token_loss(logits, row_of({kIgnored, 2, kIgnored})).item<double>(), 1.0);
}

TEST_F(IcvTest, AVectorOfTheFirstLayerIsAsIfEveryTokenHadIt) {
  IdeficsModel model(small_config());
  open_gates(model);
  const IdeficsInputs inputs = some_inputs();
  const torch::Tensor vector = torch::randn({16});
  torch::Tensor shifts = torch::zeros({2, 2, 16});
  EXPECT_TRUE(torch::equal(model->forward(inputs, shifts), model->forward(inputs)));
  shifts.select(1, 0) += vector;
  const torch::Tensor shifted = model->forward(inputs, shifts);

  const torch::NoGradGuard no_grad;
  model->embed_tokens->weight += vector;
  model->embed_tokens->additional_embedding->weight += vector;
  EXPECT_TRUE(is_close(shifted, model->forward(inputs)));
}

TEST_F(IcvTest, AVectorOfALaterLayerChangesEveryToken) {
  IdeficsModel model(small_config());
  const IdeficsInputs inputs = some_inputs();
  torch::Tensor shifts = torch::zeros({2, 2, 16});
  shifts[0][1] += torch::randn({16});
  const torch::Tensor shifted = model->forward(inputs, shifts);
  const torch::Tensor plain = model->forward(inputs);
  for (std::int64_t token = 0; token < 6; ++token) {
    EXPECT_FALSE(is_close(shifted[0][token], plain[0][token])) << token;
  }
  EXPECT_TRUE(is_close(shifted[1], plain[1]));
}

TEST_F(IcvTest, EncoderGivesAVectorALayerScaledByItsCoefficient) {
  IcvEncoder encoder(/*tasks=*/2, /*layers=*/3, /*width=*/4);
  const torch::Tensor task = torch::tensor({0, 1, 0});
  const torch::Tensor vectors = encoder->forward(task);
  EXPECT_THAT(vectors.sizes(), testing::ElementsAre(3, 3, 4));
  EXPECT_TRUE(torch::equal(vectors[0], vectors[2]));
  EXPECT_FALSE(is_close(vectors[0], vectors[1]));

  const torch::NoGradGuard no_grad;
  encoder->coefficients[1] *= 2;
  const torch::Tensor stronger = encoder->forward(task);
  EXPECT_TRUE(is_close(stronger.select(1, 1), 2 * vectors.select(1, 1)));
  EXPECT_TRUE(torch::equal(stronger.select(1, 0), vectors.select(1, 0)));
}

TEST_F(IcvTest, StagesTrainWhatIsTheirs) {
  Model model(small_config());
  const auto trained = [&] {
    std::vector<std::string> names;
    for (const auto& parameter : model->named_parameters()) {
      if (parameter.value().requires_grad()) names.push_back(parameter.key());
    }
    return names;
  };
  model->set_stage(Stage::kIcv);
  EXPECT_THAT(trained(), testing::Each(testing::StartsWith("icv_encoder.")));
  EXPECT_EQ(trained().size(), model->icv_encoder->parameters().size());
  model->set_stage(Stage::kPretrain);
  EXPECT_THAT(trained(), testing::Each(testing::StartsWith("lmm.")));
  // All but weight and bias of the norm that the language model does not read.
  EXPECT_EQ(trained().size(), model->lmm->parameters().size() - 2);
}

TEST_F(ModelTest, UnregisteredScaleIsLeftOutOfTheBuffers) {
  const auto has_scale = [](Fault fault) {
    const CrossAttention attention(small_config(), fault);
    return attention->named_buffers().contains("scale");
  };
  EXPECT_TRUE(has_scale(Fault::kNone));
  EXPECT_FALSE(has_scale(Fault::kBuffer));
}

}  // namespace
}  // namespace models::multimodal
