#pragma once
/// \file v_half_packer.h: packs V-Half's repeated building block tightly at both ends of a step.
///
/// Answers: the slots of all ranks' actions after packing, as many states held on the fullest rank as before.
/// Model: in time order, each action of the fill and of the drain moves to the first idle slot after its inputs; with
/// weight gradients in the grid both ends are packed, without them the drain only.
/// Source: arXiv:2405.15362 ("squeezing" and reordering). Not modelled: unequal times, latency.
/// Checked against: tests/reference/pipeline_orders_test.cpp, through V-Half.

#include "core/program/v_half_grid.h"

namespace plumbline::v_half {

[[nodiscard]] std::vector<RankSlots> packed(std::vector<RankSlots> ranks, WeightGradients weights);
/// The same order with every action as early as its inputs and its rank allow.
void squeeze(std::vector<RankSlots>& ranks);

}  // namespace plumbline::v_half
