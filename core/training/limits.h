#pragma once
/// \file limits.h: how large the numbers of a question may be, for every reader of one: flags, plan files, front ends.
///
/// Each is far beyond what exists, so that it refuses slips alone, and what was accepted once is read back.

#include <cstdint>

namespace plumbline {

/// A hundred times the largest cluster that was announced (100 000 GPUs).
inline constexpr std::int64_t most_devices = 10'000'000;
/// Ten times the longest context that a model was published with (10 million tokens, Llama 4 Scout).
inline constexpr std::int64_t longest_sequence = 100'000'000;
/// A thousand times the largest batches that are trained with (some 10^6 short sequences).
inline constexpr std::int64_t largest_global_batch = 1'000'000'000;
/// Ten thousand times the tokens of the longest runs (some 10^14).
inline constexpr std::int64_t most_tokens = 1'000'000'000'000'000'000;
/// A hundred times the deepest networks (ten thousand layers), as models/import/config_reader.h.
inline constexpr std::int64_t most_layers = 1'000'000;
/// Wider than any linear that it could stand beside.
inline constexpr std::int64_t largest_lora_rank = 1'000'000;

}  // namespace plumbline
