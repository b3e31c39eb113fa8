// Orders and counts of rows of experts, by hand.
#include "kernels/expert_routing.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

using Rows = std::vector<std::int64_t>;

Rows order_of(const Rows& counts, std::int64_t sources, std::int64_t experts, ArrivalIndex of) {
  Rows index;
  for (const std::int64_t count : counts) index.resize(index.size() + static_cast<std::size_t>(count), -1);
  reference::arrival_order({counts.data(), sources, experts, of, index.data()});
  return index;
}

// From source 0 come 2 rows for expert 0 and 1 for expert 1, from source 1 none and 2: arrivals 0 1 | 2 || 3 4.
// Sorted by expert: 0 1 | 2 3 4. With 1 and 1, 2 and 1: arrivals 0 | 1 || 2 3 | 4, sorted 0 2 3 | 1 4.
TEST_CASE("arrivals are sorted by expert, and back") {
  CHECK(order_of({2, 1, 0, 2}, 2, 2, ArrivalIndex::sorted) == Rows{0, 1, 2, 3, 4});
  CHECK(order_of({1, 1, 2, 1}, 2, 2, ArrivalIndex::sorted) == Rows{0, 2, 3, 1, 4});
  CHECK(order_of({1, 1, 2, 1}, 2, 2, ArrivalIndex::arrived) == Rows{0, 3, 1, 2, 4});
  CHECK(order_of({0, 0, 0, 0}, 2, 2, ArrivalIndex::sorted).empty());
}

TEST_CASE("the two orders of arrivals undo each other") {
  const Rows counts{3, 0, 2, 1, 4, 0, 0, 5, 2, 2, 1, 0};
  const Rows sorted = order_of(counts, 4, 3, ArrivalIndex::sorted);
  const Rows arrived = order_of(counts, 4, 3, ArrivalIndex::arrived);
  REQUIRE(sorted.size() == 20);
  for (std::size_t row = 0; row < sorted.size(); ++row)
    CHECK(arrived[static_cast<std::size_t>(sorted[row])] == static_cast<std::int64_t>(row));
}

TEST_CASE("an expert's rows are those of all sources") {
  const Rows counts{1, 2, 0, 4, 0, 3};
  Rows by_expert(3, -1);
  reference::arrival_counts({counts.data(), 2, 3, by_expert.data()});
  CHECK(by_expert == Rows{5, 2, 3});
}

// Three experts, two each: choices 8 to 13 of the batch are experts 2 0 | 1 2 | 0 1.
TEST_CASE("experts in turn go on where the token before left off") {
  std::vector<std::int32_t> experts(6, -1);
  reference::experts_in_turn({3, 4, 3, 2, experts.data()});
  CHECK(experts == std::vector<std::int32_t>{2, 0, 1, 2, 0, 1});
}

TEST_CASE("values of chosen experts are taken, and put back among zeros") {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> experts{2, 0, 1, 2};
  std::vector<float> of_choices(4);
  reference::chosen_values({values.data(), experts.data(), 2, 3, 2, of_choices.data()});
  CHECK(of_choices == std::vector<float>{3, 1, 5, 6});
  reference::spread_chosen({values.data(), experts.data(), 2, 3, 2, of_choices.data()});
  CHECK(values == std::vector<float>{1, 0, 3, 0, 5, 6});
}

}  // namespace
}  // namespace plumbline
