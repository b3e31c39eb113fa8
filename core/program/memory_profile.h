#pragma once
/// \file memory_profile.h: the bytes that a stretch of blocks holds for one micro-batch, from its forward on.
///
/// Answers bytes per rank. The stretch is one execution of a block, one segment of a program, a chunk or all chunks of
/// a rank: each of them holds this value, and nothing is copied field by field from one to the next.
/// Model: blocks run one after another (`add`): what is kept for the backward adds up, working sets do not, since one
/// block acts at a time. Source: core/program/block_program.h (one block); Korthikanti et al., arXiv:2205.05198.
/// Not modelled: what passes from block to block (core/cost/stage_cost.h), states, gathered parameters.
/// Checked against: tests/unit/core/program/memory_profile_test.cpp; whole plans in
/// tests/property/simulation_agreement_test.cpp (memory curves, to the byte).

#include <algorithm>
#include <cstdint>

#include "core/quantity/quantity.h"

namespace plumbline {

/// What lives next to saved activations while one action of a kind runs.
struct WorkingSets {
  Bytes forward{0};
  Bytes backward{0};        ///< with the replay before it
  Bytes backward_input{0};  ///< the same of a split backward
  Bytes weight{0};          ///< weight gradients alone
  Bytes replay{0};          ///< of a replay ahead of others (ReplayPlace), next to what it restores
  bool operator==(const WorkingSets&) const = default;
};

/// What of `working` is needed next to `logits` of the same pass: a layer's lies in the room that they leave.
[[nodiscard]] inline Bytes beyond_logits(Bytes working, Bytes logits) { return std::max(Bytes(0), working - logits); }

struct MemoryProfile {
  Bytes saved{0};   ///< from the forward to the backward, or as long as split backwards need it
  Bytes logits{0};  ///< logits and what the loss makes of them, likewise
  // Of split backwards:
  Bytes kept_for_weight{0};  ///< of `saved`, until the weight gradients; input gradients release the rest
  Bytes deferred{0};         ///< next to it, from input to weight gradients
  Bytes late_logits{0};      ///< of `logits`, until the weight gradients
  /// Of a block that is replayed ahead of others (ReplayPlace): what waits from its replay to its backward.
  Bytes replayed_ahead{0};
  Bytes on_host{0};  ///< as `saved`, in host memory, of the tensor-parallel ranks together
  /// Of one block, what lives on the device next to the acting one while it is copied to the host or back.
  Bytes in_transit{0};
  WorkingSets working;
  bool operator==(const MemoryProfile&) const = default;

  /// Of `saved`, what input gradients release.
  [[nodiscard]] Bytes dropped() const { return saved - kept_for_weight; }
  /// `count` executions of a block behind what is here already. `freed_logits`: of the stretch, gone before the block's
  /// backward begins, so that only what its working sets need beyond them counts.
  void add(const MemoryProfile& block, std::int64_t count, Bytes freed_logits);
  /// A result that goes on to another stage stays until the backward has ended.
  void keep_output(Bytes bytes);
  /// `bytes` live next to whatever acts.
  void add_in_transit(Bytes bytes);
  /// What is saved waits in host memory, where `copies` ranks hold a copy; an acting block has its own on the device.
  void move_to_host(std::int64_t copies);
  /// Without what only split backwards have.
  [[nodiscard]] MemoryProfile of_whole_backward() const;
  /// With `to` in place of `from`, which is a part of it.
  void exchange(const MemoryProfile& from, const MemoryProfile& to);
};

}  // namespace plumbline
