#include "planner/present/plan_columns.h"

#include <algorithm>
#include <array>

#include "core/plan/strategy_axes.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/sample_words.h"
#include "planner/pricing/trust.h"

namespace plumbline::present {
namespace {

Cell zero_cell(const Plan& plan) {
  const Strategy& s = plan.strategy;
  return {zero_text(s), s.zero_stage};
}

/// The step that ranks, of the simulation where that differs from the closed form, and the closed form's interval.
Cell step_cell(const Plan& plan) {
  const Prediction& p = plan.prediction;
  const double step = p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected;
  const int digits = step >= 10 ? 2 : 3;
  return {fixed(step, digits) + " (" + fixed(p.step_time_s.low, digits - 1) + "-" +
              fixed(p.step_time_s.high, digits - 1) + ")",
          step, Bounds{p.step_time_s.low, p.step_time_s.high}};
}

/// "14x2,3,1": runs of three chunks and more that hold the same are written once.
std::string runs_text(const std::vector<std::int32_t>& layers) {
  constexpr std::size_t shortest_run = 3;
  std::string text;
  for (std::size_t first = 0, last = 0; first < layers.size(); first = last) {
    while (last < layers.size() && layers[last] == layers[first]) ++last;
    const std::size_t run = last - first;
    const std::string count = std::to_string(layers[first]);
    for (std::size_t i = 0; i < (run < shortest_run ? run : 1); ++i) {
      if (!text.empty()) text += ",";
      text += run < shortest_run ? count : std::to_string(run) + "x" + count;
    }
  }
  return text;
}

Cell micro_batch_cell(const Plan& plan) {
  const Strategy& s = plan.strategy;
  return {std::to_string(s.micro_batch) + " x " + std::to_string(s.micro_batches), static_cast<double>(s.micro_batch)};
}

Cell margin_cell(const Plan& plan) {
  Cell cell = gib_cell(plan.verdict.margin);
  if (plan.verdict.near_edge) cell.text += "!";
  return cell;
}

Cell chance_cell(const Plan& plan) {
  const double chance = plan.verdict.chance_to_fit;
  std::string text = chance_text(chance);
  std::erase_if(text, [](char c) { return c == ' ' || c == '%'; });
  constexpr double almost_sure = 0.99;  // the column is three characters wide
  if (chance > almost_sure) text = ">99";
  return {std::move(text), 100 * chance};
}

using P = const Plan&;
/// Of a point of the front; the optimizer and adapters are those of the question unless they are no default.
std::string recipe_text(const RankedStrategy& r) {
  std::string text = to_text(r.strategy) + ", " + std::string(to_text(r.precision));
  if (r.strategy.flash_attention == FlashAttention::off) text += ", no FlashAttention";
  if (r.optimizer != Optimizer::adamw) text += ", " + std::string(to_text(r.optimizer));
  if (r.lora_rank > 0) text += ", LoRA of rank " + std::to_string(r.lora_rank);
  return text;
}

constexpr Align right = Align::right;
constexpr Keep always = Keep::always;
constexpr Keep constant = Keep::unless_constant;

std::vector<ColumnOf<Plan>> recipe_choices() {
  return {{{"devices", "GPUs", Unit::number, "GPUs that the plan uses", right, constant},
           [](P p) { return whole(p.machine.devices); },
           nullptr,
           Shown::if_rows_differ},
          {{"precision", "precision", Unit::text, "number formats that it computes in", left, constant},
           [](P p) { return words(to_text(p.training.precision)); },
           nullptr,
           Shown::if_rows_differ},
          {{"optimizer", "optimizer", Unit::text, "what updates the weights", left, constant},
           [](P p) { return words(to_text(p.training.optimizer)); },
           nullptr,
           Shown::if_rows_differ},
          {{"lora_rank", "LoRA", Unit::number, "rank of the adapters", right, constant},
           [](P p) { return whole(p.training.adaptation.lora_rank); },
           nullptr,
           Shown::if_rows_differ}};
}

/// Of an axis whose cell says more than its value, or is aligned in its own way.
struct OwnColumn {
  std::string_view key;
  Unit unit;
  Align align;
  Keep keep;
  Cell (*cell)(const Plan&) = nullptr;  ///< null: the axis' value
  const char* explanation = "";         ///< empty: the axis' meaning
};
constexpr std::array own_columns{OwnColumn{"cp_comm", Unit::text, right, always},
                                 OwnColumn{"micro_batch", Unit::text, right, always, micro_batch_cell,
                                           "sequences (or images) of a micro-batch, and micro-batches of a step"},
                                 OwnColumn{"zero_stage", Unit::text, left, constant, zero_cell,
                                           "ZeRO stage, and ranks that share one copy where not all do"},
                                 OwnColumn{"layers_per_stage", Unit::text, left, always,
                                           [](P p) { return words(runs_text(p.strategy.layers_per_stage)); }}};

Cell axis_cell(const StrategyAxis& axis, const Plan& plan) {
  return axis.kind == AxisKind::number ? whole(axis.get(plan.strategy)) : words(axis.text(plan.strategy));
}

ColumnOf<Plan> axis_column(const StrategyAxis& axis) {
  const bool is_number = axis.kind == AxisKind::number;
  OwnColumn own{axis.key, is_number ? Unit::number : Unit::text, is_number ? right : left,
                is_number ? always : constant};
  for (const OwnColumn& one : own_columns)
    if (one.key == axis.key) own = one;
  const std::string explanation = *own.explanation == '\0' ? axis.meaning : own.explanation;
  ColumnOf<Plan> column{{axis.key, axis.column, own.unit, explanation, own.align, own.keep}, own.cell};
  if (own.cell == nullptr) column.cell = [&axis](P p) { return axis_cell(axis, p); };
  if (axis.in_tables == InTables::where_unusual) column.matters = [&axis](P p) { return !axis.is_usual(p.strategy); };
  if (axis.in_tables == InTables::where_different) column.shown = Shown::if_rows_differ;
  return column;
}

std::vector<ColumnOf<Plan>> figures() {
  return {
      {{"step_time", "step s (interval)", Unit::seconds,
        "step time, simulated where that differs; nine of ten runs lie between", left},
       step_cell},
      {{"images", "img/s/GPU", Unit::samples_per_second, "images per second on each GPU, for networks of images", right,
        always, 1},
       [](P p) { return decimal(p.samples_per_second_per_gpu(), 0); },
       counts_images},
      {{"samples", "smp/s/GPU", Unit::samples_per_second, "samples per second on each GPU, for encoders", right, always,
        1},
       [](P p) { return decimal(p.samples_per_second_per_gpu(), 0); },
       counts_samples},
      {{"throughput", "tok/s/GPU", Unit::tokens_per_second, "tokens per second on each GPU", right, always, 1},
       [](P p) { return decimal(p.prediction.tokens_per_second_per_gpu, 0); },
       counts_tokens},
      {{"mfu", "MFU%", Unit::per_cent, "model FLOPs of the step over what the GPUs could do in its time", right, always,
        2},
       [](P p) { return decimal(100 * p.prediction.mfu, 1); }},
      {{"margin", "GiB left", Unit::gibibytes,
        "memory left on the GPU of the heaviest rank; ! where that is within the uncertainty of the estimate", right},
       margin_cell},
      {{"chance_to_fit", "fit%", Unit::per_cent, "chance that the memory needed is at most the GPU's", right, constant,
        3},
       chance_cell}};
}

void add_equivalent(Table& table, const std::vector<std::int64_t>& equivalent) {
  if (std::all_of(equivalent.begin(), equivalent.end(), [](std::int64_t count) { return count == 0; })) return;
  table.columns.push_back(
      {"alike", "+", Unit::number, "more plans that differ from it by less than repetitions of one run"});
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].push_back(
        equivalent[i] == 0 ? words("") : Cell{"+" + std::to_string(equivalent[i]), static_cast<double>(equivalent[i])});
}

}  // namespace

