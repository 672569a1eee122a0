// Ranks that train together.
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "common/usage_error.h"
#include "multimodal/launch.h"
#include "multimodal/trainer.h"
#include "ranks.h"

namespace models::multimodal {
namespace {

RunConfig small_run(Stage stage) {
  RunConfig config;
  config.width = 32;
  config.layers = 1;
  config.batch = 25;  // which two ranks cannot share evenly
  config.stage = stage;
  return config;
}

std::vector<Digit> some_digits(std::size_t count) {
  std::vector<Digit> digits(count);
  for (std::size_t i = 0; i < count; ++i) {
    digits[i].label = static_cast<int>(i % 10);
    for (std::size_t pixel = 0; pixel < 64; ++pixel) {
      digits[i].pixels[pixel] = static_cast<std::uint8_t>((i * 7 + pixel * (i + 3)) % 17);
    }
  }
  return digits;
}

Model make_model(const RunConfig& config, std::uint64_t seed) {
  torch::manual_seed(seed);
  Model model(idefics_config(config));
  model->set_stage(config.stage);
  return model;
}

Tensors gradients_of(const Model& model) {
  Tensors gradients;
  for (const auto& parameter : model->named_parameters()) {
    if (parameter.value().requires_grad()) {
      gradients.emplace(parameter.key(), parameter.value().grad().clone());
    }
  }
  return gradients;
}

void expect_close(const Tensors& actual, const Tensors& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    EXPECT_TRUE(torch::allclose(actual.at(name), tensor, tolerance, tolerance)) << name;
  }
}

class StageTest : public testing::TestWithParam<Stage> {};

TEST_P(StageTest, GradientsOfTwoRanksAreThoseOfTheWholeBatch) {
  const RunConfig config = small_run(GetParam());
  const auto digits = some_digits(40);
  const auto train = [&](const Rank& rank) {
    Model model = make_model(config, 1 + static_cast<std::uint64_t>(rank.launch.rank));
    Trainer trainer(model, config, digits, rank);
    const torch::Tensor loss = trainer.train_step();
    Tensors result = gradients_of(model);
    result.emplace("loss", loss);
    return result;
  };
  const Tensors whole = run_as_ranks(1, train)[0];
  std::vector<Tensors> halves = run_as_ranks(2, train);
  ASSERT_FALSE(HasFailure());

  const double sum = halves[0].at("loss").item<double>() + halves[1].at("loss").item<double>();
  EXPECT_NEAR(sum, whole.at("loss").item<double>(), 1e-5);
  halves[0].insert_or_assign("loss", whole.at("loss"));
  halves[1].insert_or_assign("loss", whole.at("loss"));
  const bool any_is_large = std::any_of(whole.begin(), whole.end(), [](const auto& entry) {
    return entry.first != "loss" && entry.second.abs().max().template item<float>() > 1e-2F;
  });
  EXPECT_TRUE(any_is_large);
  expect_close(halves[0], whole, 1e-5);
  expect_close(halves[1], halves[0], 0.0);
}

TEST_P(StageTest, RanksHaveTheSameWeightsAfterSomeSteps) {
  const RunConfig config = small_run(GetParam());
  const auto digits = some_digits(40);
  const auto weights = run_as_ranks(2, [&](const Rank& rank) {
    Model model = make_model(config, 1 + static_cast<std::uint64_t>(rank.launch.rank));
    Trainer trainer(model, config, digits, rank);
    for (int step = 0; step < 4; ++step) trainer.train_step();
    return weights_of(*model);
  });
  ASSERT_FALSE(HasFailure());
  expect_close(weights[1], weights[0], 0.0);
  const Model before = make_model(config, 1);
  for (const auto& parameter : before->named_parameters()) {
    const bool is_trained = parameter.value().requires_grad();
    EXPECT_EQ(torch::equal(parameter.value(), weights[0].at(parameter.key())), !is_trained)
        << parameter.key();
  }
}

TEST_P(StageTest, AResumedRunGoesOnAsIfItHadNotStopped) {
  const RunConfig config = small_run(GetParam());
  const auto digits = some_digits(40);
  run_as_ranks(1, [&](const Rank& rank) {
    Model straight = make_model(config, 1);
    Trainer trainer(straight, config, digits, rank);
    for (int step = 0; step < 3; ++step) trainer.train_step();
    const SavedRun saved = trainer.save();
    trainer.train_step();

    Model resumed = make_model(config, 2);
    resumed->load_weights(saved.weights);
    Trainer other(resumed, config, digits, rank);
    other.resume(saved);
    EXPECT_EQ(other.step(), 3);
    other.train_step();
    expect_close(weights_of(*resumed), weights_of(*straight), 0.0);
    return Tensors();
  });
}

INSTANTIATE_TEST_SUITE_P(Both, StageTest, testing::Values(Stage::kPretrain, Stage::kIcv),
                         [](const auto& stage) {
                           return stage.param == Stage::kPretrain ? "Pretrain" : "Icv";
                         });

// The names of the operators and backward nodes that a rank runs.
std::vector<std::string> recorded;

TEST(DataParallelTest, BucketsAreReducedWhileBackwardRuns) {
  RunConfig config = small_run(Stage::kPretrain);
  config.width = 64;
  config.layers = 2;
  const auto digits = some_digits(40);
  run_as_ranks(2, [&](const Rank& rank) {
    Model model = make_model(config, 1);
    Trainer trainer(model, config, digits, rank);
    trainer.train_step();  // after which the buckets are put in the order of the gradients
    recorded.clear();
    const auto handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& function)
                                       -> std::unique_ptr<at::ObserverContext> {
          recorded.emplace_back(function.name());
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    trainer.train_step();
    at::removeCallback(handle);

    const auto is_reduction = [](const std::string& name) { return name == "c10d::allreduce_"; };
    const auto is_backward = [](const std::string& name) {
      return name.find("ConvolutionBackward") != std::string::npos;  // the first layer's, the last
    };
    EXPECT_GE(std::count_if(recorded.begin(), recorded.end(), is_reduction), 3);
    const auto first = std::find_if(recorded.begin(), recorded.end(), is_reduction);
    EXPECT_NE(std::find_if(first, recorded.end(), is_backward), recorded.end());
    return Tensors();
  });
}

TEST(TrainerTest, RefusesABatchThatRanksCannotShare) {
  RunConfig config = small_run(Stage::kPretrain);
  config.batch = 1;
  const auto digits = some_digits(40);
  EXPECT_THROW(run_as_ranks(2,
                            [&](const Rank& rank) {
                              Model model = make_model(config, 1);
                              Trainer trainer(model, config, digits, rank);
                              return Tensors();
                            }),
               UsageError);
}

// A model that says "yes" to everything: its hidden states are made the same at every token, and
// "yes" the word that stands in their direction.
void always_yes(Model& model) {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : model->lmm->parameters()) parameter.zero_();
  model->lmm->model->embed_tokens->weight.fill_(1);
  model->lmm->model->embed_tokens->additional_embedding->weight.fill_(1);
  model->lmm->model->norm->weight.fill_(1);
  model->lmm->lm_head->weight[token_of("yes")].fill_(1);
}

