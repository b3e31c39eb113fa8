#include "core/plan/stage_split.h"

#include <numeric>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

using Layers = std::vector<std::int64_t>;

Layers with_both(std::int64_t layers, std::int64_t chunks) { return layers_per_chunk(layers, chunks, true, true); }

TEST_CASE("layers that divide over the chunks are split evenly, embedding and head on top") {
  CHECK(with_both(32, 4) == Layers{8, 8, 8, 8});
  // 30 + 2 divides too, but 30 over 2 comes first.
  CHECK(with_both(30, 2) == Layers{15, 15});
  const std::vector<Chunk> chunks = split_into_chunks(gpt({8, 64, 4, 128, 32}), 4);
  CHECK(chunks == std::vector<Chunk>{{0, 3}, {3, 5}, {5, 7}, {7, 10}});
}

// Llama-3.1 405B: 126 layers over 16 stages; 128 = 16 x 8, so the first and the last stage hold 7.
TEST_CASE("where L + 2 divides, embedding and head count as a layer each") {
  Layers expected(16, 8);
  expected.front() = expected.back() = 7;
  CHECK(with_both(126, 16) == expected);
}

TEST_CASE("where only L + 1 divides, the head counts as a layer") {
  CHECK(with_both(31, 4) == Layers{8, 8, 8, 7});
  CHECK(layers_per_chunk(31, 4, false, true) == Layers{8, 8, 8, 7});
}

TEST_CASE("without a head the embedding counts as the layer") {
  CHECK(layers_per_chunk(31, 4, true, false) == Layers{7, 8, 8, 8});
}

// 61 layers (DeepSeek-V3) over 16: 61, 62 and 63 do not divide; 61 = 16 x 3 + 13.
TEST_CASE("any other count is split unevenly: the chunks in the middle take one more") {
  CHECK(with_both(9, 4) == Layers{2, 3, 2, 2});
  CHECK(with_both(12, 5) == Layers{2, 3, 3, 2, 2});  // of two equally far from the middle the earlier
  const Layers uneven = with_both(61, 16);
  CHECK(std::accumulate(uneven.begin(), uneven.end(), std::int64_t{0}) == 61);
  CHECK(*std::min_element(uneven.begin(), uneven.end()) == 3);
  CHECK(*std::max_element(uneven.begin(), uneven.end()) == 4);
  CHECK(uneven.front() == 3);
  CHECK(uneven.back() == 3);
}

TEST_CASE("a split is even where L, L + 1 or L + 2 divides") {
  for (std::int64_t layers = 1; layers <= 30; ++layers)
    for (std::int64_t chunks = 1; chunks <= layers + 2; ++chunks) {
      const bool divides = layers % chunks == 0 || (layers + 1) % chunks == 0 || (layers + 2) % chunks == 0;
      CAPTURE(layers, chunks);
      CHECK(splits_evenly(gpt({layers, 64, 4, 128, 32}), chunks) == divides);
    }
}

TEST_CASE("a chunk may hold only the embedding or only the head") {
  const Graph graph = gpt({2, 64, 4, 128, 32});
  CHECK(can_split(graph, 4));
  CHECK(split_into_chunks(graph, 4) == std::vector<Chunk>{{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  CHECK_FALSE(can_split(graph, 5));
  CHECK_FALSE(can_split(graph, 0));
}

TEST_CASE("no count of chunks that leaves none empty is refused, and every split covers the network once") {
  for (std::int64_t layers = 1; layers <= 40; ++layers) {
    const Graph graph = gpt({layers, 64, 4, 128, 32});
    for (std::int64_t count = 1; count <= layers + 2; ++count) {
      CAPTURE(layers, count);
      REQUIRE(can_split(graph, count));
      const std::vector<Chunk> chunks = split_into_chunks(graph, count);
      REQUIRE(static_cast<std::int64_t>(chunks.size()) == count);
      std::int64_t position = 0;
      for (const Chunk& chunk : chunks) {
        REQUIRE(chunk.first == position);
        REQUIRE(chunk.last > chunk.first);
        position = chunk.last;
      }
      REQUIRE(position == layers + 2);
    }
    REQUIRE_FALSE(can_split(graph, layers + 3));
  }
}

TEST_CASE("layers counted out by hand stand between the input and the output block") {
  const Graph graph = gpt({8, 64, 4, 128, 32});
  CHECK(split_into_chunks(graph, std::vector<std::int32_t>{3, 5}) == std::vector<Chunk>{{0, 4}, {4, 10}});
  CHECK(split_into_chunks(graph, std::vector<std::int32_t>{0, 7, 1}) == std::vector<Chunk>{{0, 1}, {1, 8}, {8, 10}});
  CHECK_THROWS_AS(split_into_chunks(graph, std::vector<std::int32_t>{3, 4}), InternalError);
}

TEST_CASE("splitting into more chunks than blocks is our bug, not a result") {
  CHECK_THROWS_AS(split_into_chunks(gpt({2, 64, 4, 128, 32}), 5), InternalError);
}

// An embedding, five layers, a head: 0, 1-2, 3-4, 5, 6. The second half of the layers alone: 3-4, 5, 6.
TEST_CASE("units take consecutive layers of a chunk, the last what is left, and other blocks by themselves") {
  const Graph graph = gpt({5, 64, 4, 128, 32});
  CHECK(sharding_units(graph, {0, 7}, 1).size() == 7);
  CHECK(sharding_units(graph, {0, 7}, 2) == std::vector<Chunk>{{0, 1}, {1, 3}, {3, 5}, {5, 6}, {6, 7}});
  CHECK(sharding_units(graph, {0, 7}, 5) == std::vector<Chunk>{{0, 1}, {1, 6}, {6, 7}});
  CHECK(sharding_units(graph, {3, 7}, 2) == std::vector<Chunk>{{3, 5}, {5, 6}, {6, 7}});
  CHECK(sharding_units(graph, {3, 3}, 2).empty());
}

}  // namespace
}  // namespace plumbline
