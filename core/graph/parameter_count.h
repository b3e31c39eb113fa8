#pragma once
/// \file parameter_count.h: how many numbers a network learns, and how many of them one token uses.
///
/// A tied parameter shares the embedding's storage and counts once; running statistics and correction buffers are no
/// parameters. Active: the parameters of routed experts count chosen / experts of them, everything else in full
/// (Fedus et al., arXiv:2101.03961, section 2; the convention of the published "A3B" figures).
/// Checked against: tests/reference/parameter_counts_test.cpp, more than 150 published networks, exact.

#include <cstdint>

#include "core/graph/graph.h"

namespace plumbline {

[[nodiscard]] std::int64_t parameter_count(const Block& block);
[[nodiscard]] std::int64_t active_parameter_count(const Block& block);
[[nodiscard]] std::int64_t parameter_count(const Graph& graph);
[[nodiscard]] std::int64_t active_parameter_count(const Graph& graph);

}  // namespace plumbline
