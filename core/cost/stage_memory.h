#pragma once
/// \file stage_memory.h: bytes that one pipeline rank holds at the peak of a training step, class by class.
///
/// Model: states (rank_parameters.h) + what the micro-batches in flight hold at the action where that is most
/// (peak_load.h: activations, the working set of the acting chunk, logits that wait for their backward) + gathered
/// units and gradient buffers under ZeRO-3 (two of each: the unit in use and its neighbour, prefetched unless the
/// strategy says otherwise; parameters while a forward or input gradient runs, gradients while weight gradients are
/// made; a stack may gather by less than a unit and bound both; or gradients of whole chunks, see kept_gradients) +
/// buffers of communicators + device context + allocator loss. Source: Korthikanti et al., arXiv:2205.05198 section 4
/// (in-flight activations); PyTorch FSDP2's stream design (two all-gather and two reduce-scatter buffers); the stack
/// calibration for context, communicators and fragmentation. A pipeline rank has a buffer for an activation that
/// arrives and one for a gradient. Where a backward gathers over a smaller group than a forward, the rank's shards of
/// that group are there while any of its micro-batches is in flight (ZeRO++, arXiv:2306.10209). Lifetimes inside an
/// action: working_set.h. Not modelled: alignment of buffers; secondary shards that come and go unit by unit.
/// Checked against: tests/reference/stage_memory_test.cpp (published analytic rows: 2 % asked, 0.1 % reached);
/// tests/property/simulation_agreement_test.cpp (simulated peaks, to the byte).

#include <optional>
#include <span>

#include "core/cost/stage_cost.h"
#include "core/plan/estimate.h"
#include "core/program/peak_load.h"
#include "core/training/training.h"

namespace plumbline {

/// Whether gradients that ranks divide wait whole for their chunk's last backward of the step (ShardedGradients).
[[nodiscard]] bool keeps_gradients(const Strategy& strategy, const StackFeatures& features);
/// Their format; nothing where they do not.
[[nodiscard]] std::optional<NumberFormat> kept_gradients(const Strategy& strategy, const StackFeatures& features,
                                                         const PrecisionFormats& formats);
/// Of a part of `rank`, padded, in the format `kept`; zero where nothing is kept.
[[nodiscard]] Bytes whole_gradients(const RankParameters& part, const RankParameters& rank, const Strategy& strategy,
                                    std::optional<NumberFormat> kept);
/// What one micro-batch in flight holds. `sends`: whether the result goes on to another stage.
[[nodiscard]] MemoryProfile memory_on_stage(const StageSizes& stage, bool sends);
/// What the micro-batches of a pipeline rank hold, the same for every ZeRO stage, with gradients of the format `kept`.
[[nodiscard]] PeakLoads rank_load(const StageTable& stages, const Strategy& strategy, std::int32_t rank,
                                  std::optional<NumberFormat> kept);
/// The same of a rank whose chunks cost `chunks` instead; `stages`: of this split, with other variants.
[[nodiscard]] PeakLoads rank_load(const StageTable& stages, const Strategy& strategy, std::int32_t rank,
                                  std::optional<NumberFormat> kept, std::span<const StageCost> chunks);
/// Ranks whose memory may differ from that of every rank before: of those that hold the same, the first, where no fewer
/// micro-batches are in flight than on the others; all ranks of schedules of which that is not known, and where chunks
/// keep gradients, of which ranks with fewer micro-batches in flight may hold more.
[[nodiscard]] std::vector<std::int32_t> informative_ranks(const StageLayout& layout, const Strategy& strategy,
                                                          std::optional<NumberFormat> kept);

/// `load`: `rank_load` of the rank.
[[nodiscard]] MemoryBreakdown stage_memory(const StageSizes& stage, const PeakLoads& load, const Strategy& strategy,
                                           const PrecisionFormats& formats, Optimizer optimizer,
                                           const StackCalibration& stack);
/// Of a rank whose chunks are alike; `rank`: pipeline rank of the stage.
[[nodiscard]] MemoryBreakdown stage_memory(const StageSizes& stage, const Strategy& strategy,
                                           const PrecisionFormats& formats, Optimizer optimizer,
                                           const StackCalibration& stack, std::int32_t rank);
/// The part of communication buffers that communicators have, whatever is sent.
[[nodiscard]] Bytes communicator_buffers(const Strategy& strategy, const StackSizes& stack);
/// Of neighbouring units, what is whole at once where ZeRO divides it.
[[nodiscard]] Bytes gathered_parameters(const StageSizes& stage, const Strategy& strategy,
                                        const PrecisionFormats& formats, const StackSizes& stack);
[[nodiscard]] Bytes gathered_gradients(const StageSizes& stage, const Strategy& strategy,
                                       const PrecisionFormats& formats, const StackSizes& stack);

}  // namespace plumbline
