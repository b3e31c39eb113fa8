// Rows of experts, by hand.
#include "runtime/execution/expert_routes.h"

#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Rows = std::vector<std::int64_t>;

// Two tokens, two choices, four experts on two ranks. Probabilities 1/2 1/4 1/8 1/8 and 1/8 1/8 1/4 1/2: experts 0 1
// and 3 2 with weights 2/3 1/3 each. Sorted by expert: choices 0, 1, 3, 2.
TEST_CASE("choices become rows sorted by expert") {
  const float probabilities[] = {0.5F, 0.25F, 0.125F, 0.125F, 0.125F, 0.125F, 0.25F, 0.5F};
  const ExpertRoutes routes =
      expert_routes(cpu_kernels(), dense_view(static_cast<const void*>(probabilities), NumberFormat::fp32, 2, 4), 2,
                    RouterWeights::normalised);
  CHECK(routes.experts == std::vector<std::int32_t>{0, 1, 3, 2});
  CHECK(routes.weights[0] == Approx(2.0 / 3));
  CHECK(routes.weights[3] == Approx(1.0 / 3));
  CHECK(routes.counts == Rows{1, 1, 1, 1});
  CHECK(routes.sources == Rows{0, 1, 3, 2});
  CHECK(routes.by_rank(2) == Rows{2, 2});
}

// One token, experts 3 and 2: both on the second rank.
TEST_CASE("experts that are given are weighted by their probabilities") {
  const float probabilities[] = {0.25F, 0.25F, 0.25F, 0.25F};
  const ExpertRoutes routes =
      expert_routes(cpu_kernels(), dense_view(static_cast<const void*>(probabilities), NumberFormat::fp32, 1, 4), 2,
                    RouterWeights::probability, {3, 2});
  CHECK(routes.weights == std::vector<float>{0.25F, 0.25F});
  CHECK(routes.by_rank(2) == Rows{0, 2});
}

// From rank 0 come 2 rows for expert 0 and 1 for expert 1, from rank 1 none and 2: arrivals 0 1 | 2 || 3 4.
// Sorted by expert: 0 1 | 2 3 4. With 1 and 1, 2 and 1: arrivals 0 | 1 || 2 3 | 4, sorted 0 2 3 | 1 4.
TEST_CASE("arrivals are sorted by expert, and back") {
  const ExpertArrivals first{2, 5, {2, 1, 0, 2}};
  CHECK(first.rows() == 5);
  CHECK(first.by_rank() == Rows{3, 2});
  CHECK(first.by_expert() == Rows{2, 3});
  CHECK(first.sorted() == Rows{0, 1, 2, 3, 4});
  const ExpertArrivals second{2, 5, {1, 1, 2, 1}};
  CHECK(second.sorted() == Rows{0, 2, 3, 1, 4});
  CHECK(second.unsorted() == Rows{0, 3, 1, 2, 4});
}

}  // namespace
}  // namespace plumbline
