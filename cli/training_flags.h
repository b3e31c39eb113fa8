#pragma once
/// \file training_flags.h: the flags of `run` that no prediction depends on: data, seed, steps, learning rate.

#include <optional>
#include <string>

#include "core/graph/graph.h"
#include "runtime/trainer.h"

namespace CLI {
class App;
}

namespace plumbline {

class TrainingFlags {
 public:
  void declare(CLI::App& app);
  /// Reads the data. Throws InputError that names the flag, or the file.
  [[nodiscard]] RunOptions options(const Graph& graph) const;
  [[nodiscard]] LearningRateSchedule learning_rate() const;
  [[nodiscard]] OptimizerSettings optimizer() const;
  [[nodiscard]] ExpertRouting routing(const Graph& graph) const;

 private:
  [[nodiscard]] std::int64_t steps() const;

  std::optional<std::string> steps_, seed_, data_, data_format_, rate_, shape_, total_, warmup_, clip_, checkpoint_,
      every_, resume_, routing_;
};

/// Tokens that the network knows; 0: it reads no tokens.
[[nodiscard]] std::int64_t vocabulary_of(const Graph& graph);

}  // namespace plumbline
