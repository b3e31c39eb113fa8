#pragma once
/// \file program.h: what every representative rank does in one training step: actions, what they wait for, buffers.
///
/// Answers: who does what after what, with which bytes (of buffers, and on the wire); no time.
/// Model: one rank per pipeline stage stands for all ranks of that stage. A segment of a chunk is what one compute
/// action covers: the whole chunk, or one execution of a block. Buffers are slots that may live more than once in a
/// step. What a compute action of a single block does is that block's program (block_program.h), which all ranks and
/// executions that run it alike share.
/// Source: PyTorch's torch.distributed.pipelining (compute-only order, then passes that add the rest).
/// Not modelled: one collective stands for all of its kind in a segment and pass.
/// Checked against: tests/unit/core/program/lower_test.cpp; tests/property/simulation_agreement_test.cpp.

#include <memory>
#include <span>
#include <vector>

#include "core/plan/estimate.h"
#include "core/program/compute_schedule.h"
#include "core/program/stage_action.h"

namespace plumbline {

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

struct BlockProgram;
/// By execution of Graph::sequence(). None where segments are whole chunks, or times alone were asked for.
using BlockPrograms = std::vector<std::shared_ptr<const BlockProgram>>;

struct Program {
  PipelineShape shape;
  StagePlacement placement = StagePlacement::looped;
  std::vector<RankProgram> ranks;
  std::int64_t overlapped_actions = 0;  ///< actions that run alongside others
  BlockPrograms blocks{};

  [[nodiscard]] std::int64_t action_count() const;
};

}  // namespace plumbline
