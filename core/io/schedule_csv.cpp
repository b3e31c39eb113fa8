#include "core/io/schedule_csv.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/json_file.h"
#include "core/io/schedule_csv_cells.h"
#include "core/program/dry_run.h"

namespace plumbline {
namespace {

using Lines = std::vector<std::vector<CsvAction>>;

PipelineShape shape_of(const Lines& lines, std::string_view source) {
  std::int32_t stages = 0;
  std::int32_t micro_batches = 0;
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    if (lines[rank].empty())
      throw InputError({csv_place(source, rank + 1, 1), "a rank without actions", "0F0,...", ""});
    for (const CsvAction& action : lines[rank]) {
      stages = std::max(stages, action.stage + 1);
      micro_batches = std::max(micro_batches, action.micro_batch + 1);
    }
  }
  const auto ranks = static_cast<std::int64_t>(lines.size());
  if (ranks == 0) throw InputError({std::string(source), "an empty schedule", "one line per rank", ""});
  if (stages % ranks != 0)
    throw InputError({std::string(source), std::to_string(stages) + " stages on " + std::to_string(ranks) + " ranks",
                      "as many stages on each rank", ""});
  return {static_cast<std::int32_t>(ranks), static_cast<std::int32_t>(stages / ranks), micro_batches};
}

std::string counted(std::int64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

/// What lies outside the shape that the file should have.
void require_shape(const Lines& lines, const PipelineShape& shape, std::string_view source) {
  const auto rows = std::ssize(lines);
  if (rows != shape.pipeline_stages)
    throw InputError({csv_place(source, static_cast<std::size_t>(std::max<std::int64_t>(rows, 1)), 1),
                      counted(rows, "row") + " in the file",
                      counted(shape.pipeline_stages, "pipeline rank") + ", a row each", ""});
  for (const std::vector<CsvAction>& line : lines)
    for (const CsvAction& action : line) {
      const std::string place = csv_place(source, action.line, action.column);
      if (action.stage >= shape.stages())
        throw InputError({place, "stage " + std::to_string(action.stage),
                          "below " + std::to_string(shape.stages()) + ", the stages of " +
                              counted(shape.pipeline_stages, "pipeline rank") + " with " +
                              counted(shape.virtual_stages, "virtual stage") + " each",
                          ""});
      if (action.micro_batch >= shape.micro_batches)
        throw InputError({place, "micro-batch " + std::to_string(action.micro_batch),
                          "below " + std::to_string(shape.micro_batches) + ", the micro-batches of a step", ""});
    }
}

/// Before anything is sized by the largest indices: a forward and a backward for each chunk and micro-batch.
void require_enough_actions(const Lines& lines, const PipelineShape& shape, std::string_view source) {
  const std::int64_t needed = std::int64_t{2} * shape.virtual_stages * shape.micro_batches;
  for (std::size_t rank = 0; rank < lines.size(); ++rank)
    if (std::ssize(lines[rank]) < needed)
      throw InputError({csv_place(source, rank + 1, 1), std::to_string(lines[rank].size()) + " actions",
                        "at least " + std::to_string(needed) + " for " + std::to_string(shape.virtual_stages) +
                            " stages and " + std::to_string(shape.micro_batches) + " micro-batches",
                        ""});
}

/// The first action that does not belong to its rank under a placement, if any.
const CsvAction* misplaced(const Lines& lines, std::int32_t ranks, StagePlacement placement) {
  for (std::size_t rank = 0; rank < lines.size(); ++rank)
    for (const CsvAction& action : lines[rank])
      if (rank_of_stage(placement, ranks, action.stage) != static_cast<std::int32_t>(rank)) return &action;
  return nullptr;
}

StagePlacement placement_of(const Lines& lines, const PipelineShape& shape, std::string_view source) {
  const CsvAction* wrong = misplaced(lines, shape.pipeline_stages, StagePlacement::looped);
  if (wrong == nullptr) return StagePlacement::looped;
  if (shape.virtual_stages == 2) {
    const CsvAction* off_v = misplaced(lines, shape.pipeline_stages, StagePlacement::v_shaped);
    if (off_v == nullptr) return StagePlacement::v_shaped;
  }
  throw InputError({csv_place(source, wrong->line, wrong->column),
                    "stage " + std::to_string(wrong->stage) + " on rank " + std::to_string(wrong->line - 1),
                    "stage chunk x ranks + rank, or two chunks placed as a V", ""});
}

/// Each chunk passes each micro-batch once each way, and no rank waits for ever; else the row and column of what fails.
void require_one_step(const ComputeSchedule& schedule, const Lines& lines, std::string_view source) {
  const auto place = [&](std::int32_t rank, std::int32_t position) {
    const std::vector<CsvAction>& line = lines[static_cast<std::size_t>(rank)];
    const CsvAction& action = line[static_cast<std::size_t>(std::max(position, 0))];
    return csv_place(source, action.line, position < 0 ? 1 : action.column);
  };
  if (const auto fault = action_fault(schedule))
    throw InputError({place(fault->rank, fault->position), to_text(*fault),
                      "each stage once forward and once backward for each micro-batch", ""});
  if (const auto deadlock = dry_run(schedule).deadlock) {
    const ActionPlace& first = deadlock->cycle.front().waiting;
    throw InputError({place(first.rank, first.position), to_text(*deadlock, schedule),
                      "an order in which no rank waits for ever", ""});
  }
}

std::string cell(const ComputeSchedule& schedule, std::int32_t rank, const ComputeAction& action) {
  const auto letter = [&] {
    switch (action.kind) {
      case ActionKind::forward: return 'F';
      case ActionKind::backward: return 'B';
      case ActionKind::backward_input: return 'I';
      default: return 'W';
    }
  };
  return std::to_string(schedule.stage(rank, action.chunk)) + letter() + std::to_string(action.micro_batch);
}

}  // namespace

ComputeSchedule read_schedule_csv(std::string_view text, std::string_view source,
                                  const std::optional<PipelineShape>& expected) {
  const Lines lines = read_csv_actions(text, source);
  if (expected) require_shape(lines, *expected, source);
  ComputeSchedule schedule{shape_of(lines, source), StagePlacement::looped, {}};
  if (expected) schedule.shape = *expected;
  require_enough_actions(lines, schedule.shape, source);
  schedule.placement = placement_of(lines, schedule.shape, source);
  for (const std::vector<CsvAction>& line : lines) {
    RankOrder& order = schedule.ranks.emplace_back();
    for (const CsvAction& a : line)
      order.push_back({a.kind, a.stage / schedule.shape.pipeline_stages, a.micro_batch, a.overlap});
  }
  require_one_step(schedule, lines, source);
  return schedule;
}

ComputeSchedule read_schedule_csv_file(const std::filesystem::path& path,
                                       const std::optional<PipelineShape>& expected) {
  return read_schedule_csv(read_text_file(path, "a pipeline schedule as CSV"), path.string(), expected);
}

std::string to_schedule_csv(const ComputeSchedule& schedule) {
  std::string text;
  for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
    const RankOrder& order = schedule.ranks[r];
    const auto rank = static_cast<std::int32_t>(r);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) text += ',';
      if (order[i].overlap == Overlap::none || i + 1 == order.size()) {
        text += cell(schedule, rank, order[i]);
      } else {
        text += "(" + cell(schedule, rank, order[i]) + ";" + cell(schedule, rank, order[i + 1]) + ")OVERLAP_F_B";
        ++i;
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace plumbline
