#include "planner/session/question_flags.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/io/value_text.h"
#include "core/training/adaptation_text.h"
#include "core/training/limits.h"
#include "models/import/onnx/reference.h"
#include "models/machine_catalog.h"

namespace plumbline::session {
namespace {

std::optional<NumberFormat> state_format_from_text(std::string_view text) { return value_named(state_formats, text); }

std::string required(std::string_view flag, const std::optional<std::string>& value, std::string expected) {
  if (value) return *value;
  throw InputError({std::string(flag), "is missing", std::move(expected), ""});
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerFacts& row : optimizer_table) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> QuestionFlags::values_of(const char* flag, const std::optional<std::string>& text) const {
  if (!text) return {};
  std::vector<std::string> values = list_of(flag, *text);
  if (values.size() > 1 && recipes == Recipes::one)
    throw InputError({flag, "several are given", "one here; plan search takes several", ""});
  return values;
}

RecipeChoices QuestionFlags::recipe_choices() const {
  RecipeChoices choices;
  const auto add = [](auto& values, auto value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  for (const std::string& part : values_of("--precision", precision))
    add(choices.precisions, choice_of("--precision", part, all_precision_recipes, precision_recipe_from_text));
  for (const std::string& part : values_of("--optimizer", optimizer)) {
    const auto one = optimizer_from_text(part);
    if (!one) refuse_choice("--optimizer", part, optimizer_names());
    add(choices.optimizers, *one);
  }
  for (const std::string& part : values_of("--lora-rank", lora_rank))
    add(choices.lora_ranks, whole_number("--lora-rank", part, 1, largest_lora_rank));
  return choices;
}

Adaptation QuestionFlags::adaptation() const {
  Adaptation adaptation;
  if (freeze) freeze_from_text(*freeze, "--freeze", adaptation);
  if (lora_rank) adaptation.lora_rank = recipe_choices().lora_ranks.front();
  if (!lora_targets) return adaptation;
  if (!lora_rank)
    throw InputError({"--lora-targets", "says where adapters are, and there are none", "--lora-rank as well", ""});
  adaptation.lora_targets = choice_of("--lora-targets", *lora_targets, all_lora_targets, lora_targets_from_text);
  return adaptation;
}

std::vector<std::int64_t> QuestionFlags::device_counts() const {
  std::vector<std::int64_t> devices;
  if (!gpus) return devices;
  for (const std::string& part : list_of("--gpus", *gpus))
    devices.push_back(whole_number("--gpus", part, 1, most_devices));
  return devices;
}

StackChoices QuestionFlags::stack_choices() const {
  StackChoices choices;
  const auto fields = stack_choice_fields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (of_stack[i]) choices.*fields[i].word = stack_choice(fields[i], *of_stack[i], fields[i].flag());
  return choices;
}

std::optional<std::int64_t> QuestionFlags::sample_budget() const {
  if (!samples) return std::nullopt;
  if (tokens) throw InputError({"--samples", "says again how long the run is", "--tokens or --samples", ""});
  return whole_number("--samples", *samples, 1, most_tokens);
}

std::optional<Dollars> QuestionFlags::price_per_device_hour() const {
  if (!price) return std::nullopt;
  return Dollars(real_number("--price", *price, 0, most_dollars));
}

QuestionText QuestionFlags::question(QuestionParts parts) const {
  QuestionText text;
  const bool needs_all = parts == QuestionParts::all;
  if (needs_all || model) text.model = required("--model", model, "a name of plan models or a file");
  text.model = onnx::with_dimensions(text.model, dimensions, "--dim");
  if (sequence_length && onnx::is_reference(text.model))
    throw InputError({"--seq-len", "the dimensions of an ONNX graph have names", "--dim NAME=N", ""});
  if (parts != QuestionParts::none || machine)
    text.machine = required("--machine", machine, "a name of plan machines or a file");
  if (gpus && counts == DeviceCounts::one) text.devices = whole_number("--gpus", *gpus, 1, most_devices);
  if (sequence_length)
    text.training.sequence_length = plumbline::sequence_length("--seq-len", *sequence_length, longest_sequence);
  if (needs_all || global_batch)
    text.training.global_batch =
        whole_number("--global-batch", required("--global-batch", global_batch, "sequences of one optimizer step"), 1,
                     largest_global_batch);
  if (tokens) text.training.token_budget = whole_number("--tokens", *tokens, 1, most_tokens);
  text.sample_budget = sample_budget();
  text.price_per_device_hour = price_per_device_hour();
  const RecipeChoices choices = recipe_choices();
  if (precision)
    text.training.precision = choices.precisions.front();
  else if (!text.machine.empty())
    text.training.precision = usual_precision(find_machine(text.machine));
  if (gradient_precision)
    text.training.gradient_format =
        choice_of("--gradient-precision", *gradient_precision, state_formats, state_format_from_text);
  if (optimizer_precision)
    text.training.optimizer_format =
        choice_of("--optimizer-precision", *optimizer_precision, state_formats, state_format_from_text);
  if (optimizer) text.training.optimizer = choices.optimizers.front();
  text.training.adaptation = adaptation();
  if (stack) text.stack = *stack;
  text.choices = stack_choices();
  text.tensor_parallel_across_nodes = tensor_parallel_across_nodes;
  if (headroom) text.headroom = headroom_from_text(*headroom, "--headroom");
  return text;
}

std::string QuestionFlags::given_with_plan() const {
  return first_given(question_options(recipes, counts), *this,
                     [](const OptionWords& words) { return words.said_by != SaidBy::nothing; });
}

std::string QuestionFlags::given_with_import() const {
  return first_given(question_options(recipes, counts), *this,
                     [](const OptionWords& words) { return words.said_by == SaidBy::launch_files; });
}

void QuestionFlags::apply_to_plan(PlanRequest& request) const {
  if (tokens) request.token_budget = whole_number("--tokens", *tokens, 1, most_tokens);
  request.sample_budget = sample_budget();
  request.price_per_device_hour = price_per_device_hour();
  request.stack = stack;
  request.choices = stack_choices();
  request.tensor_parallel_across_nodes = tensor_parallel_across_nodes;
  if (headroom) request.headroom = headroom_from_text(*headroom, "--headroom");
}

}  // namespace plumbline::session
