// Orders that are asked for by many threads at once.

#include "core/program/order_memo.h"

#include <thread>

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("a remembered order is the schedule's own, whoever asked for it first") {
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&right, t] {
      // Forty orders of up to 8 x 400 x 3 actions, over and over: more than one thread makes each.
      for (std::int32_t n = 0; n < 120; ++n) {
        const PipelineShape shape{8, 1, 361 + n % 40};
        const auto order = checked_order(Schedule::zb_h1, shape);
        if (order->schedule == compute_schedule(Schedule::zb_h1, shape)) ++right[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 120));
}

TEST_CASE("orders are forgotten when there are too many, and kept by those who hold them") {
  const PipelineShape first{4, 1, 20'000};
  const auto held = checked_order(Schedule::zb_h2, first);  // 240 000 actions
  CHECK(checked_order(Schedule::zb_h2, first) == held);
  for (std::int32_t n = 1; n <= 10; ++n) (void)checked_order(Schedule::zb_h2, {4, 1, 20'000 + n});
  const auto again = checked_order(Schedule::zb_h2, first);
  CHECK(again != held);
  CHECK(again->schedule == held->schedule);
}

}  // namespace
}  // namespace plumbline
