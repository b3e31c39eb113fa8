#include "planner/explain/changes.h"

#include <algorithm>
#include <optional>

#include "core/plan/strategy_axes.h"
#include "core/program/known_programs.h"
#include "planner/pricing/evaluate.h"

namespace plumbline {
namespace {

/// A strategy and what was changed to get there.
struct Step {
  std::vector<std::string> what;
  Strategy strategy;
};

std::string arrow(std::string_view axis, const std::string& from, const std::string& to) {
  return std::string(axis) + " " + from + " -> " + to;
}
std::string arrow(std::string_view axis, std::int64_t from, std::int64_t to) {
  return arrow(axis, std::to_string(from), std::to_string(to));
}

/// Data parallelism, micro-batches, shard group and schedule as they follow from the degrees; nothing when the numbers
/// do not divide.
std::optional<Strategy> followed(Strategy s, const Strategy& before, const Question& question) {
  const std::int64_t model_ranks = std::int64_t{s.tensor_parallel} * s.pipeline_stages * s.context_parallel;
  if (model_ranks > question.devices() || question.devices() % model_ranks != 0) return std::nullopt;
  s.data_parallel = static_cast<std::int32_t>(question.devices() / model_ranks);
  if (s.micro_batch < 1 || !s.set_batch(question.training().global_batch)) return std::nullopt;
  if (s.gradient_ranks() == 1) s.zero_stage = 0;
  if (s.zero_stage == 0 || !before.is_hybrid()) s.shard_over_all();
  if (s.pipeline_stages == 1) {
    s.schedule = Schedule::none;
    s.virtual_stages = 1;
  } else if (s.schedule == Schedule::none) {
    s.schedule = Schedule::one_f_one_b;
  }
  if (s.tensor_parallel == 1) s.sequence_parallel = SequenceParallel::off;
  if (s.context_parallel == 1) s.context_communication = ContextCommunication::ring;
  if (s.chunks() != before.chunks()) s.layers_per_stage.clear();
  return s;
}

/// Collects the legal steps from one strategy.
class Steps {
 public:
  Steps(const Question& question, const Strategy& from) : question_(question), from_(from) {}

  template <class Edit>
  void add(const std::string& what, const Edit& edit) {
    Strategy edited = from_;
    edit(edited);
    const std::optional<Strategy> s = followed(edited, from_, question_);
    if (!s || *s == from_) return;
    if (first_violation(*s, question_.training(), question_.facts(), question_.limits())) return;
    found_.push_back({{what}, *s});
    if (changes_schedule(*s))
      found_.back().what.push_back(
          arrow("schedule", std::string(to_text(from_.schedule)), std::string(to_text(s->schedule))));
  }
  template <class Number>
  void add_double_and_half(std::string_view axis, Number Strategy::*member) {
    const Number value = from_.*member;
    if (value <= question_.devices() || value <= question_.training().global_batch)
      add(arrow(axis, value, 2 * value), [&](Strategy& s) { s.*member = 2 * value; });
    if (value % 2 == 0) add(arrow(axis, value, value / 2), [&](Strategy& s) { s.*member = value / 2; });
  }
  std::vector<Step> take() { return std::move(found_); }

