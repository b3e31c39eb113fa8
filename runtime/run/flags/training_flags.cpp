#include "runtime/run/flags/training_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "core/plan/legality.h"
#include "runtime/checkpoint/checkpoint_series.h"
#include "runtime/run/run_settings.h"

namespace plumbline {
namespace {

constexpr std::int64_t default_steps = 100;
constexpr double warmup_share = 0.05;
constexpr double decay_share = 0.1;        // Hu et al., MiniCPM, arXiv:2404.06395, section 4.3: a tenth of the steps
constexpr double step_decay = 0.1;         // torch.optim.lr_scheduler.StepLR's
constexpr std::int64_t falls_of_step = 3;  // He et al., arXiv:1512.03385, appendix A: 30 of 90 epochs at each rate
constexpr std::int32_t most_untimed_steps = 3;

LearningRateShape schedule_shape_of(const std::string& text) {
  if (const auto shape = learning_rate_shape_from_text(text)) return *shape;
  std::vector<std::string> names;
  for (const LearningRateShape shape : all_learning_rate_shapes) names.emplace_back(to_text(shape));
  refuse_choice("--lr-schedule", text, names);
}

TokenSource data_from(const std::string& file, const std::string& format, std::int64_t vocabulary,
                      const TokenReading& reading) {
  const auto read = token_file_format_from_text(format);
  if (!read) refuse_choice("--data-format", format, {"text", "u16", "u32"});
  return read_tokens(file, *read, static_cast<std::int32_t>(vocabulary), reading);
}

}  // namespace

std::int64_t vocabulary_of(const Graph& graph) {
  for (const Block& block : graph.blocks())
    for (const Op& op : block.ops())
      if (op.kind == OpKind::embedding) return block.tensor(op.parameters.front()).shape.front().factor;
  return 0;
}

const Options<TrainingFlags>& TrainingFlags::option_table() {
  static const Options<TrainingFlags> all = [] {
    Options<TrainingFlags> options;
    add_schedule(options);
    add_options(options, OptimizerFlags::option_table(),
                [](TrainingFlags& flags) -> OptimizerFlags& { return flags.optimizer_; });
    add_options(options, EvaluationFlags::option_table(),
                [](TrainingFlags& flags) -> EvaluationFlags& { return flags.evaluation_; });
    add_numbers_and_checkpoints(options);
    return options;
  }();
  return all;
}

void TrainingFlags::add_schedule(Options<TrainingFlags>& options) {
  const auto add = [&](const char* flag, std::optional<std::string> TrainingFlags::*text, const char* values,
                       const char* help) {
    options.push_back(text_option<TrainingFlags>(text, {flag, values, help}));
  };
  add("--steps", &TrainingFlags::steps_, "N", "steps to take (100)");
  add("--data", &TrainingFlags::data_, "FILE", "what to train on; absent: a short text inside of this program");
  add("--data-format", &TrainingFlags::data_format_, "FORMAT",
      "of --data: text (its bytes are the tokens), u16 or u32 token numbers");
  add("--seed", &TrainingFlags::seed_, "N", "of the first weights, of the places in the data, of dropout (0)");
  add("--learning-rate", &TrainingFlags::rate_, "R", "at its peak (0.001)");
  add("--lr-schedule", &TrainingFlags::shape_, "SHAPE",
      "constant, cosine (default), linear, wsd, inverse-sqrt, exponential or step");
  add("--final-learning-rate", &TrainingFlags::final_rate_, "R",
      "at which cosine, linear and wsd end (a tenth of the peak)");
  add("--lr-decay", &TrainingFlags::decay_, "FACTOR",
      "of the learning rate: exponential: in each step (a tenth is left at the end); step: in each fall (0.1)");
  add("--lr-decay-every", &TrainingFlags::decay_every_, "N",
      "steps at one learning rate of --lr-schedule step (a third of them)");
  add("--schedule-steps", &TrainingFlags::total_, "N",
      "that the learning rate's schedule spans, resumed runs included (--steps)");
  add("--init", &TrainingFlags::init_, "HOW",
      "first weights of matrices: normal (of deviation 0.02; default), zero, xavier or he");
  add("--warmup-steps", &TrainingFlags::warmup_, "N",
      "until the learning rate is at its peak (a twentieth of the steps)");
}

void TrainingFlags::add_numbers_and_checkpoints(Options<TrainingFlags>& options) {
  const auto add = [&](const char* flag, std::optional<std::string> TrainingFlags::*text, const char* values,
                       const char* help) {
    options.push_back(text_option<TrainingFlags>(text, {flag, values, help}));
  };
  add("--fp8-scaling", &TrainingFlags::fp8_scaling_, "HOW",
      "scales of the operands of fp8 products: tensor (one each; default) or row (one for each row or column)");
  add("--expert-routing", &TrainingFlags::routing_, "WHO",
      "who chooses a token's experts: learned (the router; default) or balanced (in turn, as many rows for each rank)");
  add("--checkpoint", &TrainingFlags::checkpoint_, "DIR", "write the state of the training here");
  add("--checkpoint-every", &TrainingFlags::every_, "N", "steps between checkpoints; absent: one after the last");
  add("--resume", &TrainingFlags::resume_, "DIR",
      "go on from a checkpoint, with what it was trained with where no flag says otherwise");
  options.push_back({.words = {"--override", "NAME,...",
                               "settings that may be others than those of the resumed checkpoint, such as "
                               "learning-rate,clip"},
                     .text = {},
                     .is_on = {},
                     .list = &TrainingFlags::overrides_,
                     .divides = true});
}

void TrainingFlags::continue_training() {
  if (!resume_) {
    if (!overrides_.empty()) throw InputError({"--override", "is given without --resume", "both, or neither", ""});
    return;
  }
  const std::vector<std::string> names = setting_names();
  for (const std::string& name : overrides_)
    if (std::find(names.begin(), names.end(), name) == names.end()) refuse_choice("--override", name, names);
  // Other data have another end.
  if (std::find(overrides_.begin(), overrides_.end(), "data") != overrides_.end()) overrides_.emplace_back("held-out");
  const CheckpointManifest manifest = manifest_to_resume(*resume_);
  take_rates(manifest.settings);
  optimizer_.continue_from(manifest.settings);
  evaluation_.continue_from(manifest.settings);
  if (!fp8_scaling_) fp8_scaling_ = stored_flag(manifest.settings, "fp8-scaling");
  if (!routing_) stored_routing_ = stored_flag(manifest.settings, "expert-routing").value_or(stored_routing_);
  if (data_ && !data_format_) data_format_ = manifest.data.format;
  if (data_ || manifest.data.file.empty()) return;
  data_ = manifest.data.file;
  data_format_ = manifest.data.format;
}

void TrainingFlags::take_rates(const TrainingSettings& stored) {
  const auto take = [&](std::string_view name, std::optional<std::string>& flag) {
    if (!flag) flag = stored_flag(stored, name);
  };
  // Numbers of a schedule belong to its shape.
  const bool keeps_shape = !shape_ || shape_ == stored_flag(stored, "lr-schedule");
  take("seed", seed_);
  take("init", init_);
  take("learning-rate", rate_);
  take("lr-schedule", shape_);
  if (keeps_shape) take("final-learning-rate", final_rate_);
  if (keeps_shape) take("lr-decay", decay_);
  if (keeps_shape) take("lr-decay-every", decay_every_);
  take("schedule-steps", total_);
  take("warmup-steps", warmup_);
}

void TrainingFlags::follow(const TrainingSettings& recipe) {
  const auto take = [&](std::string_view name, std::optional<std::string>& flag) {
    if (!flag) flag = stored_flag(recipe, name);
  };
  take("steps", steps_);
  take_rates(recipe);
  take("fp8-scaling", fp8_scaling_);
  if (!resume_) take("expert-routing", routing_);
  take("checkpoint", checkpoint_);
  take("checkpoint-every", every_);
  optimizer_.follow(recipe);
  evaluation_.follow(recipe);
  if (data_) return;
  take("data", data_);
  take("data-format", data_format_);
}

std::int64_t TrainingFlags::steps() const {
  return steps_ ? whole_number("--steps", *steps_, 1, most_run_steps) : default_steps;
}

RunOptions TrainingFlags::options(const Graph& graph, std::int64_t sequence_length, const StopReading& stop) const {
  const std::int64_t vocabulary = vocabulary_of(graph);
  if (vocabulary == 0)
    throw InputError({"--plan", "the network " + graph.name() + " reads no tokens", "a language model", ""});
  RunOptions options;
  options.steps = steps();
  if (seed_)
    options.seed =
        static_cast<std::uint64_t>(whole_number("--seed", *seed_, 0, std::numeric_limits<std::int64_t>::max()));
  options.warmup_steps = static_cast<std::int32_t>(std::min<std::int64_t>(most_untimed_steps, options.steps / 2));
  if (init_) options.initialisation = choice_of("--init", *init_, all_initialisations, initialisation_from_text);
  if (data_format_ && !data_) throw InputError({"--data-format", "is given without --data", "both, or neither", ""});
  options.data = data_ ? data_from(*data_, data_format_.value_or("text"), vocabulary,
                                   {evaluation_.largest_data(most_trained_tokens), stop})
                       : sample_tokens();
  if (options.data.vocabulary > vocabulary && !data_format_)
    throw InputError(
        {data_ ? "--data" : "--plan",
         "a text needs tokens from 0 to 255, the network " + graph.name() + " knows " + std::to_string(vocabulary),
         "a network with at least 256 tokens", "nano-llama"});
  evaluation_.apply(options, sequence_length, is_text());
  if (every_) {
    if (!checkpoint_) throw InputError({"--checkpoint-every", "is given without --checkpoint", "both, or neither", ""});
    options.checkpoints.every = whole_number("--checkpoint-every", *every_, 1, most_run_steps);
  }
  if (checkpoint_) options.checkpoints.folder = *checkpoint_;
  if (resume_) options.checkpoints.resume = *resume_;
  options.checkpoints.overrides = overrides_;
  options.data_source = {data_.value_or(""), data_format_.value_or("text")};
  return options;
}

LearningRateSchedule TrainingFlags::learning_rate() const {
  LearningRateSchedule schedule;
  schedule.shape = schedule_shape_of(shape_.value_or(default_schedule));
  schedule.peak = rate_ ? real_number("--learning-rate", *rate_, 0, largest_learning_rate) : default_learning_rate;
  if (has_final_rate(schedule.shape))
    schedule.final_rate = final_rate_ ? real_number("--final-learning-rate", *final_rate_, 0, largest_learning_rate)
                                      : final_rate_share * schedule.peak;
  schedule.steps = total_ ? whole_number("--schedule-steps", *total_, 1, most_run_steps) : steps();
  const auto share = [&](double part) { return static_cast<std::int64_t>(part * static_cast<double>(schedule.steps)); };
  schedule.warmup_steps = warmup_ ? whole_number("--warmup-steps", *warmup_, 0, most_run_steps) : share(warmup_share);
  if (schedule.shape == LearningRateShape::stable_then_decay) schedule.decay_steps = share(decay_share);
  add_decay(schedule);
  check_learning_rate(schedule, "--learning-rate");
  return schedule;
}

void TrainingFlags::add_decay(LearningRateSchedule& schedule) const {
  const auto refuse_unread = [&](const char* flag, const std::optional<std::string>& value, const char* readers) {
    if (value)
      throw InputError({flag, "is not read by --lr-schedule " + std::string(to_text(schedule.shape)), readers, ""});
  };
  const bool is_step = schedule.shape == LearningRateShape::step;
  if (!has_final_rate(schedule.shape))
    refuse_unread("--final-learning-rate", final_rate_, "--lr-schedule cosine, linear or wsd");
  if (!has_decay_factor(schedule.shape)) refuse_unread("--lr-decay", decay_, "--lr-schedule exponential or step");
  if (!is_step) refuse_unread("--lr-decay-every", decay_every_, "--lr-schedule step");
  if (!has_decay_factor(schedule.shape)) return;
  const std::int64_t falling = std::max<std::int64_t>(1, schedule.steps - schedule.warmup_steps);
  schedule.decay_factor = decay_
                              ? real_number("--lr-decay", *decay_, 0, 1)
                              : (is_step ? step_decay : std::pow(final_rate_share, 1 / static_cast<double>(falling)));
  if (is_step)
    schedule.decay_every = decay_every_ ? whole_number("--lr-decay-every", *decay_every_, 1, most_run_steps)
                                        : std::max<std::int64_t>(1, falling / falls_of_step);
}

ExpertRouting TrainingFlags::routing(const Graph& graph) const {
  const ExpertRouting routing =
      choice_of("--expert-routing", routing_.value_or(stored_routing_), all_expert_routings, expert_routing_from_text);
  if (routing_ && divisibility(graph).experts.empty())
    throw InputError({"--expert-routing", "the network " + graph.name() + " has no experts",
                      "a network with experts, or no such flag", "nano-moe"});
  return routing;
}

Fp8Scaling TrainingFlags::fp8_scaling(const Training& training) const {
  if (!fp8_scaling_) return training.precision == PrecisionRecipe::fp8_row ? Fp8Scaling::row : Fp8Scaling::tensor;
  const Fp8Scaling chosen = choice_of("--fp8-scaling", *fp8_scaling_, all_fp8_scalings, fp8_scaling_from_text);
  if (!is_fp8(training.precision))
    throw InputError({"--fp8-scaling", "the plan's precision is " + std::string(to_text(training.precision)),
                      "a plan of fp8, or no such flag", ""});
  return chosen;
}

void TrainingFlags::complete(TrainingJob& job, const Recipe& recipe) const {
  job.optimizer = optimizer_.settings(job.training);
  job.learning_rate = learning_rate();
  job.loss_scale = recipe.loss_scale;
  job.routing = routing(job.graph);
  job.fp8_scaling = fp8_scaling(job.training);
}

bool TrainingFlags::is_text() const {
  return token_file_format_from_text(data_format_.value_or("text")) == TokenFileFormat::text;
}

}  // namespace plumbline
