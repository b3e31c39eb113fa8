#pragma once
/// \file lower.h: from an order of compute actions and the sizes of its segments to a whole program.
///
/// Answers: the Program (program.h); bytes in, bytes out.
/// Model: passes, each of which adds one thing to every rank's list: recompute, collectives of tensor, context and
/// expert parallelism, sends and receives, gathered parameters, reduced gradients, copies to the host, optimizer step,
/// buffers, links. Parameters are gathered one unit ahead, or without prefetch when a unit begins; gradients reduced
/// bucket by bucket, unit by unit where they are sharded: a unit of several segments when the first of its passes
/// begins, and when its last gradients are made; or those of a chunk at once, when its last backward has ended. A
/// segment of several units overlaps with all of its own communication but that of one unit. Secondary shards are one
/// buffer of a rank, from a forward until none of its micro-batches waits for a backward. Offloaded activations
/// leave alongside the next segment that the rank runs and come back alongside the last one before their backward;
/// where fewer than two segments run in between, they stay (copy_pass.cpp). Source: the lowering of PyTorch's
/// torch.distributed.pipelining; ZeRO, arXiv:1910.02054 section 7; FSDP2's streams and DeepSpeed's epilogue (a backward
/// ends when its gradients are reduced); Transformer Engine, cpu_offload.py (two layers' activations on the device).
/// Not modelled: a gather that a weight gradient would need (products need none); the last bucket is taken as full.
/// Checked against: tests/unit/core/program/lower_test.cpp (lists worked by hand).

#include "core/plan/strategy.h"
#include "core/program/memory_profile.h"
#include "core/program/program.h"
#include "core/program/shared_states.h"
#include "core/program/wire_bytes.h"

namespace plumbline {

enum class Restores : std::uint8_t { nothing, something };
/// What its collectives send, pass by pass; what shares its states sends: of reductions and updates, its part of the
/// rank's; and what it holds.
struct SegmentSizes : PassWires, SharingBytes {
  Segment executions;
  Restores restores = Restores::nothing;  ///< before its backward
  /// Where its backward follows the replay of several segments, the first of them; -1: of itself.
  std::int32_t replayed_from = -1;
  MemoryProfile memory;  ///< of whole backwards alone where no backward is split
  /// What is gathered and reduced at once: block executions, or several layers. A unit of several segments is the
  /// first one's with all that it sends; the others have none.
  std::int64_t units = 1;
  // Held by the host between forward and backward, per micro-batch: of what input gradients release, and of what waits
  // for weight gradients.
  Bytes offloaded{0};
  Bytes offloaded_for_weight{0};
  /// Of a segment of several blocks, what they copy to the host and back alongside each other: its memory counts it,
  /// and what shows of the copies follows the forward and precedes the backward.
  Bytes copied_inside{0};
  [[nodiscard]] Bytes leaves() const { return offloaded + offloaded_for_weight; }
};

struct ChunkSizes {
  std::vector<SegmentSizes> segments;
  Bytes boundary{0};              ///< the activation that enters it from the stage before
  Bytes transferred{0};           ///< what leaves it to a stage on the same rank
  Bytes transferred_gradient{0};  ///< what comes back from there; zero where nothing up to here is trained
  std::vector<Segment> units{};   ///< in the order of the network; empty: every execution is one
  /// Gradients, from its first backward to its last of the step; zero where every backward scatters its own.
  Bytes whole_gradients{0};
};

struct StateBytes {
  MemoryClass memory_class = MemoryClass::weights;
  Bytes bytes{0};
};

/// How its gradients leave it, what it sends once per step, and what it holds.
struct RankSizes : ReductionRule {
  std::vector<ChunkSizes> chunks;
  std::vector<StateBytes> persistent;
  std::vector<StateBytes> late;  ///< that the step makes anew, there from the last micro-batch's end to the step's
  Bytes received{0};             ///< the buffer for activations that arrive
  Bytes received_gradient{0};    ///< the buffer for their gradients
  Bytes gathered_parameters{0};
  Bytes gathered_gradients{0};
  /// Shards of the secondary group, from a forward to its backward; zero: backwards gather over the shard group.
  Bytes secondary_shards{0};
  Bytes reduction{0};       ///< gradients, sent once per step
  Bytes partial{0};         ///< sent once per step in the tensor group: gradients of what each rank made a part of
  Bytes packed_partial{0};  ///< these gradients one behind the other, while they are sent
  Bytes tied{0};            ///< sent to the other end of the pipeline for a tied embedding
  MatrixGathers matrices;
  Bytes offloaded_states{0};  ///< of the optimizer, held by the host outside its step
};

/// When parameters that the optimizer has updated are gathered (ZeRO-1 and 2): unit by unit beside the first forward of
/// each chunk, whatever follows waiting for them; all of them before the rank's first forward; or those of a chunk
/// beside the first forward of the chunk before, and its own first forward waits for them.
enum class UpdateGathers : std::uint8_t { ahead, in_order, by_chunk };

/// When gradients that ranks divide (ZeRO-2 and 3) are scattered: those of every backward, or of a chunk when its last
/// backward of the step has ended, until which they are whole.
enum class GradientScatters : std::uint8_t { every_backward, last_backward };

struct LoweringInput {
  std::int32_t zero_stage = 0;
  ParameterPrefetch prefetch = ParameterPrefetch::on;
  UpdateGathers updates = UpdateGathers::ahead;
  GradientScatters scatters = GradientScatters::every_backward;
  ComputeSchedule schedule;
  std::vector<RankSizes> ranks;
  BlockPrograms blocks{};  ///< which the program's compute actions run
};

/// When gradients that ranks share (ZeRO-2 and 3) are scattered: in the buckets of the stack, or each unit's when they
/// are made, as a runtime does that holds those of two units.
enum class Scattering : std::uint8_t { by_bucket, by_unit };
[[nodiscard]] LoweringInput scattered_by_unit(LoweringInput input);

/// Requires an order without faults and deadlock (action_fault, dry_run), and sizes for each of its chunks.
[[nodiscard]] Program lower(const LoweringInput& input);
/// The same actions with what they wait for, for those who ask for times alone.
[[nodiscard]] Program lower_without_buffers(const LoweringInput& input);

}  // namespace plumbline