const std::vector<ColumnOf<Plan>>& plan_columns() {
  static const std::vector<ColumnOf<Plan>> columns = [] {
    std::vector<ColumnOf<Plan>> all = recipe_choices();
    for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::column_place))
      if (!axis->column.empty()) all.push_back(axis_column(*axis));
    const std::vector<ColumnOf<Plan>> more = figures();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return columns;
}

Table plan_table(const std::vector<Plan>& plans, const std::vector<std::int64_t>& equivalent) {
  Table table = table_of(plan_columns(), plans);
  table.columns.insert(table.columns.begin(), {"rank", "#", Unit::number, "place in the ranking, 1 is best"});
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].insert(table.rows[i].begin(), whole(static_cast<std::int64_t>(i) + 1));
  add_equivalent(table, equivalent);
  return table;
}

const std::vector<ColumnOf<RankedStrategy>>& front_columns() {
  using R = const RankedStrategy&;
  static const std::vector<ColumnOf<RankedStrategy>> columns{
      {{"step_time", "step s", Unit::seconds, "step time, simulated where it was"},
       [](R r) { return decimal(to_seconds(r.ranking_step()).value(), 3); }},
      {{"peak_memory", "peak GiB", Unit::gibibytes, "peak memory of the heaviest rank"},
       [](R r) { return gib_cell(r.peak_memory); }},
      {{"devices", "GPUs", Unit::number, "GPUs that the plan uses"}, [](R r) { return whole(r.devices); }},
      {{"strategy", "strategy", Unit::text, "degrees, schedule, sharding, recompute and precision", left},
       [](R r) { return words(recipe_text(r)); }}};
  return columns;
}

Table front_table(const std::vector<RankedStrategy>& front) { return table_of(front_columns(), front); }

}  // namespace plumbline::present
