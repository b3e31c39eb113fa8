#include "core/plan/pipeline_schedule.h"

#include <algorithm>

namespace plumbline {

std::int64_t chunks_in_flight(const Strategy& s, std::int32_t rank) {
  const std::int64_t p = s.pipeline_stages;
  const std::int64_t v = s.virtual_stages;
  const std::int64_t m = s.micro_batches;
  switch (s.schedule) {
    case Schedule::none: return 1;
    case Schedule::gpipe: return m * v;
    case Schedule::one_f_one_b: return std::min(m, p - rank);
    case Schedule::interleaved: return std::min((v - 1) * p + 2 * (p - 1 - rank) + 1, m * v);
  }
  return 1;
}

}  // namespace plumbline
