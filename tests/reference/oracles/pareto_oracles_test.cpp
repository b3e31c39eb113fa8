// Pareto filters against fronts found by definition.

#include "planner/pareto/front.h"
#include "tests/catch.h"
#include "tests/reference/oracles/instances.h"

namespace plumbline {
namespace {

template <std::size_t N>
std::vector<std::size_t> front_of(const std::vector<std::vector<std::int64_t>>& points) {
  std::vector<ParetoPoint<N>> fixed;
  for (const auto& point : points) {
    fixed.emplace_back();
    std::copy(point.begin(), point.end(), fixed.back().begin());
  }
  std::vector<std::size_t> front = pareto_front(fixed);
  std::sort(front.begin(), front.end());
  return front;
}

TEST_CASE("fronts of points in two and three dimensions are those of the definition") {
  CHECK(for_each_instance("pareto", [](JsonObject& row) {
          const auto points = lists_at(row, "points");
          const std::vector<std::int64_t> solved = counts_at(row, "front");
          INFO(row.at("id").string());
          const auto front = points.front().size() == 2 ? front_of<2>(points) : front_of<3>(points);
          CHECK(front == std::vector<std::size_t>(solved.begin(), solved.end()));
        }) == 2);
}

TEST_CASE("of equal points the first stays") {
  CHECK(pareto_front<2>({{2, 1}, {1, 2}, {1, 2}, {2, 1}}) == std::vector<std::size_t>{1, 0});
}

}  // namespace
}  // namespace plumbline
