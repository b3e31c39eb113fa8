#pragma once
/// \file chain.h: checkpointing over a chain of stages, where a value may be recomputed more than once.
///
/// Answers picoseconds of one forward and backward pass over the chain within a memory, or nothing when none fits.
/// Machine: values a_0..a_n, stage i turns a_{i-1} into a_i; forward i may write a_i alone or the saved set (a_i with
/// all that backward i reads); backward i reads the gradient of a_i, saved set i and a_{i-1}. a_0 always stays.
/// * persistent: a value once kept stays until its backward. Dynamic programming over (first, last, memory), optimal
///   among persistent schedules only;
/// * unrestricted: anything may be dropped and made again. Shortest path over what is held, at most 7 stages: what no
///   schedule of this machine can undercut.
/// Memory is counted in whole slots: see `in_slots` for sizes in bytes.
/// Source: Beaumont et al., "Optimal checkpointing for heterogeneous chains", arXiv:1911.13214 (rotor).
/// Not modelled: offload; saved sets of several sizes per stage.
/// Checked against: tests/reference/oracles/chain_oracles_test.cpp (27 optima each), tests/property/chain_test.cpp
/// (schedules replayed on the machine), exact.

#include <optional>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

struct ChainStage {
  Picoseconds forward{0};
  Picoseconds backward{0};
  std::int64_t saved = 0;              ///< the saved set, a_i included
  std::int64_t forward_overhead = 0;   ///< while it runs
  std::int64_t backward_overhead = 0;  ///< while it runs
};
/// Sizes in slots. `values` and `gradients` have one entry more than `stages`.
struct Chain {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> gradients;
  std::vector<ChainStage> stages;
};

enum class Rounding : std::uint8_t {
  up,    ///< what fits in slots fits in bytes
  down,  ///< what does not fit in slots does not fit in bytes: a lower bound on time
};
/// A chain with sizes in bytes, in slots of `slot` bytes.
[[nodiscard]] Chain in_slots(Chain bytes, std::int64_t slot, Rounding rounding);

enum class ChainAction : std::uint8_t {
  forward_forget,  ///< writes a_i; what it read is dropped unless a checkpoint
  forward_keep,    ///< writes a_i, a checkpoint
  forward_save,    ///< writes the saved set
  backward,
};
struct ChainStep {
  ChainAction action = ChainAction::backward;
  std::int32_t stage = 0;  ///< 1-based, as values are
};
struct ChainSchedule {
  Picoseconds time{0};
  std::vector<ChainStep> steps;
};

[[nodiscard]] std::optional<ChainSchedule> persistent_schedule(const Chain& chain, std::int64_t memory);
/// Requires at most 7 stages.
[[nodiscard]] std::optional<Picoseconds> unrestricted_time(const Chain& chain, std::int64_t memory);

}  // namespace plumbline
