#include "planner/search/level_split.h"

#include <algorithm>

#include "core/plan/pipeline_schedule.h"
#include "core/plan/stage_split.h"
#include "planner/question/noise.h"

namespace plumbline {
namespace {

/// Faster by more than repetitions of one run differ.
bool is_faster(Picoseconds one, Picoseconds other) {
  return static_cast<double>(one.value()) * (1 + repeated_run_noise) < static_cast<double>(other.value());
}

/// Moves layers between the chunks of one split.
class Leveller {
 public:
  Leveller(const LayerTimes& times, const Strategy& s, const ChunkLayers& layers)
      : times_(times), layers_(layers), ranks_(static_cast<std::size_t>(s.pipeline_stages)) {
    rank_of_.reserve(layers.size());
    for (std::int32_t chunk = 0; chunk < static_cast<std::int32_t>(layers.size()); ++chunk)
      rank_of_.push_back(static_cast<std::size_t>(rank_of_stage(placement(s.schedule), s.pipeline_stages, chunk)));
    count();
  }

  [[nodiscard]] Picoseconds slowest() const { return *std::max_element(ranks_.begin(), ranks_.end()); }
  [[nodiscard]] const ChunkLayers& layers() const { return layers_; }

  /// Whether moving one layer has shortened the slowest rank, without another becoming as slow.
  bool move_one() {
    const auto [from_rank, to_rank] = ends_of_move();
    const std::optional<std::size_t> from = slowest_chunk(from_rank);
    if (!from || from_rank == to_rank) return false;
    const std::size_t to = fastest_chunk(to_rank);
    const Picoseconds before = ranks_[from_rank];
    shift(*from, to);
    const bool is_better = ranks_[from_rank] < before && ranks_[to_rank] < before && slowest() <= before;
    if (!is_better) shift(to, *from);
    return is_better;
  }

 private:
  struct Move {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  /// The slowest rank, and the fastest; of equals the last.
  [[nodiscard]] Move ends_of_move() const {
    Move move;
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      if (ranks_[rank] >= ranks_[move.from]) move.from = rank;
      if (ranks_[rank] <= ranks_[move.to]) move.to = rank;
    }
    return move;
  }
  [[nodiscard]] std::int32_t fewest(std::size_t chunk) const {
    if (chunk + 1 == layers_.size()) return times_.fewest_of_last();
    return chunk == 0 ? times_.fewest_of_first() : 1;
  }
  [[nodiscard]] std::optional<std::size_t> slowest_chunk(std::size_t rank) const {
    std::optional<std::size_t> slowest;
    for (std::size_t chunk = 0; chunk < layers_.size(); ++chunk)
      if (rank_of_[chunk] == rank && layers_[chunk] > fewest(chunk) &&
          (!slowest || chunks_[chunk] >= chunks_[*slowest]))
        slowest = chunk;
    return slowest;
  }
  [[nodiscard]] std::size_t fastest_chunk(std::size_t rank) const {
    std::optional<std::size_t> fastest;
    for (std::size_t chunk = 0; chunk < layers_.size(); ++chunk)
      if (rank_of_[chunk] == rank && (!fastest || chunks_[chunk] <= chunks_[*fastest])) fastest = chunk;
    return fastest.value();
  }
  void shift(std::size_t from, std::size_t to) {
    --layers_[from];
    ++layers_[to];
    count();
  }
  void count() {
    chunks_.assign(layers_.size(), Picoseconds(0));
    std::fill(ranks_.begin(), ranks_.end(), Picoseconds(0));
    std::int32_t first = 0;
    for (std::size_t chunk = 0; chunk < layers_.size(); ++chunk) {
      Picoseconds& own = chunks_[chunk];
      own = times_.of(first, first + layers_[chunk]);
      if (chunk == 0) own += times_.before();
      if (chunk + 1 == layers_.size()) own += times_.behind();
      ranks_[rank_of_[chunk]] += own;
      first += layers_[chunk];
    }
  }

  const LayerTimes& times_;
  ChunkLayers layers_;
  std::vector<std::size_t> rank_of_;  ///< by chunk
  std::vector<Picoseconds> chunks_;
  std::vector<Picoseconds> ranks_;
};

}  // namespace

ChunkLayers even_layers(const Graph& graph, std::int64_t chunks) {
  const std::vector<BlockId> sequence = graph.sequence();
  ChunkLayers layers;
  for (const Chunk& chunk : split_into_chunks(graph, chunks)) {
    layers.push_back(0);
    for (std::int64_t i = chunk.first; i < chunk.last; ++i)
      if (graph.block(sequence[static_cast<std::size_t>(i)]).kind() == BlockKind::layer) ++layers.back();
  }
  return layers;
}

LayerTimes::LayerTimes(const Graph& graph, const std::vector<BlockCost>& blocks) : sums_{Picoseconds(0)} {
  for (const BlockId id : graph.sequence()) {
    const BlockCost& block = blocks[static_cast<std::size_t>(id.index())];
    const Picoseconds time = block.forward.total() + block.backward.total();
    const BlockKind kind = graph.block(id).kind();
    if (kind == BlockKind::layer) sums_.push_back(sums_.back() + time);
    if (kind == BlockKind::input) before_ += time, has_input_ = true;
    if (kind == BlockKind::output) behind_ += time, has_output_ = true;
  }
}

std::optional<ChunkLayers> level_split(const LayerTimes& times, const Strategy& s, const ChunkLayers& even) {
  if (s.pipeline_stages < 2) return std::nullopt;
  Leveller leveller(times, s, even);
  const Picoseconds slowest = leveller.slowest();
  // No split is faster than work that is divided without a remainder.
  if (!is_faster(times.total() / std::int64_t{s.pipeline_stages}, slowest)) return std::nullopt;
  while (leveller.move_one()) {
  }
  if (!is_faster(leveller.slowest(), slowest)) return std::nullopt;
  return leveller.layers();
}

}  // namespace plumbline
