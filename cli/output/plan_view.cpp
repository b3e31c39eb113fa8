#include "cli/output/plan_view.h"

#include <algorithm>
#include <cmath>

#include "cli/output/table.h"
#include "planner/present/plan_tables.h"
#include "planner/present/plan_words.h"
#include "planner/session/search/search_words.h"

namespace plumbline {
namespace {

std::string bar(double fraction, std::size_t width) {
  return std::string(static_cast<std::size_t>(std::lround(std::clamp(fraction, 0., 1.) * static_cast<double>(width))),
                     '#');
}

Colour colour_of(present::Fit fit) {
  switch (fit) {
    case present::Fit::no: return Colour::red;
    case present::Fit::near_edge: return Colour::yellow;
    case present::Fit::yes: return Colour::green;
  }
  return Colour::plain;
}

}  // namespace

std::string question_text(const Plan& plan) {
  return wrapped(present::question_words(plan), terminal_columns(), 2) + "\n" +
         wrapped(present::basis_words(plan), terminal_columns(), 2) + "\n";
}

std::string next_stack_text(const std::optional<session::NextStack>& next) {
  const std::string words = present::next_stack_words(next);
  return words.empty() ? "" : wrapped(words, terminal_columns(), 2) + "\n";
}

std::string strategy_text(const Strategy& strategy, const Training& training) {
  return wrapped(present::strategy_words(strategy, training), terminal_columns(), 2) + "\n";
}

std::string placement_text(const Plan& plan) {
  const std::string words = present::placement_words(plan.layout);
  return words.empty() ? "" : wrapped(words, terminal_columns(), 2) + "\n";
}

std::string waterfall_text(const TimeBreakdown& time) {
  constexpr std::size_t most_of_a_bar = 40;
  constexpr std::size_t columns_before = 42;  // of causes, seconds and shares
  const std::size_t bar_width = std::min(most_of_a_bar, terminal_columns() - columns_before);
  present::Table table = present::time_table(time);
  table.columns.push_back({"bar", "", present::Unit::text, "the share, behind those before it", Align::left});
  double before = 0;
  for (std::vector<present::Cell>& row : table.rows) {
    const double share = row.back().number.value_or(0) / 100;
    const bool is_total = &row == &table.rows.back();
    row.push_back({is_total ? "" : std::string(bar(before, bar_width).size(), ' ') + bar(share, bar_width)});
    before += share;
  }
  return text(table);
}

std::string memory_text(const Plan& plan) {
  const Prediction& p = plan.prediction;
  const std::vector<std::size_t> stages = present::shown_stages(p);
  std::string all = text(present::memory_table(p, stages)) + "peak memory " + present::peak_words(p) + "\n";
  if (stages.size() < p.stage_memory.size())
    all += wrapped("* the heaviest stage; of " + std::to_string(p.stage_memory.size()) +
                       " stages the heaviest, the first and the last are shown",
                   terminal_columns(), 2) +
           "\n";
  else if (p.stage_memory.size() > 1)
    all += "* the heaviest stage\n";
  return all;
}

std::string replay_text(const Plan& plan) {
  const Strategy& s = plan.strategy;
  const bool is_placed = s.recompute.mode == RecomputeMode::placed;
  if (!is_placed && s.split == StageSplit::even && s.layers_per_stage.empty()) return "";
  return text(present::replay_table(plan.layout)) +
         wrapped("ms of replay and MiB kept: of one layer for one micro-batch", terminal_columns(), 0) + "\n";
}

std::string trust_text(const Plan& plan) {
  const std::string words = present::trust_words(plan.provenance.trust);
  return words.empty() ? "" : "trust        " + wrapped(words, terminal_columns(), 13, 13) + "\n";
}

std::string throughput_text(const Plan& plan) {
  std::string text = "step         " + interval_text(plan.prediction.step_time_s) + "\n" + trust_text(plan) +
                     "throughput   " + wrapped(present::throughput_words(plan), terminal_columns(), 13, 13) + "\n";
  if (plan.training.token_budget)
    text += "run          " + wrapped(present::run_words(plan.run), terminal_columns(), 13, 13) + "\n";
  return text;
}

std::string verdict_text(const Plan& plan, const Terminal& terminal) {
  const present::Fit fit = present::fit_of(plan.verdict);
  const std::string word(present::fit_words(fit));
  return terminal.painted(word, colour_of(fit)) + ": " +
         wrapped(plan.verdict.reason, terminal_columns(), 2, word.size() + 2) + "\n";
}

std::string changes_text(const Plan& from, const std::vector<Change>& changes) {
  return text(present::change_table(from, changes));
}

}  // namespace plumbline
