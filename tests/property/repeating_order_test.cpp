// Orders of many micro-batches are short ones in whose middle a period is repeated.

#include "core/program/repeating_order.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/schedules.h"

namespace plumbline {
namespace {

std::ptrdiff_t first_forward(const RankOrder& order, std::int32_t micro_batch) {
  const auto found = std::find_if(order.begin(), order.end(), [&](const ComputeAction& a) {
    return a.kind == ActionKind::forward && a.chunk == 0 && a.micro_batch == micro_batch;
  });
  return found - order.begin();
}

/// The order with `periods` periods of `period` micro-batches more before the cut.
RankOrder repeated(const RankOrder& order, std::int32_t cut, std::int32_t period, std::int32_t periods) {
  const std::ptrdiff_t at = first_forward(order, cut);
  const std::ptrdiff_t length = at - first_forward(order, cut - period);
  RankOrder result(order.begin(), order.begin() + at);
  for (std::int32_t n = 1; n <= periods; ++n)
    for (std::ptrdiff_t i = at - length; i < at; ++i) {
      result.push_back(order[static_cast<std::size_t>(i)]);
      result.back().micro_batch += n * period;
    }
  for (auto i = static_cast<std::size_t>(at); i < order.size(); ++i) {
    result.push_back(order[i]);
    result.back().micro_batch += periods * period;
  }
  return result;
}

TEST_CASE("the order of many micro-batches is a short one in whose middle a period is repeated") {
  int shapes = 0;
  for (const Schedule schedule : all_schedules)
    for (std::int32_t p = schedule == Schedule::none ? 1 : 2; p <= (schedule == Schedule::none ? 1 : 9); ++p)
      for (const std::int32_t v : {1, 2, 3})
        for (const std::int32_t m : {12 * p, 13 * p, 14 * p + 1, 19 * p + 3, 24 * p + 7}) {
          if (schedule_fault(schedule, p, v, m)) continue;
          const PipelineShape shape{p, v, m};
          const auto shorter = short_shape(schedule, shape, 2);
          if (!shorter) continue;
          CAPTURE(to_text(schedule), p, v, m);
          const ComputeSchedule whole = compute_schedule(schedule, shape);
          const ComputeSchedule part = compute_schedule(schedule, shorter->shape);
          const std::int32_t period = repeating_period(schedule, p);
          REQUIRE((m - shorter->shape.micro_batches) % period == 0);
          const std::int32_t periods = (m - shorter->shape.micro_batches) / period;
          for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
            CAPTURE(rank);
            CHECK((repeated(part.ranks[rank], shorter->cut, period, periods) == whole.ranks[rank]));
          }
          ++shapes;
        }
  CHECK(shapes > 150);
}

}  // namespace
}  // namespace plumbline
