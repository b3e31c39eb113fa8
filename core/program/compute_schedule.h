#pragma once
/// \file compute_schedule.h: the compute actions of every pipeline rank, and which stage of the network each chunk is.
///
/// Answers: who computes what in which order; actions and stages are counted from 0.
/// Model: a stage is a consecutive part of the network; a rank holds `virtual_stages` of them as its chunks.
/// Source: arXiv:2104.04473 section 2.2 (looped placement); arXiv:2401.10241 section 6 (V placement).
/// Not modelled: communication; it follows from the placement and is added by a later pass.
/// Checked against: tests/reference/pipeline_orders_test.cpp; tests/error/schedule_csv_test.cpp (faults).

#include <optional>
#include <string>

#include "core/plan/pipeline_schedule.h"
#include "core/program/action.h"

namespace plumbline {

struct PipelineShape {
  std::int32_t pipeline_stages = 1;
  std::int32_t virtual_stages = 1;
  std::int32_t micro_batches = 1;
  bool operator==(const PipelineShape&) const = default;
  [[nodiscard]] std::int32_t stages() const { return pipeline_stages * virtual_stages; }
};

[[nodiscard]] inline PipelineShape pipeline_shape(const Strategy& s) {
  return {s.pipeline_stages, s.virtual_stages, static_cast<std::int32_t>(s.micro_batches)};
}

struct ComputeSchedule {
  PipelineShape shape;
  StagePlacement placement = StagePlacement::looped;
  std::vector<RankOrder> ranks;
  bool operator==(const ComputeSchedule&) const = default;

  [[nodiscard]] std::int32_t stage(std::int32_t rank, std::int32_t chunk) const {
    return stage_of(placement, shape.pipeline_stages, rank, chunk);
  }
  [[nodiscard]] std::int32_t rank_of(std::int32_t stage) const {
    return rank_of_stage(placement, shape.pipeline_stages, stage);
  }
};

/// The schedule's own order, for a shape that its legality rule allows (`schedule_fault` is nothing).
[[nodiscard]] ComputeSchedule compute_schedule(Schedule schedule, const PipelineShape& shape);

/// What is wrong with a rank's order: at an action, or (`position` -1) with the order as a whole.
struct ActionFault {
  std::int32_t rank = 0;
  std::int32_t position = -1;
  std::string what;
};
/// "rank 1: forward 0 is there twice".
[[nodiscard]] std::string to_text(const ActionFault& fault);

/// Why these are not the actions of one step: a forward or backward that is missing, doubled or out of range; a weight
/// gradient without its input gradient. Nothing when each chunk passes each micro-batch once forward and once backward.
/// The order may still wait for ever: see dry_run.h. Requires an order for each rank of the shape.
[[nodiscard]] std::optional<ActionFault> action_fault(const ComputeSchedule& schedule);

}  // namespace plumbline
