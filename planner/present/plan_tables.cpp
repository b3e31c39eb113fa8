#include "planner/present/plan_tables.h"

#include <algorithm>
#include <cmath>

#include "core/plan/rank_map.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

using Cells = std::vector<Cell>;

std::int64_t layers_of(const StageLayoutEntry& stage) {
  std::int64_t count = 0;
  for (const std::vector<std::int64_t>& range : stage.layers)
    if (!range.empty()) count += range[1] - range[0] + 1;
  return count;
}

/// Three significant digits.
std::string significant(double value) {
  const int digits = value == 0 ? 0 : 2 - static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return fixed(value, std::clamp(digits, 0, 9));
}

/// Layers of a stage that replay the same, in the order in which they come up.
struct ReplayRow {
  const RecomputeRun* run;
  std::int64_t layers;
  std::string what;
};
std::vector<ReplayRow> replay_rows(const StageLayoutEntry& stage) {
  std::vector<ReplayRow> rows;
  for (const RecomputeRun& run : stage.recompute) {
    const std::int64_t layers = run.last_layer - run.first_layer + 1;
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const ReplayRow& row) {
      return row.run->replayed == run.replayed && row.run->kept == run.kept;
    });
    if (same != rows.end()) {
      same->layers += layers;
      continue;
    }
    std::string what;
    for (const std::string& op : run.replayed) what += (what.empty() ? "" : " ") + op;
    rows.push_back({&run, layers, what.empty() ? "nothing" : what});
  }
  return rows;
}

Cell effect_cell(double change) {
  constexpr double shown_from = 0.0005;  // what rounds to 0.0 % is left out
  if (std::fabs(change) < shown_from) return {"", 100 * change};
  return {(change > 0 ? "+" : "") + fixed(100 * change, 1) + " %", 100 * change};
}

Cells change_row(Cell what, Cell against, const Plan& plan, Cell fits) {
  return {std::move(what),
          decimal(plan.prediction.step_time_s.expected, 3),
          std::move(against),
          gib_cell(plan.prediction.peak_memory),
          gib_cell(plan.verdict.margin),
          std::move(fits)};
}

}  // namespace

Table time_table(const TimeBreakdown& time) {
  Table table{
      {{"cause", "where the step goes", Unit::text, "what the busiest pipeline rank spends time on", Align::left},
       {"seconds", "seconds", Unit::seconds, "seconds of a step"},
       {"share", "share", Unit::per_cent, "share of the step"}},
      {}};
  const double total = to_seconds(time.total()).value();
  for (std::size_t i = 0; i < time_cause_count; ++i) {
    const auto cause = static_cast<TimeCause>(i);
    if (time[cause] == Picoseconds(0)) continue;
    const double seconds = to_seconds(time[cause]).value();
    table.rows.push_back(
        {words(words_of(to_text(cause))), decimal(seconds, 4), per_cent_cell(total > 0 ? seconds / total : 0)});
  }
  table.rows.push_back({words("= step"), decimal(total, 4), per_cent_cell(1)});
  return table;
}

std::vector<std::size_t> shown_stages(const Prediction& prediction) {
  constexpr std::size_t most_shown = 6;
  const std::size_t stages = prediction.stage_memory.size();
  std::vector<std::size_t> shown;
  for (std::size_t stage = 0; stage < stages; ++stage)
    if (stages <= most_shown || stage == 0 || stage + 1 == stages ||
        stage == static_cast<std::size_t>(prediction.heaviest_stage))
      shown.push_back(stage);
  return shown;
}

Table memory_table(const Prediction& p, const std::vector<std::size_t>& stages) {
  Table table{{{"class", "GiB on a rank of stage", Unit::text, "what the memory is used for at its peak", Align::left}},
              {}};
  for (const std::size_t stage : stages) {
    const std::string star = static_cast<std::int32_t>(stage) == p.heaviest_stage ? "*" : "";
    table.columns.push_back(
        {"stage_" + std::to_string(stage), std::to_string(stage) + star, Unit::gibibytes,
         "memory of one rank of pipeline stage " + std::to_string(stage) + (star.empty() ? "" : ", the heaviest")});
  }
  const auto add = [&](const std::string& name, const auto& bytes_of) {
    Cells row{words(name)};
    for (const std::size_t stage : stages) row.push_back(gib_cell(bytes_of(p.stage_memory[stage]), 2));
    table.rows.push_back(std::move(row));
  };
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    const auto holds = [&](std::size_t stage) { return p.stage_memory[stage].by_class[c] != Bytes(0); };
    if (std::any_of(stages.begin(), stages.end(), holds))
      add(words_of(to_text(static_cast<MemoryClass>(c))), [&](const MemoryBreakdown& m) { return m.by_class[c]; });
  }
  add("= live (allocated)", [](const MemoryBreakdown& m) { return m.live(); });
  add("= reserved", [](const MemoryBreakdown& m) { return m.reserved(); });
  add("= device total", [](const MemoryBreakdown& m) { return m.device_total(); });
  return table;
}

