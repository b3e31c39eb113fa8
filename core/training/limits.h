#pragma once
/// \file limits.h: how large the numbers of a question may be, for every reader of one: flags, plan files, front ends.
///
/// Each is far beyond what exists, so that only mistakes are refused. A file written within these limits can be read.

#include <cstdint>

namespace plumbline {

/// A hundred times a cluster of 100 000 GPUs (xAI's Colossus as of 2024, https://x.ai/colossus).
inline constexpr std::int64_t most_devices = 10'000'000;
/// Dollars of one device for an hour: more than a thousand times what any of the catalogue costs (models/machines).
inline constexpr double most_dollars = 1e5;
/// Ten times the 10 million tokens of Llama 4 Scout (Meta's model card, April 2025).
inline constexpr std::int64_t longest_sequence = 100'000'000;
/// A thousand times the batches of one million that SigLIP was tried with (arXiv:2303.15343).
inline constexpr std::int64_t largest_global_batch = 1'000'000'000;
/// More than ten thousand times the 36 * 10^12 tokens that Qwen3 was trained on (arXiv:2505.09388).
inline constexpr std::int64_t most_tokens = 1'000'000'000'000'000'000;
/// A hundred times the ten thousand layers of arXiv:1806.05393; also the limit of models/import/config_reader.h.
inline constexpr std::int64_t most_layers = 1'000'000;
/// Wider than any matrix it adapts: three times the 262 144 tokens of Gemma 3's vocabulary (arXiv:2503.19786).
inline constexpr std::int64_t largest_lora_rank = 1'000'000;

}  // namespace plumbline
