#pragma once
/// \file sample_unit.h: what people call one sample of a network, and so what they count its training in.
///
/// Taken from the graph alone. Images: nothing grows with the sequence length and the input is a picture [batch,
/// channels, height, width]. Samples: networks that only encode, whose attention sees all tokens, and what has no
/// sequences and no pictures. Sequences: everything else, counted in its tokens.
/// Checked against: tests/unit/core/graph/sample_unit_test.cpp (networks of the catalogue).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/graph/graph.h"

namespace plumbline {

enum class SampleUnit : std::uint8_t { sequence, sample, image };
inline constexpr std::array all_sample_units{SampleUnit::sequence, SampleUnit::sample, SampleUnit::image};
/// "sequence", "sample", "image".
[[nodiscard]] std::string_view to_text(SampleUnit unit);
[[nodiscard]] std::optional<SampleUnit> sample_unit_from_text(std::string_view text);

[[nodiscard]] SampleUnit sample_unit(const Graph& graph);

}  // namespace plumbline