TEST(EvaluateTest, RanksTogetherCountEachAnswerOnce) {
  const RunConfig config = small_run(Stage::kPretrain);
  const auto digits = some_digits(37);  // of which 0, 2, ... 36 are even: 19
  for (const int ranks : {1, 2, 3}) {
    run_as_ranks(ranks, [&](const Rank& rank) {
      Model model = make_model(config, 1);
      always_yes(model);
      const Accuracy accuracy = evaluate(model, config.stage, digits, rank);
      EXPECT_DOUBLE_EQ(accuracy.by_question[0], 0.0);
      EXPECT_DOUBLE_EQ(accuracy.by_question[1], 19.0 / 37);
      EXPECT_DOUBLE_EQ(accuracy.overall, 19.0 / 74);
      return Tensors();
    });
  }
}

TEST(LaunchTest, ReadsWhatTorchrunSays) {
  const std::map<std::string, std::string> environment{
      {"RANK", "3"},           {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "1"},     {"MASTER_ADDR", "localhost"},
      {"MASTER_PORT", "2950"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"},
  };
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  const Launch launch = launch_from_environment();
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.world_size, 4);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.store_host, "localhost");
  EXPECT_EQ(launch.store_port, 2950);
  EXPECT_TRUE(launch.store_is_launchers);
  setenv("RANK", "4", 1);
  EXPECT_THROW(launch_from_environment(), UsageError);
  setenv("RANK", "0x1", 1);
  EXPECT_THROW(launch_from_environment(), UsageError);
  unsetenv("RANK");
  EXPECT_FALSE(launch_from_environment().has_launcher());
  for (const auto& [name, value] : environment) unsetenv(name.c_str());
}

}  // namespace
}  // namespace models::multimodal
