#pragma once
/// \file optimizer_flags.h: the flags of `run` for an optimizer's numbers: betas, epsilon, momentum, decay, clipping.

#include <map>
#include <optional>
#include <string>

#include "core/base/option.h"
#include "core/training/training.h"
#include "runtime/checkpoint/training_settings.h"
#include "runtime/training/optimizer_settings.h"

namespace plumbline {

class OptimizerFlags {
 public:
  /// In the order of help.
  [[nodiscard]] static const Options<OptimizerFlags>& option_table();
  /// What is not given is taken from the settings of a checkpoint.
  void continue_from(const TrainingSettings& stored);
  /// What neither is given nor comes from a checkpoint is taken from the recipe of a plan.
  void follow(const TrainingSettings& recipe);
  /// Throws InputError for what the plan's optimizer or precision does not read.
  [[nodiscard]] OptimizerSettings settings(const Training& training) const;

 private:
  [[nodiscard]] std::optional<std::string> given(std::string_view number) const;
  [[nodiscard]] WeightRounding rounding(const Training& training) const;

  std::map<std::string_view, std::optional<std::string>> given_;  ///< by the name in optimizer_numbers.h
  std::optional<std::string> clip_, clip_value_, rounding_;
  TrainingSettings stored_;
};

}  // namespace plumbline