 private:
  /// A step may need another schedule than the one it comes from. 1f1b with virtual stages is interleaved, and one
  /// stage has no schedule: that goes without saying.
  [[nodiscard]] bool changes_schedule(const Strategy& to) const {
    const auto family = [](Schedule s) { return s == Schedule::interleaved ? Schedule::one_f_one_b : s; };
    return from_.schedule != Schedule::none && to.schedule != Schedule::none &&
           family(from_.schedule) != family(to.schedule);
  }
  const Question& question_;
  const Strategy& from_;
  std::vector<Step> found_;
};

std::vector<Recompute> recompute_neighbours(Recompute now) {
  constexpr Recompute none{RecomputeMode::none, 1};
  constexpr Recompute selective{RecomputeMode::selective, 1};
  constexpr Recompute full{RecomputeMode::full, 1};
  constexpr Recompute placed{RecomputeMode::placed, 1};
  switch (now.mode) {
    case RecomputeMode::none: return {selective, placed, full};
    case RecomputeMode::selective: return {none, placed, full};
    case RecomputeMode::every_nth:
    case RecomputeMode::uniform:
    case RecomputeMode::block:
    case RecomputeMode::square_root:
    case RecomputeMode::modules:
    case RecomputeMode::offloaded:
    case RecomputeMode::by_operator: return {none, selective, placed, full};
    case RecomputeMode::full: return {none, selective, placed};
    case RecomputeMode::placed: return {none, selective, full};
  }
  return {};
}

void add_virtual_stages(Steps& steps, const Strategy& s) {
  if (s.pipeline_stages == 1) return;
  const std::int32_t doubled = 2 * s.virtual_stages;
  steps.add(arrow("virtual stages", s.virtual_stages, doubled), [&](Strategy& t) {
    t.virtual_stages = doubled;
    t.schedule = Schedule::interleaved;
  });
  if (s.virtual_stages == 1) return;
  const std::int32_t halved = s.virtual_stages % 2 == 0 ? s.virtual_stages / 2 : 1;
  steps.add(arrow("virtual stages", s.virtual_stages, halved), [&](Strategy& t) {
    t.virtual_stages = halved;
    if (halved == 1) t.schedule = Schedule::one_f_one_b;
  });
}

void add_zero(Steps& steps, const Strategy& s) {
  for (const std::int32_t stage : {s.zero_stage + 1, s.zero_stage - 1})
    if (stage >= 0 && stage <= 3)
      steps.add(arrow("ZeRO", s.zero_stage, stage), [&](Strategy& t) {
        t.zero_stage = stage;
        reset_details("--zero", t);
      });
  const auto is_looked_at = [&](const StrategyAxis& axis) {
    return axis.means_something(s) && (axis.considered == Considered::always || !axis.is_usual(s));
  };
  for (const StrategyAxis* axis : details_of("--zero"))
    if (is_looked_at(*axis))
      for (const std::int64_t value : axis->neighbours(s)) {
        Strategy to = s;
        axis->set(to, value);
        steps.add(arrow(axis->change, axis->text(s), axis->text(to)), [&](Strategy& t) { axis->set(t, value); });
      }
}

/// All-to-all is looked at where it is asked for, as in a search.
void add_context_communication(Steps& steps, const Strategy& s) {
  if (!s.exchanges_heads()) return;
  steps.add(arrow("context communication", std::string(to_text(s.context_communication)),
                  std::string(to_text(ContextCommunication::ring))),
            [&](Strategy& t) { t.context_communication = ContextCommunication::ring; });
}

void add_sequence_parallel(Steps& steps, const Strategy& s) {
  const bool on = s.sequence_parallel == SequenceParallel::on;
  if (s.tensor_parallel == 1) return;
  steps.add(arrow("sequence parallelism", on ? "on" : "off", on ? "off" : "on"),
            [&](Strategy& t) { t.sequence_parallel = on ? SequenceParallel::off : SequenceParallel::on; });
}

std::vector<Step> steps_from(const Question& question, const Strategy& s) {
  Steps steps(question, s);
  steps.add_double_and_half("tp", &Strategy::tensor_parallel);
  steps.add_double_and_half("pp", &Strategy::pipeline_stages);
  add_virtual_stages(steps, s);
  steps.add_double_and_half("cp", &Strategy::context_parallel);
  add_context_communication(steps, s);
  if (!question.facts().experts.empty()) steps.add_double_and_half("ep", &Strategy::expert_parallel);
  add_zero(steps, s);
  add_sequence_parallel(steps, s);
  steps.add_double_and_half("micro-batch", &Strategy::micro_batch);
  for (const Recompute choice : recompute_neighbours(s.recompute))
    steps.add(arrow("recompute", to_text(s.recompute), to_text(choice)), [&](Strategy& t) { t.recompute = choice; });
  return steps.take();
}

}  // namespace

std::string to_text(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += (text.empty() ? "" : ", ") + step;
  return text;
}

bool takes_part_of(const Change& shorter, const Change& longer) {
  return shorter.steps.size() < longer.steps.size() &&
         std::all_of(shorter.steps.begin(), shorter.steps.end(), [&](const std::string& step) {
           return std::find(longer.steps.begin(), longer.steps.end(), step) != longer.steps.end();
         });
}

std::vector<Change> single_steps(const Question& question, const Strategy& strategy, const Task& task) {
  std::vector<Change> changes;
  const std::vector<Step> steps = steps_from(question, strategy);
  KnownPrograms known;
  for (std::size_t i = 0; i < steps.size() && !task.is_stopped(); ++i) {
    Plan plan = evaluate(question, steps[i].strategy, &known);
    if (is_priceable(plan)) changes.push_back({steps[i].what, steps[i].strategy, std::move(plan)});
    task.report({.phase = "changes", .done = static_cast<std::int64_t>(i) + 1, .total = std::ssize(steps)});
  }
  return changes;
}

}  // namespace plumbline
