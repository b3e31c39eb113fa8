#pragma once
/// \file stage_split.h: which blocks of a network each pipeline chunk holds.
///
/// Rule: if the layers divide over the chunks they are split evenly, with the input block on the first chunk and the
/// output block on the last. Else if L + 2 divides, input and output blocks count as a layer each; else if L + 1
/// divides, the output block does. Otherwise the split is uneven: the chunks nearest the middle take one layer more.
/// By hand: what somebody counted out, the input block before the first chunk's layers, the output block behind the
/// last's. Splits that are found are planner/partition's.
/// Source: Megatron-LM's account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace plumbline {

/// Executions [first, last) of Graph::sequence() that one chunk holds.
struct Chunk {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const Chunk&) const = default;
};

/// Whether every chunk would hold something: at most L + (input block?) + (output block?) chunks.
[[nodiscard]] bool can_split(const Graph& graph, std::int64_t chunks);
/// Whether the rule above splits without a remainder.
[[nodiscard]] bool splits_evenly(const Graph& graph, std::int64_t chunks);
/// `chunks` consecutive ranges that cover the sequence. Requires can_split.
[[nodiscard]] std::vector<Chunk> split_into_chunks(const Graph& graph, std::int64_t chunks);
/// The same from a number of layers for each chunk, as somebody wrote it. Requires the legality rule R19.
[[nodiscard]] std::vector<Chunk> split_into_chunks(const Graph& graph, const std::vector<std::int32_t>& layers);
/// Executions of a chunk that sharding takes together: `layers` consecutive layers (the last of a run what is left),
/// any other block by itself.
[[nodiscard]] std::vector<Chunk> sharding_units(const Graph& graph, Chunk chunk, std::int32_t layers);
/// Layers per chunk, as above, from the counts alone.
[[nodiscard]] std::vector<std::int64_t> layers_per_chunk(std::int64_t layers, std::int64_t chunks, bool has_input,
                                                         bool has_output);

}  // namespace plumbline
