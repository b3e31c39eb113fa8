// Pipelines: stages, chunks, their layers, the schedule and its micro-batches.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/asked_strategy.h"
#include "core/plan/axis_row.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline::axes {
namespace {

bool has_pipeline(const Strategy& s) { return s.pipeline_stages > 1; }

/// 1F1B becomes interleaved with its second virtual stage, and the other way round.
bool is_named_by_virtual_stages(const Strategy& before, const Strategy& after) {
  const auto is_one = [](Schedule s) { return s == Schedule::one_f_one_b || s == Schedule::interleaved; };
  return before.virtual_stages != after.virtual_stages && is_one(before.schedule) && is_one(after.schedule);
}

bool schedule_follows(const Strategy& before, const Strategy& after) {
  const bool is_first = !has_pipeline(before) && has_pipeline(after);
  return !has_pipeline(after) || (is_first && after.schedule == Schedule::one_f_one_b) ||
         is_named_by_virtual_stages(before, after);
}

/// The schedules whose ranks have so many chunks; one stage has none.
Broken schedule_with(const AskedStrategy& a, RankChunks chunks) {
  if ((a.s.pipeline_stages == 1 ? RankChunks::one : record_of(a.s.schedule).chunks) != chunks) return std::nullopt;
  return schedule_fault(a.s.schedule, a.s.pipeline_stages, a.s.virtual_stages, a.s.micro_batches);
}
Broken interleaved_schedules(const AskedStrategy& a) { return schedule_with(a, RankChunks::several); }

Broken v_schedules(const AskedStrategy& a) { return schedule_with(a, RankChunks::two); }

Broken plain_schedules(const AskedStrategy& a) { return schedule_with(a, RankChunks::one); }

/// What speaks against layers that were counted out by hand.
Broken layers_by_hand(const AskedStrategy& a) {
  const std::vector<std::int32_t>& layers = a.s.layers_per_stage;
  const std::string given = "layers " + layers_text(layers);
  if (a.s.split != StageSplit::even) return given + " and a split that finds its own";
  if (static_cast<std::int64_t>(layers.size()) != a.s.chunks())
    return given + ": " + number(static_cast<std::int64_t>(layers.size())) + " numbers for " + number(a.s.chunks()) +
           " chunks";
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool holds_more =
        (i == 0 && a.facts.starts_with_input) || (i + 1 == layers.size() && a.facts.ends_with_output);
    if (layers[i] < (holds_more ? 0 : 1))
      return given + ": chunk " + number(static_cast<std::int64_t>(i)) + " is empty";
    sum += layers[i];
  }
  if (sum != a.facts.layers) return given + " sum to " + number(sum) + ", not " + number(a.facts.layers);
  return std::nullopt;
}

Broken fault_of_split(const AskedStrategy& a) {
  if (!a.s.layers_per_stage.empty()) return layers_by_hand(a);
  if (a.s.split == StageSplit::even || a.s.pipeline_stages == 1) return std::nullopt;
  if (a.s.schedule != Schedule::one_f_one_b || a.s.virtual_stages != 1)
    return "a balanced split with the schedule " + std::string(to_text(a.s.schedule)) + " and " +
           number(a.s.virtual_stages) + (a.s.virtual_stages == 1 ? " virtual stage" : " virtual stages");
  return std::nullopt;
}

std::string split_or_layers(const Strategy& s) {
  return s.layers_per_stage.empty() ? std::string(to_text(s.split)) : layers_text(s.layers_per_stage);
}

}  // namespace

StrategyAxis pipeline_stages_axis() {
  return first_row({.file = 4, .change = 3, .column = 7, .form = 2}, degree_kind<&Strategy::pipeline_stages>(),
                   {.flag = "--pp",
                    .key = "pipeline_stages",
                    .change = "pp",
                    .foreign = {"--pipeline-parallel", "--pipeline-stages", "--pipeline-model-parallel-size",
                                "--pp-size", "--pipeline-parallel-degree", "--pipeline-parallel-size"},
                    .meaning = "pipeline stages",
                    .column = "pp",
                    .caption = "PP"});
}

