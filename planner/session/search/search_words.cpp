#include "planner/session/search/search_words.h"

#include <algorithm>

#include "core/base/joined.h"
#include "core/plan/legality.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_words.h"
#include "planner/question/noise.h"
#include "planner/search/complexity.h"

namespace plumbline::present {
namespace {

std::string sentence_of(const std::string& id) {
  for (const LegalityRule& rule : legality_rules())
    if (rule.id == id) return std::string(rule.sentence);
  return "";
}

/// What an objective makes small.
struct Figure {
  std::string_view words;
  double (*value)(const Plan& plan);
};

double step_of(const Plan& plan) {
  const Prediction& p = plan.prediction;
  return p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected;
}
double gpu_seconds_of(const Plan& plan) { return step_of(plan) * static_cast<double>(plan.machine.devices); }
double devices_of(const Plan& plan) { return static_cast<double>(plan.machine.devices); }
double memory_of(const Plan& plan) { return static_cast<double>(plan.prediction.peak_memory.value()); }

Figure figure_of(Objective objective) {
  switch (objective) {
    case Objective::step_time: return {"step time", step_of};
    case Objective::tokens_per_dollar: return {"GPU-seconds of a step", gpu_seconds_of};
    case Objective::fewest_gpus: return {"GPUs", devices_of};
    case Objective::least_memory: return {"peak memory", memory_of};
  }
  return {"step time", step_of};
}

}  // namespace

std::string progress_words(const TaskProgress& progress) {
  std::string words = std::string(progress.phase) + " " + grouped(progress.done) + " of " + grouped(progress.total);
  if (progress.best_step_time_s > 0) words += ", best step " + to_text(Seconds(progress.best_step_time_s));
  return words;
}

std::string audit_words(const SearchAudit& audit) {
  std::int64_t illegal = 0;
  for (const auto& [rule, count] : audit.illegal) illegal += count;
  std::string text = "considered " + grouped(audit.total) + " = " + grouped(illegal) + " illegal + " +
                     grouped(audit.memory) + " beyond memory + " + grouped(audit.bound) + " bounded away + " +
                     grouped(audit.dominated) + " dominated + " + grouped(audit.infeasible) + " infeasible + " +
                     grouped(audit.solved) + " priced";
  if (audit.unvisited > 0) text += " + " + grouped(audit.unvisited) + " not looked at";
  return text;
}

std::string refinement_words(const SearchAudit& audit) {
  if (audit.refined == 0) return "";
  return grouped(audit.refined) +
         " more priced around the best of them: virtual stages, micro-batches, shard groups, "
         "divided experts and recomputed modules between these";
}

std::string quality_words(const RecipeChoices& recipes) {
  std::string choices;
  const auto add = [&](std::size_t count, std::string_view name) {
    if (count > 1) choices += (choices.empty() ? "" : ", ") + std::string(name);
  };
  add(recipes.precisions.size(), "precision");
  add(recipes.optimizers.size(), "optimizer");
  add(recipes.lora_ranks.size(), "LoRA rank");
  if (choices.empty()) return "";
  return "Plans differ in " + choices +
         ", which changes what a model learns in so many steps, and not only how long they take; only the time is "
         "compared here.";
}

std::vector<std::string> recipe_words(const session::SearchAnswer& answer) {
  const RecipeChoices& recipes = answer.request.recipes;
  std::string searched;
  const auto add = [&](const char* name, const auto& values, const auto& text) {
    if (values.size() < 2) return;
    searched += (searched.empty() ? "Searched: " : "; ") + std::string(name);
    for (const auto& value : values) searched += (&value == &values.front() ? " " : ", ") + std::string(text(value));
  };
  const auto named = [](auto value) { return to_text(value); };
  add("precision", recipes.precisions, named);
  add("optimizer", recipes.optimizers, named);
  add("LoRA rank", recipes.lora_ranks, [](std::int64_t rank) { return std::to_string(rank); });
  if (searched.empty()) return {};
  std::vector<std::string> all{searched + "."};
  const Figure figure = figure_of(answer.request.objective);
  for (const Plan& plan : answer.best_of_others) {
    const std::int64_t rank = plan.training.adaptation.lora_rank;
    all.push_back("Best with " + strategy_words(plan.strategy, plan.training) +
                  (recipes.lora_ranks.size() > 1 ? ", LoRA rank " + std::to_string(rank) : std::string()) + ": " +
                  std::string(figure.words) + " " +
                  difference_text(figure.value(plan), figure.value(answer.plans.front())) + ".");
  }
  return all;
}

std::vector<std::string> rejections(const SearchAudit& audit) {
  std::vector<std::string> all;
  for (const auto& [rule, count] : audit.illegal) all.push_back(rule + " " + grouped(count) + ": " + sentence_of(rule));
  return all;
}

std::string framework_words(const session::FrameworkChoice& choice) {
  if (!choice.lifted.empty()) return "for any framework: " + choice.lifted;
  if (choice.framework == Framework::any) return "for any framework";
  const std::string name(record_of(choice.framework).title);
  return "for " + name + (choice.is_asked_for ? "" : ": " + choice.why + " (--for any lifts its limits)");
}

std::string next_stack_words(const std::optional<session::NextStack>& next) {
  if (!next) return "";
  return "stack " + next->stack + (next->was_measured ? ", measured next nearest," : ", without a measured run,") +
         " says step time " + difference_text(next->step_ratio, 1) + (next->fits ? "" : ", and that it does not fit");
}

std::string limits_words(const session::SearchAnswer& answer) {
  if (answer.framework.framework == Framework::any || answer.plans.empty()) return "";
  const std::string name(record_of(answer.framework.framework).title);
  if (!answer.without_limits)
    return answer.result.complete ? "Interrupted: what the limits of " + name + " cost is not known." : "";
  const session::WithoutLimits& other = *answer.without_limits;
  const Plan& best = answer.plans.front();
  const Figure figure = figure_of(answer.request.objective);
  const bool is_surer = other.plan && best.verdict.near_edge && !other.plan->verdict.near_edge;
  const bool is_better = other.plan && figure.value(*other.plan) < figure.value(best);
  if (other.inexpressible.empty() || !(is_surer || is_better))
    return "Without the limits of " + name + " the search finds nothing better.";
  std::string text = "Any framework (--for any): " + std::string(figure.words) + " " +
                     difference_text(figure.value(*other.plan), figure.value(best)) +
                     (is_surer ? ", surely fitting," : "") + " with " + to_text(other.plan->strategy);
  for (const std::string& sentence : other.inexpressible) text += "; " + sentence;
  return text + ".";
}

namespace {

/// What of the first plan nobody published, and what the first plan without such a choice takes.
std::string unusual_words(const session::SearchAnswer& answer) {
  const std::vector<std::string> choices = unusual_choices(answer.plans.front());
  if (choices.empty()) return "";
  std::string text = " Unusual in #1: " + joined(choices, " and ");
  const auto usual = std::find_if(answer.plans.begin(), answer.plans.end(),
                                  [](const Plan& plan) { return unusual_choices(plan).empty(); });
  if (usual == answer.plans.end()) return text + ", as in all of these.";
  return text + "; without, #" + std::to_string(usual - answer.plans.begin() + 1) + " takes " +
         difference_text(step_of(*usual), step_of(answer.plans.front())) + ".";
}

/// Where the first plan is not the fastest of them (lead_with_simplest).
std::string order_words(const session::SearchAnswer& answer) {
  const auto is_faster = [&](const Plan& plan) { return step_of(plan) < step_of(answer.plans.front()); };
  if (answer.ties.tied < 2 || std::none_of(answer.plans.begin(), answer.plans.end(), is_faster)) return "";
  return " Of those within " + per_cent_text(repeated_run_noise) + " of the fastest the simplest comes first.";
}

}  // namespace

std::string tie_words(const session::SearchAnswer& answer) {
  const Ties& ties = answer.ties;
  if (answer.plans.size() < 2 || ties.noise <= 0) return "";
  const std::string noise = "the model's noise (" + per_cent_text(ties.noise) + ")";
  const std::string regret =
      " Following #1 is expected to cost up to " + per_cent_text(ties.regret) + " over the best of these.";
  if (ties.tied < 2) return "#1 leads by more than " + noise + "." + regret + unusual_words(answer);
  return "#1 to #" + std::to_string(ties.tied) + " are within " + noise + "; simplest: #" +
         std::to_string(ties.simplest + 1) +
         (ties.simplest_like ? " as " + to_text(*ties.simplest_like) : std::string()) + "." + order_words(answer) +
         regret + unusual_words(answer);
}

}  // namespace plumbline::present
