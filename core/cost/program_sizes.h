#pragma once
/// \file program_sizes.h: the bytes that lowering needs: of the states, activations and messages of each rank and
/// segment.
///
/// Answers: LoweringInput (core/program/lower.h) in bytes, from the sizes of a plan: no calibration's clock is asked.
/// Model: a segment is a chunk or one execution of a block, with the variants that the layout of the ranks gives its
/// executions, counted as stage_cost.h counts a stage; states, communicators
/// and device context are stage_memory.h's; what a segment sends to share states is what its own padded units take.
/// Source: stage_memory.h, state_sharing.h. Not modelled: allocator loss, which is a fraction of the peak.
/// Checked against: tests/property/simulation_agreement_test.cpp (peaks equal stage_memory's);
/// tests/property/uncalibrated_program_test.cpp (the same program without a calibration).

#include "core/cost/step_time.h"
#include "core/program/lower.h"

namespace plumbline {

/// A plan in bytes. What it refers to outlives it.
struct SizedPlan {
  const Graph& graph;
  const Strategy& strategy;
  const Training& training;
  StackSizes stack;
  BlockSizesList blocks;  ///< for every block and site
  SizesTable ranks;
};

/// What one plan was priced with; everything outlives the use.
struct PricedPlan {
  const Graph& graph;
  const Strategy& strategy;
  const Training& training;
  const StackCalibration& stack;
  const StepPricer& steps;
  const StageTable& ranks;
  const std::vector<BlockCost>& blocks;

  [[nodiscard]] SizedPlan sizes() const {
    return {graph, strategy, training, stack, BlockSizesList(blocks), SizesTable(ranks)};
  }
};

/// What one compute action covers.
enum class Granularity : std::uint8_t { chunk, block };

/// The segments of a plan in the order of the network, and what each holds and sends per micro-batch.
class SegmentTable {
 public:
  SegmentTable(const SizedPlan& plan, Granularity granularity);
  SegmentTable(const SegmentTable&) = delete;  // the sizes point to the layout
  SegmentTable& operator=(const SegmentTable&) = delete;

  [[nodiscard]] Granularity granularity() const { return granularity_; }
  [[nodiscard]] const std::vector<Chunk>& executions() const { return executions_; }
  [[nodiscard]] const StageSizes& sizes(std::size_t segment) const { return sizes_[segment]; }
  [[nodiscard]] const StageLayout& layout() const { return layout_; }
  /// The first segment of a stage; of one beyond the last, the number of segments.
  [[nodiscard]] std::size_t first_of_stage(std::size_t stage) const { return first_[stage]; }

 private:
  Granularity granularity_;
  std::vector<std::size_t> first_;
  std::vector<Chunk> executions_;
  StageLayout layout_;
  SizesTable sizes_;
};

/// `order`: of the plan's shape, with the stages placed as `plan.ranks` has them.
[[nodiscard]] LoweringInput lowering_input(const SizedPlan& plan, const SegmentTable& segments, ComputeSchedule order);
/// In the order of the plan's own schedule.
[[nodiscard]] LoweringInput lowering_input(const SizedPlan& plan, const SegmentTable& segments);

}  // namespace plumbline
