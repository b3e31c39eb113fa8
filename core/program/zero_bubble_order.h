#pragma once
/// \file zero_bubble_order.h: the common shape of ZB-H1 and ZB-H2: 1F1B with late weight gradients.
///
/// Answers: the actions of one rank, given its warm-up and the delay of its weight gradients, in micro-batches.
/// Model: warm-up forwards; then forward, input gradient and, once `delay` input gradients are ahead, weight gradient.
/// Source: arXiv:2401.10241 section 2. Not modelled: what the actions take.
/// Checked against: tests/reference/pipeline_orders_test.cpp, with both schedules.

#include "core/program/compute_schedule.h"

namespace plumbline {

[[nodiscard]] RankOrder zero_bubble_order(std::int32_t micro_batches, std::int32_t warm_up, std::int32_t delay);

}  // namespace plumbline
