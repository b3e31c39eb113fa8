#include "runtime/run/flags/optimizer_flags.h"

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "runtime/run/recipe.h"
#include "runtime/training/optimizer_numbers.h"

namespace plumbline {
namespace {

/// "--beta1, --beta2": what the optimizer reads.
std::string flags_of(Optimizer optimizer) {
  std::string text;
  for (const OptimizerNumber& number : optimizer_numbers())
    if (number.is_read_by(optimizer)) text += (text.empty() ? "--" : ", --") + std::string(number.name);
  return text;
}

}  // namespace

const Options<OptimizerFlags>& OptimizerFlags::option_table() {
  static const Options<OptimizerFlags> all = [] {
    Options<OptimizerFlags> options;
    for (const OptimizerNumber& number : optimizer_numbers()) {
      const auto place = [name = number.name](OptimizerFlags& flags) -> std::optional<std::string>& {
        return flags.given_[name];
      };
      options.push_back(
          text_option<OptimizerFlags>(place, {"--" + std::string(number.name), "X", std::string(number.help)}));
    }
    const auto add = [&](std::optional<std::string> OptimizerFlags::*text, const char* flag, const char* values,
                         const char* help) {
      options.push_back(text_option<OptimizerFlags>(text, {flag, values, help}));
    };
    add(&OptimizerFlags::clip_, "--clip", "NORM", "of all gradients, at most; 0: no clipping (1)");
    add(&OptimizerFlags::clip_value_, "--clip-value", "V",
        "each gradient's magnitude at most, behind --clip; 0: no clipping (0)");
    add(&OptimizerFlags::rounding_, "--rounding", "HOW",
        "of weights that are kept in 16 bits alone: nearest, or stochastic (by a draw; nearest)");
    return options;
  }();
  return all;
}

std::optional<std::string> OptimizerFlags::given(std::string_view number) const {
  const auto found = given_.find(number);
  return found == given_.end() ? std::nullopt : found->second;
}

void OptimizerFlags::continue_from(const TrainingSettings& stored) {
  stored_ = stored;
  if (!clip_) clip_ = stored_flag(stored, "clip");
  if (!clip_value_) clip_value_ = stored_flag(stored, "clip-value");
  if (!rounding_) rounding_ = stored_flag(stored, "rounding");
}

void OptimizerFlags::follow(const TrainingSettings& recipe) {
  for (const TrainingSetting& setting : recipe)
    if (find_setting(stored_, setting.name) == nullptr) stored_.push_back(setting);
  if (!clip_) clip_ = stored_flag(recipe, "clip");
  if (!clip_value_) clip_value_ = stored_flag(recipe, "clip-value");
  if (!rounding_) rounding_ = stored_flag(recipe, "rounding");
}

WeightRounding OptimizerFlags::rounding(const Training& training) const {
  if (!rounding_) return WeightRounding::nearest;
  const auto chosen = choice_of("--rounding", *rounding_, all_weight_roundings, weight_rounding_from_text);
  if (chosen == WeightRounding::stochastic && !rounds_weights(training.formats()))
    throw InputError({"--rounding",
                      "stochastic is of weights in 16 bits without master copies, and the plan's precision is " +
                          std::string(to_text(training.precision)),
                      "a plan of bf16-pure or fp16-pure, or nearest", ""});
  return chosen;
}

OptimizerSettings OptimizerFlags::settings(const Training& training) const {
  const Optimizer optimizer = training.optimizer;
  OptimizerSettings settings;
  settings.rounding = rounding(training);
  for (const OptimizerNumber& number : optimizer_numbers()) {
    const std::string flag = "--" + std::string(number.name);
    std::optional<std::string> text = given(number.name);
    if (text && !number.is_read_by(optimizer))
      throw InputError(
          {flag, "is not read by the plan's optimizer, " + std::string(to_text(optimizer)), flags_of(optimizer), ""});
    if (!text) text = stored_flag(stored_, number.name);
    if (!text) continue;
    settings.*number.member = static_cast<float>(real_number(flag, *text, number.smallest, number.largest));
  }
  if (clip_value_) settings.clip_value = real_number("--clip-value", *clip_value_, 0, largest_clip);
  if (clip_) settings.clip_norm = real_number("--clip", *clip_, 0, largest_clip);
  return settings;
}

}  // namespace plumbline
