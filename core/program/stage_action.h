#pragma once
/// \file stage_action.h: one action of a stage program: what every action has, and what its kind needs.
///
/// Answers: who does what after what, with which bytes (of buffers, and on the wire); no time. Model: a common part
/// (what it waits for, whose it is, what it uses) and one payload. A payload has what means something for its kind and
/// nothing else; name, stream, pass and barrier of an action follow from it.
/// Source: the action list of PyTorch's torch.distributed.pipelining. Not modelled: one collective stands for all of
/// its kind in a segment and pass. Checked against: tests/unit/core/program/stage_action_test.cpp, lower_test.cpp.

#include <array>
#include <type_traits>
#include <variant>

#include "core/plan/axis.h"
#include "core/program/action.h"
#include "core/program/block_axis.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// What an action occupies: the device's compute, the communicator of one kind of group, or the copy engine.
enum class Stream : std::uint8_t { compute, tensor, context, expert, data, pipeline, copy };
inline constexpr std::size_t stream_count = 7;
[[nodiscard]] std::string_view to_text(Stream stream);

/// `weight`: the weight gradients of a split backward. `step`: once, after the micro-batches.
enum class Pass : std::uint8_t { forward, backward, weight, step };

/// Of a pass through the network: along it or against it.
enum class Direction : std::uint8_t { forward, backward };
[[nodiscard]] constexpr Pass pass_of(Direction direction) {
  return direction == Direction::forward ? Pass::forward : Pass::backward;
}

/// What of all ranks must have ended before an action: a sum over tied weights needs every rank's gradients reduced, an
/// optimizer step their norm.
enum class Barrier : std::uint8_t { none, gradients, gradient_norm };

/// When an action runs alongside the others of its rank. `in_order`: after the one before it, and what follows waits
/// for it. `with_last` and `after_last`: on its stream's own queue, alongside what follows on the rank; from the start
/// or from the end of the action in order before it.
enum class Issue : std::uint8_t { in_order, with_last, after_last };

/// Where a unit lies while all of it is on the rank: at either end of one buffer, so that it and its neighbour are
/// there at once; of gradients that wait for their chunk's last backward, in the chunk's own. `none`: nothing is
/// gathered.
enum class UnitSlot : std::uint8_t { none, first, second, of_chunk };
[[nodiscard]] constexpr UnitSlot other(UnitSlot slot) {
  return slot == UnitSlot::first ? UnitSlot::second : UnitSlot::first;
}

/// Entries [first, first + count) of RankProgram::units.
struct UnitRun {
  std::int32_t first = 0;
  std::int32_t count = 0;
  bool operator==(const UnitRun&) const = default;
};

/// What operators of a micro-batch do: the first kinds of ActionKind. A recompute runs in the pass that reads it.
enum class ComputeKind : std::uint8_t { forward, backward, backward_input, backward_weight, recompute };
[[nodiscard]] constexpr ActionKind action_kind(ComputeKind kind) { return static_cast<ActionKind>(kind); }
static_assert(action_kind(ComputeKind::forward) == ActionKind::forward);
static_assert(action_kind(ComputeKind::recompute) == ActionKind::recompute);
[[nodiscard]] constexpr Pass pass_of(ComputeKind kind) {
  if (kind == ComputeKind::forward) return Pass::forward;
  return kind == ComputeKind::backward_weight ? Pass::weight : Pass::backward;
}

// Payloads. Segments are of the action's chunk; bytes are what the rank sends.

/// The operators of a segment.
struct ComputePass {
  ComputeKind of = ComputeKind::forward;
  UnitSlot gradients = UnitSlot::none;  ///< where those of the weights lie whole
  std::int32_t segment = 0;
  bool operator==(const ComputePass&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return action_kind(of); }
  [[nodiscard]] constexpr Stream stream() const { return Stream::compute; }
  [[nodiscard]] constexpr Pass pass() const { return pass_of(of); }
};

[[nodiscard]] constexpr ActionKind action_kind(BlockAxis axis) {
  constexpr std::array kinds{ActionKind::tensor_collective, ActionKind::context_collective,
                             ActionKind::expert_collective};
  return kinds[static_cast<std::size_t>(axis)];
}
[[nodiscard]] constexpr Stream stream_of(BlockAxis axis) {
  constexpr std::array streams{Stream::tensor, Stream::context, Stream::expert};
  return streams[static_cast<std::size_t>(axis)];
}

