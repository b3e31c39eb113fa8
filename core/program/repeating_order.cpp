#include "core/program/repeating_order.h"

namespace plumbline {

std::int32_t repeating_period(Schedule schedule, std::int32_t pipeline_stages) {
  return schedule == Schedule::interleaved ? pipeline_stages : 1;
}

std::optional<std::int32_t> repeating_from(Schedule schedule, std::int32_t p) {
  switch (schedule) {
    case Schedule::gpipe: return std::nullopt;
    case Schedule::none:
    case Schedule::one_f_one_b:
    case Schedule::zb_h1: return p;
    case Schedule::zb_h2: return 2 * p;
    case Schedule::interleaved:
    case Schedule::zbv:
    case Schedule::v_half:
    case Schedule::dualpipev: return 3 * p;
  }
  return std::nullopt;
}

std::optional<ShortShape> short_shape(Schedule schedule, const PipelineShape& shape, std::int32_t periods) {
  const auto from = repeating_from(schedule, shape.pipeline_stages);
  if (!from) return std::nullopt;
  const std::int64_t period = repeating_period(schedule, shape.pipeline_stages);
  const std::int64_t cut = *from + periods * period;
  // V-Half packs its drain anew, as far back as it is long.
  const std::int64_t least = cut + (schedule == Schedule::v_half ? *from : period);
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
