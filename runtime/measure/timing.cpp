#include "runtime/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace plumbline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewest_runs = 5;
constexpr std::size_t most_runs = 50;
/// A batch lasts at least so long: a thousand times what reading the clock takes.
constexpr double least_batch_s = 100e-6;
constexpr int largest_batch = 10'000;

double seconds_of(const std::function<void()>& call, int times) {
  const double begin = thread_seconds();
  for (int i = 0; i < times; ++i) call();
  return std::max(thread_seconds() - begin, 1e-9);
}

/// How many calls make a batch; one call to warm up and one to see.
int batch_of(const std::function<void()>& call) {
  call();
  return std::clamp(static_cast<int>(least_batch_s / seconds_of(call, 1)), 1, largest_batch);
}

/// Of what `sample` answers: at least five times, and on until `budget` is spent or 50 times.
double median_of(const std::function<double()>& sample, Seconds budget) {
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < most_runs) {
    times.push_back(sample());
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (times.size() >= fewest_runs && spent > budget.value()) break;
  }
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Seconds median_time(const std::function<void()>& call, Seconds budget) {
  const int batch = batch_of(call);
  return Seconds(median_of([&] { return seconds_of(call, batch) / batch; }, budget));
}

std::optional<Seconds> median_difference(const std::function<void()>& with, const std::function<void()>& without,
                                         Seconds budget) {
  const int batch = std::min(batch_of(with), batch_of(without));
  const double difference =
      median_of([&] { return (seconds_of(with, batch) - seconds_of(without, batch)) / batch; }, budget);
  if (difference <= 0) return std::nullopt;
  return Seconds(difference);
}

}  // namespace plumbline
