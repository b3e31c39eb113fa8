#include "core/plan/stage_split.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/base/errors.h"

namespace plumbline {
namespace {

bool starts_with_input(const Graph& graph) {
  return graph.block(graph.runs().front().block).kind() == BlockKind::input;
}
bool ends_with_output(const Graph& graph) { return graph.block(graph.runs().back().block).kind() == BlockKind::output; }

/// Chunk indices, the middle first, outwards; of two equally far the earlier first.
std::vector<std::size_t> middle_first(std::size_t chunks) {
  std::vector<std::size_t> order(chunks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto distance = [&](std::size_t i) {
    return std::llabs(2 * static_cast<long long>(i) - static_cast<long long>(chunks - 1));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  return order;
}

/// Ranges of so many layers, the input block before the first and the output block behind the last.
std::vector<Chunk> with_ends(const Graph& graph, const std::vector<std::int64_t>& layers) {
  std::vector<Chunk> result;
  std::int64_t position = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t extra =
        (i == 0 && starts_with_input(graph) ? 1 : 0) + (i + 1 == layers.size() && ends_with_output(graph) ? 1 : 0);
    result.push_back({position, position + layers[i] + extra});
    position = result.back().last;
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> layers_per_chunk(std::int64_t layers, std::int64_t chunks, bool has_input, bool has_output) {
  check(chunks >= 1, "a pipeline has a chunk");
  std::vector<std::int64_t> result(static_cast<std::size_t>(chunks), layers / chunks);
  if (layers % chunks == 0) return result;
  if (has_input && has_output && (layers + 2) % chunks == 0) {
    std::fill(result.begin(), result.end(), (layers + 2) / chunks);
    --result.front();
    --result.back();
    return result;
  }
  if (has_output && (layers + 1) % chunks == 0) {
    std::fill(result.begin(), result.end(), (layers + 1) / chunks);
    --result.back();
    return result;
  }
  if (has_input && !has_output && (layers + 1) % chunks == 0) {
    std::fill(result.begin(), result.end(), (layers + 1) / chunks);
    --result.front();
    return result;
  }
  std::int64_t left = layers % chunks;
  for (const std::size_t chunk : middle_first(result.size())) {
    if (left == 0) break;
    ++result[chunk];
    --left;
  }
  return result;
}

bool can_split(const Graph& graph, std::int64_t chunks) {
  const std::int64_t fillers = (starts_with_input(graph) ? 1 : 0) + (ends_with_output(graph) ? 1 : 0);
  const std::int64_t layers = graph.layer_count();
  if (layers == 0) return chunks <= static_cast<std::int64_t>(graph.sequence().size());
  return chunks >= 1 && chunks <= layers + fillers;
}

bool splits_evenly(const Graph& graph, std::int64_t chunks) {
  const bool has_input = starts_with_input(graph);
  const bool has_output = ends_with_output(graph);
  const std::int64_t layers = graph.layer_count();
  return layers % chunks == 0 || (has_input && has_output && (layers + 2) % chunks == 0) ||
         ((has_input || has_output) && (layers + 1) % chunks == 0);
}

std::vector<Chunk> split_into_chunks(const Graph& graph, std::int64_t chunks) {
  check(can_split(graph, chunks), "the legality rules refuse more chunks than blocks");
  return with_ends(graph,
                   layers_per_chunk(graph.layer_count(), chunks, starts_with_input(graph), ends_with_output(graph)));
}

std::vector<Chunk> split_into_chunks(const Graph& graph, const std::vector<std::int32_t>& layers) {
  check(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}) == graph.layer_count(),
        "the legality rules refuse other numbers of layers");
  return with_ends(graph, {layers.begin(), layers.end()});
}

std::vector<Chunk> sharding_units(const Graph& graph, Chunk chunk, std::int32_t layers) {
  const std::vector<BlockId> sequence = graph.sequence();
  std::vector<Chunk> units;
  bool takes_more = false;
  for (std::int64_t e = chunk.first; e < chunk.last; ++e) {
    const bool is_layer = graph.block(sequence[static_cast<std::size_t>(e)]).kind() == BlockKind::layer;
    if (is_layer && takes_more)
      units.back().last = e + 1;
    else
      units.push_back({e, e + 1});
    takes_more = is_layer && units.back().last - units.back().first < layers;
  }
  return units;
}

}  // namespace plumbline
