#include "runtime/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace plumbline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewest = 5;
constexpr std::size_t most = 50;
/// A batch lasts at least so long: a thousand times what reading the clock takes.
constexpr double least_batch_s = 100e-6;
constexpr int largest_batch = 10'000;

double seconds_of(const std::function<void()>& call, int times) {
  const double begin = thread_seconds();
  for (int i = 0; i < times; ++i) call();
  return std::max(thread_seconds() - begin, 1e-9);
}

}  // namespace

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Seconds median_time(const std::function<void()>& call, Seconds budget) {
  call();
  const double once = std::max(seconds_of(call, 1), 1e-9);
  const int batch = std::clamp(static_cast<int>(least_batch_s / once), 1, largest_batch);
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < most) {
    times.push_back(seconds_of(call, batch) / batch);
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (times.size() >= fewest && spent > budget.value()) break;
  }
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::nth_element(times.begin(), middle, times.end());
  return Seconds(*middle);
}

}  // namespace plumbline
