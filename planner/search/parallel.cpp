#include "planner/search/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace plumbline {

std::int32_t thread_count(std::int32_t asked) {
  constexpr std::int32_t most_threads = 1024;
  if (asked > 0) return std::min(asked, most_threads);
  return std::max(1, static_cast<std::int32_t>(std::thread::hardware_concurrency()));
}

bool parallel_for(std::size_t count, std::int32_t threads, const std::function<void(std::size_t)>& work,
                  const StopRequest& stop) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> is_stopped{false};
  std::mutex failure_mutex;
  std::size_t failed_index = count;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      if (is_stopped || stop.stop_requested()) {
        is_stopped = true;
        return;
      }
      try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (i < failed_index) {
          failed_index = i;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t useful = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, threads)), count);
    for (std::size_t t = 1; t < useful; ++t) helpers.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
  return !is_stopped;
}

}  // namespace plumbline
