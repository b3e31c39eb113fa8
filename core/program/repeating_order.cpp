#include "core/program/repeating_order.h"

#include "core/program/pipeline_orders.h"

namespace plumbline {

std::int32_t repeating_period(Schedule schedule, std::int32_t pipeline_stages) {
  return order_of(schedule).period == RepeatingPeriod::pipeline_stages ? pipeline_stages : 1;
}

std::optional<std::int32_t> repeating_from(Schedule schedule, std::int32_t p) {
  const std::int32_t from = order_of(schedule).repeats_from;
  if (from == 0) return std::nullopt;
  return from * p;
}

std::optional<ShortShape> short_shape(Schedule schedule, const PipelineShape& shape, std::int32_t periods) {
  const auto from = repeating_from(schedule, shape.pipeline_stages);
  if (!from) return std::nullopt;
  const std::int64_t period = repeating_period(schedule, shape.pipeline_stages);
  const std::int64_t cut = *from + periods * period;
  // A drain that is packed anew reaches back as far as it is long.
  const std::int64_t least = cut + (order_of(schedule).drain == Drain::packed_anew ? *from : period);
  if (2 * least > shape.micro_batches) return std::nullopt;
  ShortShape result{shape, static_cast<std::int32_t>(cut)};
  result.shape.micro_batches = static_cast<std::int32_t>(least + (shape.micro_batches - least) % period);
  return result;
}

PipelineShape peak_shape(Schedule schedule, const PipelineShape& shape) {
  const auto shorter = short_shape(schedule, shape, 2);
  return shorter ? shorter->shape : shape;
}

}  // namespace plumbline
