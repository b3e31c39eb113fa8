#include "planner/validate/resolve.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "planner/pricing/evaluate.h"
#include "planner/validate/run_network.h"
#include "planner/validate/run_strategy.h"

namespace plumbline {
namespace {

/// What the memory model must leave free before a configuration counts as fitting: 97 % of a device is usable. A run
/// is known to have fitted, so what it needed is taken at the lower end of its interval.
constexpr double usable_fraction = 0.97;

/// Recompute that was not published, from none to full. Frameworks on PyTorch's FSDP know nothing between.
std::vector<Recompute> recompute_candidates(bool sharded) {
  if (sharded) return {{RecomputeMode::none, 1}, {RecomputeMode::full, 1}};
  return {
      {RecomputeMode::none, 1}, {RecomputeMode::every_nth, 4}, {RecomputeMode::every_nth, 2}, {RecomputeMode::full, 1}};
}

Recompute least_that_fits(const Question& question, Strategy strategy) {
  const std::vector<Recompute> candidates = recompute_candidates(strategy.zero_stage == 3);
  for (const Recompute& candidate : candidates) {
    strategy.recompute = candidate;
    const Interval needed = evaluate(question, strategy).prediction.peak_memory_interval_bytes;
    if (needed.low <= usable_fraction * static_cast<double>(question.capacity().value())) return candidate;
  }
  return candidates.back();
}

void require_consistent(const RunFields& fields, const Strategy& strategy) {
  const auto stated = fields.number("dp");
  if (stated && *stated != strategy.data_parallel)
    throw InputError(
        {"dp", std::to_string(*stated) + " contradicts the other degrees", std::to_string(strategy.data_parallel), ""});
}

/// What published words are understood as, or the words themselves.
StackChoices choices_of(const RunFields& fields) {
  StackChoices choices;
  for (const StackChoiceField& field : stack_choice_fields()) {
    const std::string name(field.name);
    const std::string understood = fields.word(name + "_as");
    const std::string said = understood.empty() ? fields.word(name) : understood;
    if (!said.empty()) choices.*field.word = stack_choice(field, said, name);
  }
  return choices;
}

ResolvedRun resolved(const RunQuestion& run, RuledRun ruled) {
  QuestionText text;
  text.model = ruled.fields.word("model");
  text.machine = ruled.fields.word("machine");
  text.stack = ruled.fields.word("stack");
  text.choices = choices_of(ruled.fields);
  text.tensor_parallel_across_nodes = true;
  Network network = network_of(ruled.fields, run.shape, ruled.assumed);
  text.training = training_of(ruled.fields, sample_unit(network.graph));
  Cluster cluster = cluster_of(ruled.fields);
  text.devices = device_count(cluster);
  Question question(text, std::move(network), std::move(cluster));
  Strategy strategy = completed(strategy_of(ruled.fields, question.graph()), question);
  require_consistent(ruled.fields, strategy);
  require_legal(strategy, question);
  if (ruled.fields.word("recompute_as") == "least that fits" || ruled.fields.word("recompute") == "least that fits") {
    strategy.recompute = least_that_fits(question, strategy);
    for (AssumedField& field : ruled.assumed)
      if (field.field.starts_with("recompute")) field.value += ": " + to_text(strategy.recompute);
  }
  return {std::move(ruled.fields), std::move(question), strategy, std::move(ruled.assumed)};
}

}  // namespace

RuledRun RunResolver::ruled(const RunQuestion& run, const RunSet& set) const {
  RunFields fields = with_algebra(run.fields);
  fields.words["id"] = run.id;
  fields.words["rows"] = set.name;
  RuledRun understood = apply(set.rules.meanings, {std::move(fields), {}, ""}, run.unverified);
  for (const RunRuleTable& table : meanings_) understood = apply(table.rules, std::move(understood), run.unverified);
  understood.assumed.clear();  // a spelling that was understood is no assumption
  understood = apply(set.rules.assumptions, std::move(understood), run.unverified);
  return apply(assumptions_.rules, std::move(understood), run.unverified);
}

Resolution RunResolver::resolve(const RunQuestion& run, const RunSet& set) const {
  RuledRun applied = ruled(run, set);
  if (!applied.skip.empty()) return {std::nullopt, applied.skip};
  try {
    return {resolved(run, std::move(applied)), ""};
  } catch (const InputError& error) {
    return {std::nullopt, error.what()};
  }
}

}  // namespace plumbline
