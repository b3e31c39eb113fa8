#pragma once
/// \file repeating_order.h: orders of many micro-batches as short ones in whose middle a period is repeated.
///
/// Answers, in micro-batches, from where on a schedule's order repeats itself and how long a period is: an order of m
/// micro-batches is that of m - n periods with n periods more before the forward that `cut` names, each the one before
/// it with later micro-batches. Model: the steady part of every schedule but GPipe, whose forwards and backwards repeat
/// apart. Source: the orders (pipeline_orders.h). Not modelled: orders that were read from a file.
/// Checked against: tests/property/repeating_order_test.cpp (all schedules, every rank, action by action).

#include <optional>
#include <vector>

#include "core/program/compute_schedule.h"

namespace plumbline {

/// Micro-batches after which the order of a schedule repeats itself.
[[nodiscard]] std::int32_t repeating_period(Schedule schedule, std::int32_t pipeline_stages);
/// The first micro-batch whose forwards are in the repeating part on every rank; nothing: there is no such part.
[[nodiscard]] std::optional<std::int32_t> repeating_from(Schedule schedule, std::int32_t pipeline_stages);

/// A shape of fewer micro-batches, and the micro-batch before whose first forward periods were taken out.
struct ShortShape {
  PipelineShape shape;
  std::int32_t cut = 0;
};
/// With `periods` periods before the cut; nothing where that is no shorter than half of `shape`.
[[nodiscard]] std::optional<ShortShape> short_shape(Schedule schedule, const PipelineShape& shape,
                                                    std::int32_t periods);
/// A shape whose order holds as much at its peaks as that of `shape`, to the byte: itself, or a shorter one.
[[nodiscard]] PipelineShape peak_shape(Schedule schedule, const PipelineShape& shape);

}  // namespace plumbline
