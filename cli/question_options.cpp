#include "cli/question_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>

#include "cli/flag_values.h"
#include "core/training/adaptation_text.h"
#include "core/training/limits.h"
#include "models/calibration_catalog.h"

namespace plumbline {
namespace {

constexpr std::array state_formats{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32};

std::optional<NumberFormat> state_format_from_text(std::string_view text) {
  for (const NumberFormat format : state_formats)
    if (to_text(format) == text) return format;
  return std::nullopt;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerFacts& row : optimizer_table) names.emplace_back(row.name);
  return names;
}

std::string required(std::string_view flag, const std::optional<std::string>& value, std::string expected) {
  if (value) return *value;
  throw InputError({std::string(flag), "is missing", std::move(expected), ""});
}

}  // namespace

void QuestionOptions::declare(CLI::App& app, Recipes recipes, DeviceCounts counts) {
  recipes_ = recipes;
  counts_ = counts;
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* text) {
    return app.add_option(flag, value, text)->group("Question");
  };
  option("--model", model_, "what is trained: a name of plan models, a Hugging Face config.json, or a network file")
      ->type_name("MODEL");
  option("--machine", machine_, "on what: a name of plan machines, or a machine file")->type_name("MACHINE");
  const bool several_counts = counts == DeviceCounts::several;
  option("--gpus", gpus_,
         several_counts ? "numbers of GPUs apart by commas; absent: whole nodes, doubled as long as it helps"
                        : "how many GPUs; absent: all of a machine file, else one node")
      ->type_name(several_counts ? "N,N,..." : "N");
  option("--seq-len", sequence_length_, "tokens of a sequence, 8K for 8192; absent: what the model was made for")
      ->type_name("N");
  option("--global-batch", global_batch_, "sequences (or images) of one optimizer step over all GPUs")->type_name("N");
  option("--tokens", tokens_, "tokens of the whole run, such as 15T: adds days, dollars and energy")->type_name("N");
  option("--samples", samples_, "the same in samples: images, or sequences of --seq-len tokens")->type_name("N");
  option("--price", price_, "dollars of one GPU for an hour, instead of the machine's")->type_name("DOLLARS");
  const bool several_recipes = recipes == Recipes::several;
  option("--precision", precision_,
         several_recipes ? "number formats (bf16); several apart by commas are all searched" : "number formats (bf16)")
      ->type_name(alternatives(names_of(all_precision_recipes)));
  option("--gradient-precision", gradient_precision_,
         "of accumulated and reduced gradients, instead of the precision's")
      ->type_name(alternatives(names_of(state_formats)));
  option("--optimizer-precision", optimizer_precision_, "of the optimizer's moments, instead of the precision's")
      ->type_name(alternatives(names_of(state_formats)));
  option("--optimizer", optimizer_,
         several_recipes ? "what updates the weights (adamw); several apart by commas are all searched"
                         : "what updates the weights (adamw)")
      ->type_name(alternatives(optimizer_names()));
  option("--freeze", freeze_, "what is not trained: embeddings, layers:0-15, or both apart by a comma")
      ->type_name("PARTS");
  option("--lora-rank", lora_rank_,
         several_recipes ? "train adapters of this rank alongside the frozen linears; several apart by commas are all "
                           "searched"
                         : "train adapters of this rank alongside the frozen linears")
      ->type_name(several_recipes ? "N,N,..." : "N");
  option("--stack", stack_, "software stack whose measured overheads apply")->type_name("STACK");
  option("--headroom", headroom_, "memory of every GPU that a plan leaves free, such as 5% or 2GiB (0)")
      ->type_name("SHARE|SIZE");
  app.add_flag("--tp-across-nodes", tensor_parallel_across_nodes_,
               "allow tensor parallelism beyond the fast interconnect")
      ->group("Question");
}

std::vector<std::string> QuestionOptions::values_of(const char* flag, const std::optional<std::string>& text) const {
  if (!text) return {};
  std::vector<std::string> values = list_of(flag, *text);
  if (values.size() > 1 && recipes_ == Recipes::one)
    throw InputError({flag, "several are given", "one here; plan search takes several", ""});
  return values;
}

