#pragma once
/// \file stage_memory.h: bytes that one pipeline rank holds at the peak of a training step, class by class.
///
/// Model: states (rank_parameters.h) + activations of the micro-batches in flight (chunks_in_flight) + the working set
/// of the largest operator or recomputed layer + logits, which GPipe keeps for all micro-batches + gathered units and
/// gradient buffers under ZeRO-3 (two of each: the unit in use and the prefetched one) + buffers of communicators +
/// device context + allocator loss.
/// Source: Korthikanti et al., arXiv:2205.05198 section 4 (in-flight activations); PyTorch FSDP2's stream design (two
/// all-gather and two reduce-scatter buffers); the stack calibration for context, communicators and fragmentation.
/// Not modelled: the order in which the last micro-batches release their activations (the simulator's curve does);
/// chunks of an interleaved rank that differ: their mean stands in, with the working set of the largest.
/// Checked against: tests/reference/stage_memory_test.cpp (published analytic rows: 2 % asked, 0.1 % reached);
/// tests/property/simulation_agreement_test.cpp (simulated peaks: equal, when the chunks of a rank are).

#include "core/cost/stage_cost.h"
#include "core/plan/estimate.h"
#include "core/training/training.h"

namespace plumbline {

/// `rank`: pipeline rank of the stage.
[[nodiscard]] MemoryBreakdown stage_memory(const StageCost& stage, const Strategy& strategy,
                                           const PrecisionFormats& formats, Optimizer optimizer,
                                           const StackCalibration& stack, std::int32_t rank);
/// What is unsharded at once: the unit in use and the prefetched one.
[[nodiscard]] Bytes gathered_unit_bytes(std::int64_t largest_unit, NumberFormat format);
/// Ranks over which dense and expert states are divided.
[[nodiscard]] ShardRanks shard_ranks(const Strategy& strategy);

}  // namespace plumbline
