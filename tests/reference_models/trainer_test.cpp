// Training, checkpoints, and that an interrupted run goes on as if it had not been.
#include "encoder_classifier/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/saved_run.h"
#include "common/usage_error.h"
#include "encoder_classifier/options.h"

namespace models {
namespace {

namespace fs = std::filesystem;

RunConfig small_config() {
  RunConfig config;
  config.width = 16;
  config.layers = 2;
  config.batch = 8;
  config.warmup_steps = 4;
  config.learning_rate = 5e-3;
  return config;
}

// Class 1 is rich in K, so there is something to learn.
std::vector<Sequence> samples() {
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < 44; ++i) {
    std::string residues(5 + i % 7, i % 2 == 0 ? 'D' : 'K');
    for (std::size_t j = 0; j < residues.size(); j += 2)
      residues[j] = kResidues[(i * 7 + j * 3) % 20];
    sequences.push_back({residues, static_cast<int>(i % 2)});
  }
  return sequences;
}

EncoderClassifier make_model(const RunConfig& config) {
  torch::manual_seed(config.seed);
  EncoderClassifier model(encoder_config(config, kVocabulary), kPadding);
  if (config.finetune == Finetune::kLora) model->add_lora({});
  return model;
}

std::vector<float> losses(Trainer& trainer, int steps) {
  std::vector<float> result;
  for (int i = 0; i < steps; ++i) result.push_back(trainer.train_step().item<float>());
  return result;
}

// A folder of this process's own, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / ("trainer_test." + std::to_string(getpid()))) {
    fs::create_directory(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Trainer, LearnsWhatCanBeLearnt) {
  const RunConfig config = small_config();
  EncoderClassifier model = make_model(config);
  const Evaluation before = evaluate(model, samples());
  Trainer trainer(model, config, samples());
  losses(trainer, 120);
  const Evaluation after = evaluate(model, samples());
  EXPECT_LT(after.loss, 0.5 * before.loss);
  EXPECT_GT(after.accuracy, 0.9);
}

TEST(Trainer, AnEpochHasEverySequence) {
  const RunConfig config = small_config();
  EXPECT_EQ(Trainer(make_model(config), config, samples()).steps_per_epoch(),
            6);  // 44 in batches of 8
}

TEST(Trainer, TheSameSeedGivesTheSameLosses) {
  const RunConfig config = small_config();
  Trainer one(make_model(config), config, samples());
  Trainer other(make_model(config), config, samples());
  EXPECT_EQ(losses(one, 8), losses(other, 8));
}

// Interrupted in the middle of an epoch, through a file, with dropout on.
TEST(Trainer, AResumedRunHasTheLossesOfAnUninterruptedOne) {
  for (const Finetune mode : {Finetune::kFull, Finetune::kLora}) {
    const TemporaryFolder folder;
    RunConfig config = small_config();
    config.finetune = mode;
    Trainer uninterrupted(make_model(config), config, samples());
    losses(uninterrupted, 9);
    const std::vector<float> expected = losses(uninterrupted, 9);

    Trainer first(make_model(config), config, samples());
    losses(first, 9);
    write_run(folder.path() / "run.pt", "test", 1, first.save());
    losses(first, 3);  // what is saved is a copy: this must not show in it

    config.seed += 1;  // other first weights: all must come from the file
    EncoderClassifier model = make_model(config);
    const SavedRun saved = read_run(folder.path() / "run.pt", "test", 1);
    Trainer second(model, run_config_from_json(saved.config), samples());
    second.resume(saved);
    EXPECT_EQ(second.step(), 9);
    EXPECT_EQ(losses(second, 9), expected);
  }
}

TEST(Trainer, ACheckpointHoldsEveryParameterAndItsMoments) {
  const RunConfig config = small_config();
  EncoderClassifier model = make_model(config);
  Trainer trainer(model, config, samples());
  losses(trainer, 3);
  const TemporaryFolder folder;
  write_run(folder.path() / "run.pt", "test", 1, trainer.save());
  const SavedRun saved = read_run(folder.path() / "run.pt", "test", 1);
  EXPECT_EQ(saved.step, 3);
  EXPECT_EQ(run_config_from_json(saved.config).width, 16);
  ASSERT_EQ(saved.weights.size(), model->named_parameters().size());
  for (const auto& parameter : model->named_parameters()) {
    EXPECT_TRUE(torch::equal(saved.weights.at(parameter.key()), parameter.value()))
        << parameter.key();
    EXPECT_EQ(saved.moments.at(parameter.key()).step, 3) << parameter.key();
  }
}

TEST(Trainer, LoraLeavesTheBaseBitByBit) {
  RunConfig config = small_config();
  config.finetune = Finetune::kLora;
  EncoderClassifier model = make_model(config);
  std::map<std::string, torch::Tensor> before;
  for (const auto& parameter : model->named_parameters())
    before[parameter.key()] = parameter.value().clone();
  Trainer trainer(model, config, samples());
  losses(trainer, 10);
  for (const auto& parameter : model->named_parameters()) {
    const std::string& name = parameter.key();
    const bool may_learn =
        name.find(".lora_") != std::string::npos || name.starts_with("classifier.");
    EXPECT_EQ(torch::equal(parameter.value(), before[name]), !may_learn) << name;
  }
}

TEST(Trainer, LoraStartsWhereTheFullRunEnded) {
  RunConfig config = small_config();
  EncoderClassifier full = make_model(config);
  Trainer trainer(full, config, samples());
  losses(trainer, 20);
  config.finetune = Finetune::kLora;
  config.seed = 7;
  EncoderClassifier adapted = make_model(config);
  load_weights(adapted, trainer.save().weights);
  EXPECT_EQ(evaluate(adapted, samples()).loss, evaluate(full, samples()).loss);
}

TEST(LoadWeights, NamesWhatIsMissing) {
  const RunConfig config = small_config();
  EncoderClassifier model = make_model(config);
  Weights weights = weights_of(*model);
  weights.erase("encoder.block.1.layer.1.layer_norm.weight");
  try {
    load_weights(model, weights);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'encoder.block.1.layer.1.layer_norm.weight'"));
  }
}

TEST(Checkpoint, AFailedWriteLeavesTheOldOne) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.pt";
  std::ofstream(path) << "old";
  fs::create_directory(folder.path() /
                       "run.pt.partial");  // where the new one is to be written first
  const RunConfig config = small_config();
  const Trainer trainer(make_model(config), config, samples());
  EXPECT_THROW(write_run(path, "test", 1, trainer.save()), UsageError);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "old");
}