/// A view of the instructions by which a block's pass communicates in one kind of group (block_program.h). It follows
/// the pass before anything else computes.
struct BlockCollective {
  BlockAxis axis = BlockAxis::tensor;
  ComputeKind of = ComputeKind::forward;  ///< the pass that it is part of
  std::int32_t segment = 0;
  Bytes bytes{0};
  bool operator==(const BlockCollective&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return action_kind(axis); }
  [[nodiscard]] constexpr Stream stream() const { return stream_of(axis); }
  [[nodiscard]] constexpr Pass pass() const { return pass_of(of); }
};

enum class MessageEnd : std::uint8_t { send, receive };
/// `in_transit` occupies neither rank; `blocking` makes the receiver wait out the transfer. A rank's first chunk in
/// each direction receives in transit, its later ones block.
enum class Handover : std::uint8_t { in_transit, blocking };

/// One end of what passes between two stages on different ranks. A receive also needs its send.
struct StageMessage {
  MessageEnd end = MessageEnd::send;
  Direction direction = Direction::forward;
  Handover handover = Handover::in_transit;
  std::int32_t peer = -1;         ///< rank at the other end
  std::int32_t peer_action = -1;  ///< its matching action
  Bytes bytes{0};                 ///< of a send
  bool operator==(const StageMessage&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const {
    if (direction == Direction::forward)
      return end == MessageEnd::send ? ActionKind::send_forward : ActionKind::receive_forward;
    return end == MessageEnd::send ? ActionKind::send_backward : ActionKind::receive_backward;
  }
  [[nodiscard]] constexpr Stream stream() const { return Stream::pipeline; }
  [[nodiscard]] constexpr Pass pass() const { return pass_of(direction); }
};

/// Makes the parameters of units whole, for a pass that reads them.
struct ParameterGather {
  Direction direction = Direction::forward;
  UnitSlot slot = UnitSlot::none;  ///< of its first unit; each next one takes the other
  Axis axis = Axis::shard;         ///< of the group that holds the parts
  std::int32_t segment = 0;        ///< that the first of its units begins with
  UnitRun units{};
  Bytes bytes{0};
  bool operator==(const ParameterGather&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::all_gather_parameters; }
  [[nodiscard]] constexpr Stream stream() const { return Stream::data; }
  [[nodiscard]] constexpr Pass pass() const { return pass_of(direction); }
};

/// Gives up what a pass has gathered.
struct ParameterRelease {
  Direction direction = Direction::forward;
  std::int32_t segment = 0;  ///< the last one of the pass
  bool operator==(const ParameterRelease&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::release_parameters; }
  [[nodiscard]] constexpr Stream stream() const { return Stream::data; }
  [[nodiscard]] constexpr Pass pass() const { return pass_of(direction); }
};

/// Which gradients: those of one micro-batch, in the pass that makes them; what the last micro-batch's passes have
/// left; their sum over the step.
enum class GradientsOf : std::uint8_t { backward, weight, last_passes, step };

/// Sums gradients of units over the ranks of a group, and scatters those of a micro-batch.
struct GradientReduction {
  GradientsOf of = GradientsOf::step;
  Axis axis = Axis::gradient;  ///< of the group
  std::int32_t segment = -1;   ///< alongside or behind which it runs; -1: none
  UnitRun units{};
  Bytes bytes{0};
  bool operator==(const GradientReduction&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::reduce_gradients; }
  [[nodiscard]] constexpr Stream stream() const { return Stream::data; }
  [[nodiscard]] constexpr Pass pass() const {
    if (of == GradientsOf::backward) return Pass::backward;
    return of == GradientsOf::weight ? Pass::weight : Pass::step;
  }
};

enum class CopyTo : std::uint8_t { host, device };

/// Of activations: to the host behind their forward, back before their backward. Of the optimizer's states: back for
/// its step.
struct HostCopy {
  CopyTo to = CopyTo::host;
  std::int32_t segment = -1;  ///< whose activations; -1: the optimizer's states
  Bytes bytes{0};
  bool operator==(const HostCopy&) const = default;
  [[nodiscard]] constexpr bool is_of_states() const { return segment < 0; }
  [[nodiscard]] constexpr ActionKind kind() const {
    return to == CopyTo::host ? ActionKind::offload : ActionKind::fetch;
  }
  [[nodiscard]] constexpr Stream stream() const { return Stream::copy; }
  [[nodiscard]] constexpr Pass pass() const {
    if (is_of_states()) return Pass::step;
    return to == CopyTo::host ? Pass::forward : Pass::backward;
  }
};

/// Sums gradients of what every tensor-parallel rank holds whole, but made from its own tokens.
struct PartialSum {
  Bytes bytes{0};
  bool operator==(const PartialSum&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::tensor_collective; }
  [[nodiscard]] constexpr Stream stream() const { return Stream::tensor; }
  [[nodiscard]] constexpr Pass pass() const { return Pass::step; }
};

/// Parts of matrices: shards of those who share states, slices of tensor-parallel ranks.
enum class MatrixParts : std::uint8_t { shards, slices };

/// What an optimizer's step does with what ranks hold of matrices: gathers it, or adds it up.
enum class MatrixExchange : std::uint8_t { gather, sum };

/// Makes matrices, or sums of them, whole for an optimizer that needs them so.
struct MatrixGather {
  MatrixParts of = MatrixParts::shards;
  MatrixExchange exchange = MatrixExchange::gather;
  Bytes bytes{0};
  bool operator==(const MatrixGather&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::all_gather_parameters; }
  [[nodiscard]] constexpr Stream stream() const { return of == MatrixParts::slices ? Stream::tensor : Stream::data; }
  [[nodiscard]] constexpr Pass pass() const { return Pass::step; }
};

/// Sums the gradients of an embedding of which both ends of the pipeline hold a copy.
struct TiedSum {
  std::int32_t peer = -1;  ///< rank at the other end
  Bytes bytes{0};
  bool operator==(const TiedSum&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::reduce_gradients; }
  [[nodiscard]] constexpr Stream stream() const { return Stream::data; }
  [[nodiscard]] constexpr Pass pass() const { return Pass::step; }
};

struct OptimizerStep {
  bool operator==(const OptimizerStep&) const = default;
  [[nodiscard]] constexpr ActionKind kind() const { return ActionKind::optimizer_step; }
  [[nodiscard]] constexpr Stream stream() const { return Stream::compute; }
  [[nodiscard]] constexpr Pass pass() const { return Pass::step; }
};

using ActionPayload = std::variant<ComputePass, BlockCollective, StageMessage, ParameterGather, ParameterRelease,
                                   GradientReduction, HostCopy, PartialSum, MatrixGather, TiedSum, OptimizerStep>;

struct Action {
  /// Earlier actions of its rank: the one before, what arrived, the data stream, the copy stream.
  std::array<std::int32_t, 4> needs{-1, -1, -1, -1};
  std::int32_t chunk = -1;        ///< -1: the rank as a whole
  std::int32_t micro_batch = -1;  ///< -1: of the step
  std::int32_t first_use = 0;     ///< of RankProgram::uses
  std::uint16_t uses = 0;
  Issue issue = Issue::in_order;
  ActionPayload what;

