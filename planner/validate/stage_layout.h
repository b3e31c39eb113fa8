#pragma once
/// \file stage_layout.h: how many layers each pipeline chunk holds, read from a run's text.
///
/// Answers a number of layers for each chunk, in the order of the pipeline.
/// Model: numbers ("9,8,8,7"), or Megatron-Core's layout ("Et*3|(tt|)*6mL"): E embedding, t layer, m layer of
/// multi-token prediction, L loss, | the next chunk, *N a repetition of the symbol or group before it.
/// Source: Megatron-Core, --pipeline-model-parallel-layout.
/// Not modelled: where E, m and L are; only t and m count. Whether the layers are the network's is legality's to say.
/// Checked against: tests/unit/planner/validate/stage_layout_test.cpp (layouts by hand) and
/// tests/error/stage_layout_test.cpp (text made to exhaust memory or the call stack).

#include <cstdint>
#include <string_view>
#include <vector>

namespace plumbline {

/// A layout is refused beyond this many symbols once it is written out, and beyond this many groups in one another.
inline constexpr std::size_t longest_layout = 100'000;
inline constexpr int deepest_layout = 16;

/// Empty for an empty text. Throws InputError for a text that is neither form, or a layout beyond the limits.
[[nodiscard]] std::vector<std::int32_t> stage_layout_from_text(std::string_view text);

}  // namespace plumbline
