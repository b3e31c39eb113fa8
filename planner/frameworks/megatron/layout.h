#pragma once
/// \file layout.h: layers of pipeline chunks as Megatron-Core spells them: "Et|(t|)*2t|tL".
///
/// E is the embedding, t a decoder layer, m a layer of multi-token prediction, L the loss, '|' parts two stages, "*n"
/// repeats the letter or the brackets before it, ',' means nothing.
/// Source: megatron/core/transformer/pipeline_parallel_layer_layout.py of the revision that the record names.
/// Checked against: tests/unit/planner/frameworks/megatron/layout_test.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::megatron {

[[nodiscard]] std::string layout_text(const std::vector<std::int32_t>& layers);
/// Throws InputError (what, expected) for a text that is no layout, or one of more than 100 000 letters.
[[nodiscard]] std::vector<std::int32_t> layers_from_layout(std::string_view layout);

}  // namespace plumbline::megatron
