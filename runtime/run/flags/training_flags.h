#pragma once
/// \file training_flags.h: the flags of `run` that no prediction depends on: data, seed, steps, learning rate, the
/// optimizer's numbers, evaluation.

#include <optional>
#include <string>

#include "core/base/option.h"
#include "core/graph/graph.h"
#include "runtime/run/flags/evaluation_flags.h"
#include "runtime/run/flags/optimizer_flags.h"
#include "runtime/run/recipe.h"
#include "runtime/run/trainer.h"

namespace plumbline {

class TrainingFlags {
 public:
  /// In the order of help, those of the optimizer and of evaluation among them.
  [[nodiscard]] static const Options<TrainingFlags>& option_table();
  /// Flags that are not given take what the checkpoint to go on from was trained with. Throws InputError when it cannot
  /// be read.
  void continue_training();
  /// Flags that neither are given nor come from a checkpoint take what the plan's recipe says. After
  /// `continue_training`.
  void follow(const TrainingSettings& recipe);
  /// Reads the data. Throws InputError that names the flag, or the file; ReadingStopped.
  [[nodiscard]] RunOptions options(const Graph& graph, std::int64_t sequence_length, const StopReading& stop) const;
  /// Fills what of `job`, whose graph and training are there, the flags and a plan's recipe say: optimizer, learning
  /// rate, loss scale, routing, scaling. Throws InputError that names the flag.
  void complete(TrainingJob& job, const Recipe& recipe) const;
  /// Whether tokens are the bytes of a text.
  [[nodiscard]] bool is_text() const;

 private:
  [[nodiscard]] std::int64_t steps() const;
  [[nodiscard]] LearningRateSchedule learning_rate() const;
  [[nodiscard]] ExpertRouting routing(const Graph& graph) const;
  [[nodiscard]] Fp8Scaling fp8_scaling(const Training& training) const;
  static void add_schedule(Options<TrainingFlags>& options);
  static void add_numbers_and_checkpoints(Options<TrainingFlags>& options);
  /// What is not given of seed, initialisation and learning rate.
  void take_rates(const TrainingSettings& stored);
  /// Of the schedules that fall by a factor.
  void add_decay(LearningRateSchedule& schedule) const;

  std::optional<std::string> steps_, seed_, data_, data_format_, rate_, final_rate_, shape_, decay_, decay_every_,
      total_, warmup_, init_, checkpoint_, every_, resume_, routing_, fp8_scaling_;
  std::string stored_routing_ = "learned";  ///< of a network without experts, too
  std::vector<std::string> overrides_;
  OptimizerFlags optimizer_;
  EvaluationFlags evaluation_;
};

/// Tokens that the network knows; 0: it reads no tokens.
[[nodiscard]] std::int64_t vocabulary_of(const Graph& graph);

}  // namespace plumbline
