#pragma once
/// \file keep_rule.h: of what a block's forward pass makes, what stays for its backward and what a replay makes again.
///
/// Answers: per tensor, and per op for what it makes on the side (statistics, masks, probabilities), whether it is kept
/// from forward to backward, and whether a replay restores it. Model: what the backward reads
/// (core/sharding/saved_tensors.h) or a replayed op reads, and no replayed op writes, is kept. Selective recompute
/// keeps the attention's output too. A list of tensors to keep is obeyed as it is, whether or not a backward reads
/// them, and an op runs again for those of its outputs that are not on it. What was gathered of a tensor over
/// tensor-parallel ranks is kept or made again with the tensor. Source:
/// docs/decisions/0005-recompute-by-replayed-ops.md. Not modelled: sizes; they are counted where memory is bound.
/// Checked against: tests/runtime/execution (numbers equal without recompute; bytes equal the prediction).

#include <vector>

#include "core/sharding/saved_tensors.h"

namespace plumbline {

/// Where a block is among those that are replayed as one before the backward of the last of them: by itself, or in a
/// row, where each but the first is given its input by the replay before it and keeps none.
enum class ReplayPlace : std::uint8_t { alone, first, middle, last };
[[nodiscard]] constexpr bool is_given_input(ReplayPlace place) { return place >= ReplayPlace::middle; }
[[nodiscard]] constexpr bool hands_on(ReplayPlace place) {
  return place == ReplayPlace::first || place == ReplayPlace::middle;
}

/// Which ops of an execution run again. `replayed`: by op in order of execution; empty: none. `kept`: by tensor, what a
/// list says is kept (kept_by_operator.h); empty: no list.
struct Replay {
  std::vector<bool> replayed;
  RecomputeMode mode = RecomputeMode::none;
  std::vector<bool> kept = {};
  ReplayPlace place = ReplayPlace::alone;
  bool operator==(const Replay&) const = default;
};

struct KeepRule {
  std::vector<bool> keeps_tensor;     ///< by tensor
  std::vector<bool> keeps_side;       ///< by op
  std::vector<bool> replays;          ///< by op
  std::vector<bool> restores_tensor;  ///< by tensor
  std::vector<bool> restores_side;    ///< by op
  /// By tensor: whether its rows of all tensor-parallel ranks are kept, or left by the replay that gathers them.
  std::vector<bool> keeps_gathered;
  std::vector<bool> restores_gathered;
  bool has_list = false;  ///< whether replayed ops make only those of their outputs that are not kept
  ReplayPlace place = ReplayPlace::alone;

  [[nodiscard]] bool replays_anything() const;
  /// Whether a replay of its op leaves an output out.
  [[nodiscard]] bool skips(TensorId output) const {
    return has_list && keeps_tensor[static_cast<std::size_t>(output.index())];
  }
};

[[nodiscard]] KeepRule keep_rule(const Block& block, const Shard& shard, const Replay& replay);
/// `saved`: saved_tensors of the block, for those who ask often.
[[nodiscard]] KeepRule keep_rule(const Block& block, const std::vector<SavedTensor>& saved, const Replay& replay);

}  // namespace plumbline
