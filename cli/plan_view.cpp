#include "cli/plan_view.h"

#include <algorithm>
#include <cmath>

#include "cli/table.h"
#include "core/cost/residuals.h"
#include "core/quantity/text.h"
#include "core/training/adaptation_text.h"

namespace plumbline {
namespace {

constexpr double bytes_per_gib = 1024. * 1024. * 1024.;
constexpr double bytes_per_mib = 1024. * 1024.;

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

void add_total_rows(Table& table, const Prediction& p, const std::vector<std::size_t>& stages) {
  const auto row = [&](const std::string& name, auto total) {
    std::vector<std::string> cells{name};
    for (const std::size_t stage : stages) cells.push_back(gib_text(total(p.stage_memory[stage]), 2));
    table.add_row(std::move(cells));
  };
  row("= live (allocated)", [](const MemoryBreakdown& m) { return m.live(); });
  row("= reserved", [](const MemoryBreakdown& m) { return m.reserved(); });
  row("= device total", [](const MemoryBreakdown& m) { return m.device_total(); });
}

std::int64_t layers_of(const StageLayoutEntry& stage) {
  std::int64_t count = 0;
  for (const std::vector<std::int64_t>& range : stage.layers)
    if (!range.empty()) count += range[1] - range[0] + 1;
  return count;
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

std::string bar(double fraction, std::size_t width) {
  return std::string(static_cast<std::size_t>(std::lround(std::clamp(fraction, 0., 1.) * static_cast<double>(width))),
                     '#');
}

std::string run_text(const RunCost& run) {
  std::string text =
      "run          " + fixed(run.days, 1) + " days, " + grouped(std::llround(run.gpu_hours)) + " GPU-hours";
  if (run.dollars.value() > 0) text += ", " + dollars_text(run.dollars.value());
  return text + ", " + grouped(std::llround(run.energy_kwh)) + " kWh\n";
}

}  // namespace

std::string words_of(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string gib_text(Bytes amount, int digits) {
  return fixed(static_cast<double>(amount.value()) / bytes_per_gib, digits);
}

std::string per_cent_text(double fraction, int digits) { return fixed(100 * fraction, digits) + " %"; }

std::string interval_text(const Interval& seconds) {
  const int digits = seconds.expected >= 10 ? 2 : 3;
  return fixed(seconds.expected, digits) + " s (" + fixed(seconds.low, digits) + " to " + fixed(seconds.high, digits) +
         ")";
}

std::string difference_text(double now, double before) {
  const double difference = before == 0 ? 0 : now / before - 1;
  return (difference < 0 ? "" : "+") + per_cent_text(difference);
}

std::string dollars_text(double dollars) { return "$" + grouped(std::llround(dollars)); }

std::string question_text(const Plan& plan) {
  const Training& t = plan.training;
  std::string text = plan.model.name + " (" + count_text(plan.model.parameters) + " parameters";
  if (plan.model.active_parameters != plan.model.parameters)
    text += ", " + count_text(plan.model.active_parameters) + " active";
  if (plan.model.trained_parameters != plan.model.parameters)
    text += ", " + count_text(plan.model.trained_parameters) + " trained";
  text += ") on " + std::to_string(plan.machine.devices) + " x " + plan.machine.device + " (" + plan.machine.name +
          "), sequence " + std::to_string(t.sequence_length) + ", global batch " + std::to_string(t.global_batch);
  if (t.token_budget) text += ", " + count_text(*t.token_budget) + " tokens";
  if (const std::string frozen = freeze_text(t.adaptation); !frozen.empty()) text += ", frozen " + frozen;
  if (t.adaptation.lora_rank > 0) text += ", LoRA rank " + std::to_string(t.adaptation.lora_rank);
  return wrapped(text, terminal_columns, 2) + "\n";
}

std::string strategy_text(const Strategy& strategy, const Training& training) {
  std::string text = to_text(strategy) + ", " + std::string(to_text(training.precision));
  if (training.gradient_format) text += " with " + std::string(to_text(*training.gradient_format)) + " gradients";
  text += ", " + std::string(to_text(training.optimizer));
  if (training.optimizer_format) text += " with " + std::string(to_text(*training.optimizer_format)) + " moments";
  if (strategy.flash_attention == FlashAttention::off) text += ", no FlashAttention";
  return wrapped(text, terminal_columns, 2) + "\n";
}

std::string waterfall_text(const Prediction& prediction) {
  constexpr std::size_t bar_width = 40;
  const double total = to_seconds(prediction.time.total()).value();
  Table table({{"where the step goes", Align::left}, {"seconds"}, {"share"}, {"", Align::left}});
  double before = 0;
  for (std::size_t i = 0; i < time_cause_count; ++i) {
    const auto cause = static_cast<TimeCause>(i);
    const double seconds = to_seconds(prediction.time[cause]).value();
    if (prediction.time[cause] == Picoseconds(0)) continue;
    const double share = total > 0 ? seconds / total : 0;
    const std::string offset(bar(before, bar_width).size(), ' ');
    table.add_row({words_of(to_text(cause)), fixed(seconds, 4), per_cent_text(share), offset + bar(share, bar_width)});
    before += share;
  }
  table.add_row({"= step", fixed(total, 4), per_cent_text(1), ""});
  return table.text(terminal_columns);
}

std::string memory_text(const Plan& plan) {
  const Prediction& p = plan.prediction;
  const std::vector<std::size_t> stages = shown_stages(p);
  std::vector<Column> columns{{"GiB on a rank of stage", Align::left}};
  for (const std::size_t stage : stages)
    columns.push_back({std::to_string(stage) + (static_cast<std::int32_t>(stage) == p.heaviest_stage ? "*" : "")});
  Table table(columns);
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    std::vector<std::string> cells{words_of(to_text(static_cast<MemoryClass>(c)))};
    bool any = false;
    for (const std::size_t stage : stages) {
      any = any || p.stage_memory[stage].by_class[c] != Bytes(0);
      cells.push_back(gib_text(p.stage_memory[stage].by_class[c], 2));
    }
    if (any) table.add_row(std::move(cells));
  }
  add_total_rows(table, p, stages);
  std::string text = table.text(terminal_columns);
  const Interval& peak = p.peak_memory_interval_bytes;
  text += "peak memory " + fixed(peak.expected / bytes_per_gib, 2) + " GiB (" + fixed(peak.low / bytes_per_gib, 2) +
          " to " + fixed(peak.high / bytes_per_gib, 2) + ")\n";
  if (stages.size() < p.stage_memory.size())
    text += "* the heaviest stage; of " + std::to_string(p.stage_memory.size()) +
            " stages the heaviest, the first and the last are shown\n";
  else if (p.stage_memory.size() > 1)
    text += "* the heaviest stage\n";
  return text;
}

std::string replay_text(const Plan& plan) {
  const Strategy& s = plan.strategy;
  const bool is_placed = s.recompute.mode == RecomputeMode::placed;
  if (!is_placed && s.split == StageSplit::even && s.layers_per_stage.empty()) return "";
  Table table({{"stage"}, {"layers"}, {"of them", Align::right}, {"replay", Align::left}, {"ms"}, {"keep MiB"}});
  for (const StageLayoutEntry& stage : plan.layout.stages) {
    std::string name = std::to_string(stage.stage);
    std::string layers = std::to_string(layers_of(stage));
    for (const ReplayRow& row : replay_rows(stage)) {
      table.add_row({name, layers, std::to_string(row.layers), row.what,
                     fixed(to_seconds(row.run->replay).value() * 1e3, 3),
                     fixed(static_cast<double>(row.run->kept.value()) / bytes_per_mib, 1)});
      name = layers = "";
    }
  }
  return table.text(terminal_columns) + "ms of replay and MiB kept: of one layer for one micro-batch\n";
}

std::string trust_text(const Plan& plan) {
  const Trust& trust = plan.provenance.trust;
  std::string text;
  for (const std::string& one : trust.beyond) text += (text.empty() ? "" : "; ") + one;
  if (!text.empty()) text = (trust.is_far ? "far from anything measured: " : "outside of what was measured: ") + text;
  if (trust.regime != to_text(CalibrationRegime::calibrated))
    text = std::string(trust.regime == to_text(CalibrationRegime::few_rows) ? "few runs" : "no run") +
           " of this device or stack measured" + (text.empty() ? "" : "; ") + text;
  return text.empty() ? "" : "trust        " + wrapped(text, terminal_columns, 13, 13) + "\n";
}

std::string throughput_text(const Plan& plan) {
  const Prediction& p = plan.prediction;
  std::string text = "step         " + interval_text(p.step_time_s) + "\n" + trust_text(plan);
  text += "throughput   " + fixed(p.tokens_per_second_per_gpu, 1) + " tokens/s/GPU, MFU " + per_cent_text(p.mfu) +
          ", HFU " + per_cent_text(p.hfu) + ", pipeline bubble " + per_cent_text(p.bubble_fraction) + "\n";
  if (plan.training.token_budget) text += run_text(plan.run);
  return text;
}

std::string verdict_text(const Plan& plan, const Terminal& terminal) {
  const Verdict& v = plan.verdict;
  const std::string word = !v.fits ? "does not fit" : v.near_edge ? "fits, near the edge" : "fits";
  const Colour colour = !v.fits ? Colour::red : v.near_edge ? Colour::yellow : Colour::green;
  return terminal.painted(word, colour) + ": " + wrapped(v.reason, terminal_columns, 2, word.size() + 2) + "\n";
}

std::string changes_text(const Plan& from, const std::vector<Change>& changes) {
  Table table({{"change", Align::left}, {"step s"}, {"against"}, {"peak GiB"}, {"left"}, {"fits", Align::left}});
  const double before = from.prediction.step_time_s.expected;
  table.add_row({"(as it is)", fixed(before, 3), "", gib_text(from.prediction.peak_memory),
                 gib_text(from.verdict.margin), from.verdict.fits ? "yes" : "no"});
  for (const Change& change : changes) {
    const Plan& plan = change.plan;
    table.add_row({to_text(change.steps), fixed(plan.prediction.step_time_s.expected, 3),
                   difference_text(plan.prediction.step_time_s.expected, before), gib_text(plan.prediction.peak_memory),
                   gib_text(plan.verdict.margin),
                   plan.verdict.near_edge ? "yes, near the edge"
                   : plan.verdict.fits    ? "yes"
                                          : "no"});
  }
  return table.text(terminal_columns);
}

}  // namespace plumbline