StrategyAxis virtual_stages_axis() {
  StrategyAxis row = first_row(
      {.file = 5, .change = 5, .column = 10}, degree_kind<&Strategy::virtual_stages>(),
      {.flag = "--virtual-stages",
       .key = "virtual_stages",
       .change = "virtual stages",
       .foreign = {"--vs", "--vpp", "--virtual-pipeline-model-parallel-size", "--num-virtual-stages-per-pipeline-rank"},
       .meaning = "chunks of layers on each pipeline rank",
       .column = "vs"});
  row.in_tables = InTables::where_unusual;
  row.follows = [](const Strategy&, const Strategy& after) { return !has_pipeline(after); };
  return row;
}

StrategyAxis schedule_axis() {
  StrategyAxis row = first_row(
      {.file = 11, .change = 4, .column = 9, .form = 9}, choice_kind<&Strategy::schedule>(all_schedules),
      {.flag = "--schedule",
       .key = "schedule",
       .change = "schedule",
       .help =
           "of the pipeline (1f1b; interleaved with virtual stages); a search takes the first three, others by --fix",
       .foreign = {"--pipeline-schedule", "--pipeline-parallel-schedule"},
       .meaning = "order of the pipeline's forwards and backwards",
       .column = "schedule",
       .caption = "Schedule",
       .in_schema = "of the pipeline"});
  row.values = joined(std::span(row.names).subspan(1), "|");  // not "none"
  row.in_tables = InTables::where_unusual;
  row.applies = has_pipeline;
  row.follows = schedule_follows;
  row.rules = {
      {{"R09", "interleaving needs two virtual stages and micro-batches in multiples of the stages"},
       interleaved_schedules},
      {{"R11", "V-shaped schedules need exactly two virtual stages, and dualpipev a micro-batch for each stage"},
       v_schedules},
      {{"R12", "a pipeline schedule goes with two stages or more, virtual stages with interleaving or a V schedule"},
       plain_schedules}};
  return row;
}

StrategyAxis micro_batch_axis() {
  return first_row({.file = 12, .change = 12, .column = 11, .form = 8},
                   number_kind<&Strategy::micro_batch>(1, largest_global_batch),
                   {.flag = "--micro-batch",
                    .key = "micro_batch",
                    .change = "micro-batch",
                    .help = "sequences of one micro-batch (1)",
                    .foreign = {"--mbs", "--micro-batch-size", "--per-device-train-batch-size",
                                "--train-micro-batch-size-per-gpu", "--local-batch-size", "--micro-bs"},
                    .meaning = "sequences of a micro-batch",
                    .column = "mbs x m",
                    .caption = "Micro-batch",
                    .in_schema = "sequences"});
}

StrategyAxis micro_batches_axis() {
  return first_row(
      {.file = 13}, number_kind<&Strategy::micro_batches>(1, largest_global_batch),
      {.flag = "", .key = "micro_batches", .change = "", .in_schema = "of a data-parallel rank in a step"});
}

StrategyAxis layers_per_stage_axis() {
  StrategyAxis layers;
  layers.kind = AxisKind::layers;
  layers.values = "N,N,...";
  layers.least = 0;
  layers.most = most_layers;
  StrategyAxis row =
      first_row({.file = 16, .column = 18}, std::move(layers),
                {.flag = "--layers-per-stage",
                 .key = "layers_per_stage",
                 .change = "",
                 .help = "layers of each pipeline chunk by hand, a number for each",
                 .foreign = {"--pipeline-model-parallel-layout"},
                 .meaning = "layers of each pipeline chunk, where they are not divided evenly; 3x4: three chunks of 4",
                 .column = "layers",
                 .in_schema = "by hand, one number for each chunk"});
  row.in_files = InFiles::always;
  row.in_tables = InTables::where_unusual;
  return row;
}

StrategyAxis split_axis() {
  StrategyAxis row = first_row({.file = 15, .change = 6, .column = 17}, choice_kind<&Strategy::split>(all_stage_splits),
                               {.flag = "--split",
                                .key = "split",
                                .change = "split",
                                .help = "which layers a pipeline stage holds (even); balanced: the fastest split",
                                .meaning = "how layers are divided over pipeline stages",
                                .column = "split"});
  row.in_files = InFiles::always;
  row.in_tables = InTables::where_unusual;
  row.follows = [](const Strategy& before, const Strategy& after) { return before.chunks() != after.chunks(); };
  row.change_text = split_or_layers;
  row.rules = {
      {{"R19",
        "layers by hand are a number for each pipeline chunk, their sum the network's; a balanced split goes with "
        "1f1b"},
       fault_of_split}};
  return row;
}

}  // namespace plumbline::axes
