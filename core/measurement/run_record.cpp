#include "core/measurement/run_record.h"

#include <algorithm>

namespace plumbline {

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t median_step_ns(const RunRecord& record) {
  std::vector<std::int64_t> times;
  for (auto i = static_cast<std::size_t>(std::max(0, record.warmup_steps)); i < record.steps.size(); ++i)
    times.push_back(record.steps[i].time_ns);
  return median(std::move(times));
}

double tokens_per_second(const RunRecord& record) {
  const std::int64_t step = median_step_ns(record);
  return step > 0 ? static_cast<double>(record.tokens_per_step) / (static_cast<double>(step) * 1e-9) : 0;
}

}  // namespace plumbline
