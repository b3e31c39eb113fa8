#pragma once
/// \file program.h: what every representative rank does in one training step: actions, what they wait for, buffers.
///
/// Answers: who does what after what, with which bytes (of buffers, and on the wire); no time.
/// Model: one rank per pipeline stage stands for all ranks of that stage. A segment of a chunk is what one compute
/// action covers: the whole chunk, or one execution of a block. Buffers are slots that may live more than once in a
/// step.
/// Source: PyTorch's torch.distributed.pipelining (compute-only order, then passes that add the rest).
/// Not modelled: one collective stands for all of its kind in a segment and pass.
/// Checked against: tests/unit/core/program/lower_test.cpp; tests/property/simulation_agreement_test.cpp.

#include <array>
#include <span>
#include <vector>

#include "core/plan/axis.h"
#include "core/plan/estimate.h"
#include "core/program/compute_schedule.h"

namespace plumbline {

/// What an action occupies: the device's compute, the communicator of one kind of group, or the copy engine.
enum class Stream : std::uint8_t { compute, tensor, context, expert, data, pipeline, copy };
inline constexpr std::size_t stream_count = 7;
[[nodiscard]] std::string_view to_text(Stream stream);

/// `weight`: the weight gradients of a split backward. `step`: once, after the micro-batches.
enum class Pass : std::uint8_t { forward, backward, weight, step };

/// Of sends and receives: `in_transit` occupies neither rank; `blocking` makes the receiver wait out the transfer.
/// A rank's first chunk in each direction receives in transit, its later ones block.
enum class Handover : std::uint8_t { none, in_transit, blocking };

/// What of all ranks must have ended before an action: a sum over tied weights needs every rank's gradients reduced, an
/// optimizer step their norm.
enum class Barrier : std::uint8_t { none, gradients, gradient_norm };

/// When an action runs alongside the others of its rank. `in_order`: after the one before it, and what follows waits
/// for it. `with_last` and `after_last`: on its stream's own queue, alongside what follows on the rank; from the start
/// or from the end of the action in order before it.
enum class Issue : std::uint8_t { in_order, with_last, after_last };

/// Whether an action is part of a recompute.
enum class IsReplay : std::uint8_t { no, yes };

/// Where a unit lies while all of it is on the rank: at either end of one buffer, so that it and its neighbour are
/// there at once; of gradients that wait for their chunk's last backward, in the chunk's own. `none`: nothing is
/// gathered.
enum class UnitSlot : std::uint8_t { none, first, second, of_chunk };
[[nodiscard]] constexpr UnitSlot other(UnitSlot slot) {
  return slot == UnitSlot::first ? UnitSlot::second : UnitSlot::first;
}

enum class Access : std::uint8_t { allocate, write, read, release };
struct BufferUse {
  std::int32_t buffer = 0;  ///< of the action's rank
  Access access = Access::read;
};

/// `persistent` buffers are there before the step and after it.
enum class Lifetime : std::uint8_t { step, persistent };
struct Buffer {
  MemoryClass memory_class = MemoryClass::activations;
  Lifetime lifetime = Lifetime::step;
  std::int32_t chunk = -1;        ///< owner; -1: the rank
  std::int32_t micro_batch = -1;  ///< owner; -1: whichever is at work
  std::int32_t segment = -1;      ///< owner; -1: the chunk or rank
  Bytes bytes{0};
};

struct Action {
  ActionKind kind = ActionKind::forward;
  Stream stream = Stream::compute;
  Pass pass = Pass::forward;
  Axis axis = Axis::tensor;  ///< of the group that it communicates in
  Handover handover = Handover::none;
  Barrier barrier = Barrier::none;
  Issue issue = Issue::in_order;
  IsReplay replay = IsReplay::no;
  /// Where its first unit is gathered, or the gradients that it makes lie whole; each next unit takes the other.
  UnitSlot slot = UnitSlot::none;
  /// Of a collective that is a view of instructions of a block's pass (block_program.h): how many actions before it
  /// that pass runs. 0: the action runs by itself.
  std::uint8_t inside = 0;
  std::int32_t chunk = -1;
  std::int32_t micro_batch = -1;
  std::int32_t segment = -1;      ///< of the chunk; -1: the chunk or rank as a whole
  std::int32_t peer = -1;         ///< rank at the other end of a send, receive or sum over tied weights
  std::int32_t peer_action = -1;  ///< its matching action
  /// Earlier actions of its rank: the one before, what arrived, the data stream, the copy stream. A receive also needs
  /// its send.
  std::array<std::int32_t, 4> needs{-1, -1, -1, -1};
  std::int32_t first_use = 0;  ///< of RankProgram::uses
  std::int32_t uses = 0;
  std::int32_t first_unit = 0;  ///< of RankProgram::units: what it gathers, scatters or reduces
  std::int32_t units = 0;
  Bytes bytes{0};  ///< that the rank sends
};

/// Executions [first, last) of Graph::sequence().
struct Segment {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int32_t unit = -1;  ///< of sharding, that several segments make together: its first execution; -1: none
};

struct RankProgram {
  std::vector<std::vector<Segment>> chunks;
  std::vector<Action> actions;  ///< in order of issue
  std::vector<Buffer> buffers;
  std::vector<BufferUse> uses;
  /// Executions of Graph::sequence(), of which actions name runs: those whose parameters are gathered, or whose
  /// gradients are reduced; of a unit of several layers, the first. A unit that is sent in parts is with the action
  /// that sends its last byte.
  std::vector<std::int32_t> units;
};
[[nodiscard]] std::span<const BufferUse> uses_of(const Action& action, const RankProgram& rank);
[[nodiscard]] std::span<const std::int32_t> units_of(const Action& action, const RankProgram& rank);

struct Program {
  PipelineShape shape;
  StagePlacement placement = StagePlacement::looped;
  std::vector<RankProgram> ranks;
  std::int64_t overlapped_actions = 0;  ///< actions that run alongside others

  [[nodiscard]] std::int64_t action_count() const;
};

/// "forward 3", "reduce-gradients".
[[nodiscard]] std::string to_text(const Action& action);

}  // namespace plumbline