RecipeChoices QuestionOptions::recipes() const {
  RecipeChoices choices;
  const auto add = [](auto& values, auto value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  for (const std::string& part : values_of("--precision", precision_))
    add(choices.precisions, choice_of("--precision", part, all_precision_recipes, precision_recipe_from_text));
  for (const std::string& part : values_of("--optimizer", optimizer_)) {
    const auto optimizer = optimizer_from_text(part);
    if (!optimizer) refuse_choice("--optimizer", part, optimizer_names());
    add(choices.optimizers, *optimizer);
  }
  for (const std::string& part : values_of("--lora-rank", lora_rank_))
    add(choices.lora_ranks, whole_number("--lora-rank", part, 1, largest_lora_rank));
  return choices;
}

Adaptation QuestionOptions::adaptation() const {
  Adaptation adaptation;
  if (freeze_) freeze_from_text(*freeze_, "--freeze", adaptation);
  if (lora_rank_) adaptation.lora_rank = recipes().lora_ranks.front();
  return adaptation;
}

std::vector<std::int64_t> QuestionOptions::device_counts() const {
  std::vector<std::int64_t> counts;
  if (!gpus_) return counts;
  for (const std::string& part : list_of("--gpus", *gpus_))
    counts.push_back(whole_number("--gpus", part, 1, most_devices));
  return counts;
}

std::optional<std::int64_t> QuestionOptions::sample_budget() const {
  if (!samples_) return std::nullopt;
  if (tokens_) throw InputError({"--samples", "says again how long the run is", "--tokens or --samples", ""});
  return whole_number("--samples", *samples_, 1, most_tokens);
}

std::optional<Dollars> QuestionOptions::price() const {
  if (!price_) return std::nullopt;
  constexpr double most_dollars = 1e5;  // as in machine files
  return Dollars(real_number("--price", *price_, 0, most_dollars));
}

QuestionText QuestionOptions::question(QuestionParts parts) const {
  QuestionText text;
  const bool needs_all = parts == QuestionParts::all;
  if (needs_all || model_) text.model = required("--model", model_, "a name of plan models or a file");
  if (parts != QuestionParts::none || machine_)
    text.machine = required("--machine", machine_, "a name of plan machines or a file");
  if (gpus_ && counts_ == DeviceCounts::one) text.devices = whole_number("--gpus", *gpus_, 1, most_devices);
  if (sequence_length_)
    text.training.sequence_length = sequence_length("--seq-len", *sequence_length_, longest_sequence);
  if (needs_all || global_batch_)
    text.training.global_batch =
        whole_number("--global-batch", required("--global-batch", global_batch_, "sequences of one optimizer step"), 1,
                     largest_global_batch);
  if (tokens_) text.training.token_budget = whole_number("--tokens", *tokens_, 1, most_tokens);
  text.sample_budget = sample_budget();
  text.price_per_device_hour = price();
  const RecipeChoices choices = recipes();
  if (precision_) text.training.precision = choices.precisions.front();
  if (gradient_precision_)
    text.training.gradient_format =
        choice_of("--gradient-precision", *gradient_precision_, state_formats, state_format_from_text);
  if (optimizer_precision_)
    text.training.optimizer_format =
        choice_of("--optimizer-precision", *optimizer_precision_, state_formats, state_format_from_text);
  if (optimizer_) text.training.optimizer = choices.optimizers.front();
  text.training.adaptation = adaptation();
  if (stack_) text.stack = *stack_;
  text.tensor_parallel_across_nodes = tensor_parallel_across_nodes_;
  if (headroom_) text.headroom = headroom_from_text(*headroom_, "--headroom");
  return text;
}

std::string QuestionOptions::given_beside_plan() const {
  const std::array<std::pair<const char*, const std::optional<std::string>*>, 11> flags{
      {{"--model", &model_},
       {"--machine", &machine_},
       {"--gpus", &gpus_},
       {"--seq-len", &sequence_length_},
       {"--global-batch", &global_batch_},
       {"--precision", &precision_},
       {"--gradient-precision", &gradient_precision_},
       {"--optimizer-precision", &optimizer_precision_},
       {"--optimizer", &optimizer_},
       {"--freeze", &freeze_},
       {"--lora-rank", &lora_rank_}}};
  for (const auto& [flag, value] : flags)
    if (*value) return flag;
  return "";
}

std::string QuestionOptions::given_beside_import() const {
  const std::array<std::pair<const char*, const std::optional<std::string>*>, 6> flags{
      {{"--precision", &precision_},
       {"--gradient-precision", &gradient_precision_},
       {"--optimizer-precision", &optimizer_precision_},
       {"--optimizer", &optimizer_},
       {"--freeze", &freeze_},
       {"--lora-rank", &lora_rank_}}};
  for (const auto& [flag, value] : flags)
    if (*value) return flag;
  return "";
}

void QuestionOptions::apply_to_plan(session::PlanRequest& request) const {
  if (tokens_) request.token_budget = whole_number("--tokens", *tokens_, 1, most_tokens);
  request.sample_budget = sample_budget();
  request.price_per_device_hour = price();
  request.stack = stack_;
  request.tensor_parallel_across_nodes = tensor_parallel_across_nodes_;
  if (headroom_) request.headroom = headroom_from_text(*headroom_, "--headroom");
}

}  // namespace plumbline
