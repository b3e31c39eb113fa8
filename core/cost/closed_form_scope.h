#pragma once
/// \file closed_form_scope.h: for which plans the closed forms of step time and memory are more than a bound.
///
/// Model: without interleaving they are exact for the program that is simulated. Interleaved, pipeline_time.h puts the
/// mean of a rank's chunks in place of each; a chunk that is heavier than the mean (a large output head, every n-th
/// layer recomputed) or a hop that is no small part of a chunk delays ranks in ways that no mean shows.
/// Source: simulations of random legal plans; thresholds in the .cpp with what they leave.
/// Not modelled: how far off a plan out of scope is; simulate it (up to 31 % was seen).
/// Checked against: tests/property/simulation_agreement_test.cpp.

#include "core/cost/program_sizes.h"

namespace plumbline {

/// Whether step_time.h is within 5 % of the simulated step: not interleaved, or chunks alike and hops short.
[[nodiscard]] bool has_sharp_step_time(const PricedPlan& plan, const PieceTable& chunks);
/// Whether stage_memory.h is the simulated peak of a rank: all its chunks hold the same.
[[nodiscard]] bool has_sharp_memory(const PricedPlan& plan, const PieceTable& chunks, std::int32_t rank);

}  // namespace plumbline