Table replay_table(const Layout& layout) {
  Table table{{{"stage", "stage", Unit::number, "pipeline stage"},
               {"layers", "layers", Unit::number, "layers that it holds"},
               {"of_them", "of them", Unit::number, "layers that replay alike", Align::right},
               {"replay", "replay", Unit::text, "operators that the backward pass computes again", Align::left},
               {"replay_time", "ms", Unit::milliseconds, "replay of one layer for one micro-batch"},
               {"kept", "keep MiB", Unit::mebibytes, "kept by one layer for one micro-batch"}},
              {}};
  for (const StageLayoutEntry& stage : layout.stages) {
    Cell name = whole(stage.stage);
    Cell layers = whole(layers_of(stage));
    for (const ReplayRow& row : replay_rows(stage)) {
      table.rows.push_back({name, layers, whole(row.layers), words(row.what),
                            decimal(to_seconds(row.run->replay).value() * 1e3, 3),
                            decimal(static_cast<double>(row.run->kept.value()) / bytes_per_mib, 1)});
      name.text = layers.text = "";  // said in the stage's first row
    }
  }
  return table;
}

Table change_table(const Plan& from, const std::vector<Change>& changes) {
  Table table{{{"change", "change", Unit::text, "what is changed of the plan", Align::left},
               {"step_time", "step s", Unit::seconds, "step time by closed form"},
               {"against", "against", Unit::per_cent, "step time against the plan as it is"},
               {"peak_memory", "peak GiB", Unit::gibibytes, "peak memory of the heaviest rank"},
               {"margin", "left", Unit::gibibytes, "memory left on that GPU"},
               {"fits", "fits", Unit::text, "whether it fits", Align::left}},
              {}};
  table.rows.push_back(change_row(words("(as it is)"), {"", 0.0}, from, words(from.verdict.fits ? "yes" : "no")));
  for (const Change& change : changes) {
    const Plan& plan = change.plan;
    const char* fits = plan.verdict.near_edge ? "yes, near the edge" : plan.verdict.fits ? "yes" : "no";
    table.rows.push_back(
        change_row(words(to_text(change.steps)),
                   difference_cell(plan.prediction.step_time_s.expected, from.prediction.step_time_s.expected), plan,
                   words(fits)));
  }
  return table;
}

Table assumed_table(const std::vector<Sensitivity>& assumed) {
  using S = const Sensitivity&;
  static const std::vector<ColumnOf<Sensitivity>> columns{
      {{"number", "number", Unit::text, "a number that nobody measured", Align::left},
       [](S s) { return words(s.number.name); }},
      {{"value", "value", Unit::text, "what is assumed"}, [](S s) { return words(significant(s.number.value)); }},
      {{"sigma", "+1 sd", Unit::per_cent, "one standard deviation of it"},
       [](S s) { return effect_cell(s.relative_sigma); }},
      {{"step_time", "step", Unit::per_cent, "change of the step time for one standard deviation more"},
       [](S s) { return effect_cell(s.step_time); }},
      {{"peak_memory", "memory", Unit::per_cent, "change of the peak memory for one standard deviation more"},
       [](S s) { return effect_cell(s.peak_memory); }},
      {{"source", "from", Unit::text, "where the assumption is from", Align::left},
       [](S s) { return words(s.number.source); }}};
  return table_of(columns, assumed);
}

Table rank_table(const Plan& plan) {
  Table table{{{"rank", "rank", Unit::number, "global rank"},
               {"host", "host", Unit::number, "computer that it is on"},
               {"device", "device", Unit::number, "GPU of that computer"}},
              {}};
  for (const GroupLayout& axis : numbering_axes(plan.layout))
    table.columns.push_back({axis.axis, axis.axis, Unit::number, "coordinate on the axis " + axis.axis});
  for (const RankPlace& place : rank_map(plan.layout, plan.machine)) {
    Cells row{whole(place.rank), whole(place.host), whole(place.device)};
    for (const std::int64_t coordinate : place.coordinates) row.push_back(whole(coordinate));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace plumbline::present
