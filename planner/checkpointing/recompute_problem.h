#pragma once
/// \file recompute_problem.h: what a block's backward pass reads, what each value takes to keep and each op to replay.
///
/// Answers, for a set of replayed ops, bytes kept and picoseconds per micro-batch and rank. Model: a value that the
/// backward pass or a replayed op reads is either kept or written again by replaying its op; one replay writes all of
/// an op's values. What enters the block is kept when anything reads it. Keeping everything is saved_bytes(none).
/// Times: each op priced as a block of its own by core/cost's pricer, collectives included, then scaled so that all ops
/// together take what the block's forward takes (launch times overlap in a block, not op by op).
/// Source: the closure form of tensor rematerialisation, Jain et al., arXiv:1910.02653 (Checkmate), with inputs.
/// Not modelled: replaying an op twice; freeing a replayed value before the block's backward ends.
/// Checked against: tests/property/block_frontier_test.cpp (none, selective and full of core/cost, exact in bytes).

#include <string>
#include <vector>

#include "core/cost/block_cost.h"

namespace plumbline {

struct RecomputeValue {
  std::string name;
  Bytes size{0};
  std::int32_t producer = -1;  ///< index of the op that writes it; -1: it enters the block
  bool needed = false;         ///< whether some backward op reads it
};

struct RecomputeOp {
  std::string name;
  Picoseconds time{0};  ///< of one replay
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  bool can_replay = true;
  PhaseTime phase = {};               ///< what `time` is spent on; nothing where only the sum is known
  Picoseconds host = Picoseconds(0);  ///< until the host has launched it
};

struct RecomputeProblem {
  std::vector<RecomputeValue> values;
  std::vector<RecomputeOp> ops;  ///< in order of execution

  /// Appends a value and enters it in its op's outputs.
  std::int32_t add_value(RecomputeValue value);
};

/// One way to run a block's backward pass.
struct RecomputeChoice {
  Bytes saved{0};       ///< kept per micro-batch in flight
  Picoseconds time{0};  ///< spent on replay per micro-batch
  Bytes restored{0};    ///< of what the backward pass reads, what a replay puts back while the block runs backward
  std::vector<bool> replayed;  ///< by op
};

/// The price of replaying the ops of `replayed`; an op whose values nothing reads is not replayed.
[[nodiscard]] RecomputeChoice price_choice(const RecomputeProblem& problem, std::vector<bool> replayed);

/// The problem of one block. The loss is never replayed: its logits are a memory class of their own.
[[nodiscard]] RecomputeProblem recompute_problem(const Block& block, const Shard& shard, const BlockGroups& groups,
                                                 const BlockPricer& pricer);

}  // namespace plumbline