  [[nodiscard]] ActionKind kind() const {
    return std::visit([](const auto& payload) { return payload.kind(); }, what);
  }
  [[nodiscard]] Stream stream() const {
    return std::visit([](const auto& payload) { return payload.stream(); }, what);
  }
  [[nodiscard]] Pass pass() const {
    return std::visit([](const auto& payload) { return payload.pass(); }, what);
  }
  [[nodiscard]] Barrier barrier() const {
    if (std::holds_alternative<OptimizerStep>(what)) return Barrier::gradient_norm;
    return std::holds_alternative<TiedSum>(what) ? Barrier::gradients : Barrier::none;
  }
  /// Of its chunk; -1: the chunk or rank as a whole.
  [[nodiscard]] std::int32_t segment() const {
    return std::visit(
        [](const auto& payload) {
          if constexpr (requires { payload.segment; })
            return payload.segment;
          else
            return -1;
        },
        what);
  }
  /// That the rank sends.
  [[nodiscard]] Bytes bytes() const {
    return std::visit(
        [](const auto& payload) {
          if constexpr (requires { payload.bytes; })
            return payload.bytes;
          else
            return Bytes(0);
        },
        what);
  }
  /// What it gathers, scatters or reduces.
  [[nodiscard]] UnitRun units() const {
    return std::visit(
        [](const auto& payload) {
          if constexpr (requires { payload.units; })
            return payload.units;
          else
            return UnitRun{};
        },
        what);
  }
  /// Rank at the other end of a message or of a sum over tied weights; -1: none.
  [[nodiscard]] std::int32_t peer() const {
    return std::visit(
        [](const auto& payload) {
          if constexpr (requires { payload.peer; })
            return payload.peer;
          else
            return -1;
        },
        what);
  }
};
// Programs have millions of them: a line of the cache each, moved byte by byte.
static_assert(sizeof(Action) <= 64);
static_assert(std::is_trivially_copyable_v<Action>);

/// "forward 3", "reduce-gradients".
[[nodiscard]] std::string to_text(const Action& action);

}  // namespace plumbline
