#pragma once
/// \file v_half_grid.h: unit time slots of the ranks, in which V-Half packs its actions.
///
/// Answers: which action fills which slot; how many states the fullest rank holds.
/// Model: every action takes one slot; a slot holds one action; actions of a kind keep the order of the micro-batches.
/// Source: arXiv:2405.15362 section 3 and appendix ("squeezing"). Not modelled: unequal times, latency.
/// Checked against: tests/reference/pipeline_orders_test.cpp, through V-Half.

#include <array>
#include <cstdint>
#include <vector>

namespace plumbline::v_half {

/// In the order in which a micro-batch passes a rank. `weight` is of either chunk, first owed first served, until the
/// last step tells the chunks apart: then `weight` is of chunk 1 and `weight_0` of chunk 0.
enum Kind : std::int8_t { forward_0, forward_1, input_1, input_0, weight, weight_0, idle };
inline constexpr std::size_t kinds = 6;

/// Slots of one rank's actions: by kind, then by micro-batch.
using RankSlots = std::array<std::vector<std::int32_t>, kinds>;

/// The same, the other way round: what fills each slot.
[[nodiscard]] std::vector<Kind> filled_slots(const RankSlots& slots);

enum class WeightQueues : std::uint8_t { one, per_chunk };
/// Puts weight gradients into the first idle slots after their input gradients; chunk 1 first when told apart.
void fill_with_weight_gradients(RankSlots& slots, WeightQueues queues);

enum class WeightGradients : std::uint8_t { in_grid, in_idle_slots };
/// States held at the peak: a forward adds one, a weight gradient frees one.
[[nodiscard]] std::int32_t peak_states(const std::vector<Kind>& filled, WeightGradients weights);

}  // namespace plumbline::v_half
