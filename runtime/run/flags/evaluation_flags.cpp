#include "runtime/run/flags/evaluation_flags.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "runtime/run/recipe.h"

namespace plumbline {
namespace {

constexpr double default_held_out_share = 0.1;  // as nanoGPT's data/shakespeare_char/prepare.py divides its text
/// Evaluations that a run makes by itself, so that they take at most a fifteenth of its time, and at least so many
/// steps between them: each costs at most the forwards of two steps (rank_training.cpp).
constexpr std::int64_t default_evaluations = 10;
constexpr std::int64_t fewest_steps_between = 10;
constexpr std::int64_t most_generated_tokens = 1'000'000;
constexpr std::int64_t most_generated_by_default = 200;
constexpr std::int64_t default_prompt_tokens = 32;
constexpr double default_temperature = 0.7;
constexpr double largest_temperature = 100;

}  // namespace

const Options<EvaluationFlags>& EvaluationFlags::option_table() {
  static const Options<EvaluationFlags> all = [] {
    Options<EvaluationFlags> options;
    const auto add = [&](std::optional<std::string> EvaluationFlags::*text, const char* flag, const char* values,
                         const char* help) {
      options.push_back(
          text_option<EvaluationFlags>(text, {.flag = flag, .values = values, .help = help, .group = "Evaluation"}));
    };
    using Flags = EvaluationFlags;
    add(&Flags::share_, "--held-out", "SHARE", "of the data, at its end, that is not trained on; 0: none (0.1)");
    add(&Flags::every_, "--evaluate-every", "N",
        "steps between held-out losses; one more after the last (a tenth, at least 10)");
    add(&Flags::patience_, "--patience", "N",
        "end the run when so many held-out losses in a row were no new lowest; 0: never (0)");
    add(&Flags::tokens_, "--generate", "N", "tokens of text at the end; 0: none (as many as steps, at most 200)");
    add(&Flags::prompt_, "--prompt", "TEXT", "what the generated text goes on with (the begin of the held-out text)");
    add(&Flags::temperature_, "--temperature", "T", "of the generated text; 0: always the most likely token (0.7)");
    return options;
  }();
  return all;
}

void EvaluationFlags::continue_from(const TrainingSettings& stored) {
  if (!patience_) patience_ = stored_flag(stored, "patience");
  if (!every_) every_ = stored_flag(stored, "evaluate-every");
  if (const auto held_out = stored_flag(stored, "held-out"))
    stored_ = whole_number("held-out", *held_out, 0, std::numeric_limits<std::int64_t>::max());
}

void EvaluationFlags::follow(const TrainingSettings& recipe) {
  if (!share_ && !stored_) share_ = stored_flag(recipe, "held-out");
}

std::int64_t EvaluationFlags::largest_data(std::int64_t most_trained) const {
  if (!share_ && stored_) return most_trained + std::min(*stored_, most_trained);
  const double share = share_ ? real_number("--held-out", *share_, 0, largest_held_out) : default_held_out_share;
  return static_cast<std::int64_t>(static_cast<double>(most_trained) / (1 - share)) + 1;  // rounded up
}

std::int64_t EvaluationFlags::held_out(const TokenSource& data, std::int64_t sequence_length) const {
  // Other data, where they are asked for, are refused or overridden as such; their own share is held out. So is it
  // where what a checkpoint says is no sequence with its targets, which no run holds out.
  const bool is_kept =
      stored_ && *stored_ < data.tokens.size() - sequence_length && (*stored_ == 0 || *stored_ > sequence_length);
  if (!share_ && is_kept) return *stored_;
  const double share = share_ ? real_number("--held-out", *share_, 0, largest_held_out) : default_held_out_share;
  const std::int64_t tokens = held_out_tokens(data, share, sequence_length);
  if (share_ && share > 0 && tokens == 0)
    throw InputError({"--held-out",
                      *share_ + " of " + std::to_string(data.tokens.size()) +
                          " tokens, or the rest of them, is no "
                          "sequence of " +
                          std::to_string(sequence_length) + " tokens with its targets",
                      "another share, longer data or shorter sequences", ""});
  return tokens;
}

std::vector<std::int32_t> EvaluationFlags::prompt(const RunOptions& options, std::int64_t sequence_length,
                                                  bool is_text) const {
  if (prompt_) {
    if (!is_text)
      throw InputError({"--prompt", "is text, and the data are numbers of tokens", "no prompt: that of the data", ""});
    if (prompt_->empty()) throw InputError({"--prompt", "is empty", "a text", ""});
    const Tokens tokens = tokens_of_text(*prompt_).tokens;
    return tokens.read(0, tokens.size());
  }
  const std::int64_t length = std::min(default_prompt_tokens, sequence_length);
  const Tokens& tokens = options.data.tokens;
  return tokens.read(options.data.held_out > 0 ? tokens.size() - options.data.held_out : 0, length);
}

void EvaluationFlags::apply(RunOptions& options, std::int64_t sequence_length, bool is_text) const {
  EvaluationOptions& asked = options.evaluation;
  options.data.held_out = held_out(options.data, sequence_length);
  if (patience_) asked.patience = whole_number("--patience", *patience_, 0, most_run_steps);
  for (const auto& [flag, is_given] :
       {std::pair("--evaluate-every", every_.has_value()), std::pair("--patience", asked.patience > 0)})
    if (is_given && options.data.held_out == 0)
      throw InputError({flag, "nothing is held out", "data of which --held-out leaves a sequence", ""});
  asked.every = every_ ? whole_number("--evaluate-every", *every_, 1, most_run_steps)
                       : std::max(options.steps / default_evaluations, fewest_steps_between);
  asked.generation.tokens = tokens_ ? whole_number("--generate", *tokens_, 0, most_generated_tokens)
                                    : std::min(options.steps, most_generated_by_default);
  for (const auto& [flag, value] : {std::pair("--prompt", &prompt_), std::pair("--temperature", &temperature_)})
    if (asked.generation.tokens == 0 && *value)
      throw InputError({flag, "does nothing with --generate 0", "a text to generate", ""});
  asked.generation.temperature =
      temperature_ ? real_number("--temperature", *temperature_, 0, largest_temperature) : default_temperature;
  asked.generation.prompt = prompt(options, sequence_length, is_text);
}

}  // namespace plumbline