TEST(Checkpoint, AnotherFileIsRefused) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.pt";
  std::ofstream(path) << "not a checkpoint";
  EXPECT_THROW(read_run(path, "test", 1), UsageError);
  const RunConfig config = small_config();
  const Trainer trainer(make_model(config), config, samples());
  write_run(path, "test", 1, trainer.save());
  EXPECT_NO_THROW(read_run(path, "test", 1));
  EXPECT_THROW(read_run(path, "another program", 1), UsageError);
  EXPECT_THROW(read_run(path, "test", 2), UsageError);
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_THROW(read_run(path, "test", 1), UsageError);
}

TEST(SettleConfig, ACheckpointFixesModelAndSeed) {
  RunConfig saved;
  saved.width = 32;
  saved.seed = 5;
  Options options;
  EXPECT_EQ(settle_config(options, &saved).width, 32);
  EXPECT_EQ(settle_config(options, &saved).seed, 5U);
  options.width = 32;
  EXPECT_NO_THROW(settle_config(options, &saved));
  options.width = 64;
  EXPECT_THROW(settle_config(options, &saved), UsageError);
  options.width.reset();
  options.seed = 6;
  options.finetune = Finetune::kLora;
  EXPECT_THROW(settle_config(options, &saved), UsageError);
}

TEST(SettleConfig, AnotherModeMayChooseItsOwnBatch) {
  const RunConfig saved;
  Options options;
  options.batch = 8;
  EXPECT_THROW(settle_config(options, &saved), UsageError);
  options.finetune = Finetune::kLora;
  EXPECT_EQ(settle_config(options, &saved).batch, 8);
}

TEST(CheckFault, AFaultThatCannotShowIsRefused) {
  const c10::Device cpu(c10::kCPU);
  const c10::Device cuda0(c10::kCUDA, 0);
  const c10::Device cuda1(c10::kCUDA, 1);
  RunConfig full;
  RunConfig lora;
  lora.finetune = Finetune::kLora;
  for (const FaultInfo& info : kFaults) {
    EXPECT_NO_THROW(check_fault(info.fault, lora, cuda0, cuda1)) << info.name;
    if (info.fault == Fault::kNone) continue;
    EXPECT_THROW(check_fault(info.fault, lora, cpu, cpu), UsageError) << info.name;
  }
  EXPECT_THROW(check_fault(Fault::kLora, full, cuda0, cuda1), UsageError);
  EXPECT_THROW(check_fault(Fault::kLiteral, lora, cpu, cuda0), UsageError);
  EXPECT_NO_THROW(check_fault(Fault::kMask, lora, cuda0, cuda0));
}

}  // namespace
}  // namespace models
