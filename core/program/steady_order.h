#pragma once
/// \file steady_order.h: the timing of orders with very many micro-batches, from a short order's steady state.
///
/// Answers order_makespan.h's timing of a schedule, exactly, in a time that hardly grows with the micro-batches.
/// Model: an order of many micro-batches repeats a period (repeating_order.h). A short one is timed; where each rank's
/// ends of one or of some periods are those of as many periods before, all later by the same time, so are those of
/// every period more: ends depend on earlier ends alone, by sums and maxima. All numbers are integers, so that equal is
/// equal. Where no steady state is found the whole order is timed. Source: max-plus linear recurrences become periodic
/// (Baccelli et al., "Synchronization and Linearity", 1992, theorem 3.112); reference instances: docs/simulate.md. Not
/// modelled: orders of one's own. Checked against: tests/property/steady_state_test.cpp (whole orders of random times,
/// exact).

#include "core/program/order_makespan.h"

namespace plumbline {

/// Of a schedule's own order, for a shape that its legality rule allows.
[[nodiscard]] OrderTiming schedule_timing(Schedule schedule, const PipelineShape& shape, const StageTimes& times);

}  // namespace plumbline
