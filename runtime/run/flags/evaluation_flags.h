#pragma once
/// \file evaluation_flags.h: the flags of `run` that say what the trained network is tried on: held-out text, a prompt.

#include <optional>
#include <string>

#include "core/base/option.h"
#include "runtime/checkpoint/training_settings.h"
#include "runtime/run/trainer.h"

namespace plumbline {

class EvaluationFlags {
 public:
  /// In the order of help.
  [[nodiscard]] static const Options<EvaluationFlags>& option_table();
  /// A share that is not given holds out as many tokens as the run that wrote a checkpoint did.
  void continue_from(const TrainingSettings& stored);
  /// A share that neither is given nor comes from a checkpoint is that of a plan's recipe.
  void follow(const TrainingSettings& recipe);
  /// Fills what `options`, whose data and steps are there, evaluates and generates. `is_text`: its tokens are bytes.
  /// Throws InputError that names the flag.
  void apply(RunOptions& options, std::int64_t sequence_length, bool is_text) const;
  /// That data may have of which `most_trained` are trained on and the others held out. Throws InputError.
  [[nodiscard]] std::int64_t largest_data(std::int64_t most_trained) const;

 private:
  [[nodiscard]] std::int64_t held_out(const TokenSource& data, std::int64_t sequence_length) const;
  [[nodiscard]] std::vector<std::int32_t> prompt(const RunOptions& options, std::int64_t sequence_length,
                                                 bool is_text) const;

  std::optional<std::string> share_, every_, patience_, tokens_, prompt_, temperature_;
  std::optional<std::int64_t> stored_;  ///< tokens held out by the run that goes on
};

}  // namespace plumbline
