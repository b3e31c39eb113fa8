// Padding of a rank's units among data-parallel ranks, by hand.

#include "core/cost/stage_memory.h"

#include <cstdint>

#include "tests/catch.h"

namespace plumbline {
namespace {

/// Two layers of 10 trained and 4 frozen parameters with 7 of experts, and an embedding of 5 alongside 3 others.
RankParameters small_rank() {
  RankParameters p;
  UnitParameters layer;
  layer.count = 2;
  layer.dense_trained = 10;
  layer.dense_frozen = 4;
  layer.expert_trained = 7;
  UnitParameters input;
  input.kind = BlockKind::input;
  input.dense_trained = 8;
  p.units = {layer, input};
  p.dense = {28, 8};
  p.dense_trained = {20, 8};
  p.expert = p.expert_trained = {14, 0};
  return p;
}

// Among three ranks: 10 to 12, 4 to 6, 8 to 9; experts among two: 7 to 8.
TEST_CASE("every section of a unit is padded by itself") {
  const RankParameters p = padded(small_rank(), {3, 2});
  CHECK(p.dense_trained.total() == std::int64_t{2} * 12 + 9);
  CHECK(p.dense.total() == std::int64_t{2} * (12 + 6) + 9);
  CHECK(p.expert_trained.total() == std::int64_t{2} * 8);
  CHECK(p.dense.matrix == 28);
  CHECK(padded(small_rank(), {1, 1}).total() == small_rank().total());
}

// The embedding of 5 is by itself: 5 to 6 and 3 to 3.
TEST_CASE("an embedding that another rank copies is padded by itself") {
  RankParameters copy;
  copy.tied = copy.tied_trained = 5;
  const RankParameters p = with_copied_embedding(small_rank(), copy);
  CHECK(padded(p, {3, 1}).dense_trained.total() == std::int64_t{2} * 12 + 6 + 3);
  CHECK(padded(p, {4, 1}).dense_trained.total() == std::int64_t{2} * 12 + 8 + 4);
}

TEST_CASE("a frozen copy of the embedding leaves what is trained as it is") {
  RankParameters p = small_rank();
  p.dense.other += 5;
  p.tied = 5;
  CHECK(without_tied(p).dense.other == small_rank().dense.other);
  CHECK(without_tied(p).dense_trained.other == small_rank().dense_trained.other);
}

// Two layers of 12 + 6 + 8, or one and an input of 9.
TEST_CASE("two neighbouring units are padded") {
  const WholeUnits two = whole_units(small_rank(), {3, 2});
  CHECK(two.two == std::int64_t{2} * (12 + 6 + 8));
  CHECK(two.two_trained == std::int64_t{2} * (12 + 8));
}

TEST_CASE("without prefetch the parameters of one unit are whole") {
  const WholeUnits units = whole_units(small_rank(), {3, 2});
  CHECK(units.one == 12 + 6 + 8);
  CHECK(units.gathered(ParameterPrefetch::off) == units.one);
  CHECK(units.gathered(ParameterPrefetch::on) == units.two);
}

// The input of 9 stays alongside both layers.
TEST_CASE("an embedding whose head runs in the same pass stays whole alongside two units") {
  const WholeUnits two = whole_units(with_embedding_kept(small_rank()), {3, 2});
  CHECK(two.two == 9 + 2 * (12 + 6 + 8));
  CHECK(two.two_trained == 9 + 2 * (12 + 8));
}

// Both layers: 20 to 21, 8 to 9 among three, 14 to 14 experts among two; and the input of 9.
TEST_CASE("layers of one unit are padded together") {
  RankParameters layers = small_rank();
  layers.units.pop_back();
  RankParameters p = small_rank();
  p.units.front() = one_unit(layers).units.front();
  CHECK(p.units.front().count == 1);
  CHECK(padded(p, {3, 2}).total() == 21 + 9 + 14 + 9);
  CHECK(whole_units(p, {3, 2}).one == 21 + 9 + 14);
  CHECK(whole_units(p, {3, 2}).two == 21 + 9 + 14 + 9);
  CHECK(whole_units(p, {3, 2}).two_trained == 21 + 14 + 9);
}

// Four ranks share two layers of 8 matrix elements and 2 others, padded to 12: the last holds 3 others of each, with
// two moments: the first 8 of a section are the matrices. Of an input of 8 it holds 2.
TEST_CASE("the last rank holds most of what Muon keeps") {
  RankParameters p;
  UnitParameters layer;
  layer.count = 2;
  layer.dense_trained = 10;
  layer.matrix_trained = 8;
  UnitParameters input;
  input.kind = BlockKind::input;
  input.dense_trained = 8;
  p.units = {layer, input};
  CHECK(most_states(p, Optimizer::muon, {4, 1}, {4, 1}) == 16);
  CHECK(most_states(p, Optimizer::adamw, {4, 1}, {4, 1}) == 16);
  CHECK(most_states(p, Optimizer::muon, {2, 1}, {2, 1}) == 22);
}

// Alone: 8 192 of 8 200 elements in two tensors, each state of which has a scale for every 256 codes, and room for two
// blocks that are not full: 65 (8192 + 2 * 255) / 256 values rounded up, and 8 of fp32. Of two ranks the second holds
// the others.
TEST_CASE("quantized states have room for a block of each tensor that is not full") {
  RankParameters p;
  UnitParameters layer;
  layer.dense_trained = 8'200;
  layer.dense_quantized = {8'192, 2};
  p.units = {layer};
  CHECK(most_states(p, Optimizer::adamw_8bit, {1, 1}, {1, 1}) == std::int64_t{2} * (2'210 + 8));
  CHECK(most_states(p, Optimizer::adamw_8bit, {2, 1}, {2, 1}) == std::int64_t{2} * (1'169 + 8));
}

TEST_CASE("a rank's part of all is one number rounded up, whatever its matrices") {
  const ParameterSplit part = divided({10, 2}, 4);
  CHECK(part.matrix == 3);
  CHECK(part.total() == 3);
}

}  // namespace
}  // namespace plumbline
