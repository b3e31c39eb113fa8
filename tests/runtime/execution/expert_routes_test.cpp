// Rows of experts, by hand.
#include "runtime/execution/expert_routes.h"

#include "runtime/device/cpu_device.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Rows = std::vector<std::int64_t>;

// Four experts on two ranks. Of 5 choices 1 and 2 go to rank 0, 0 and 2 to rank 1. From rank 0 come 2 and 1 for this
// rank's experts, from rank 1 none and 2. Rank 0: 2 of its 5 leave, 2 come.
TEST_CASE("rows are counted by the rank that they go to and that they come from") {
  const RouteShape shape{5, 1, 4, 2, 2};
  const ExchangedRows rows = exchanged_rows({2, 0, 1, 0}, shape, Rows{1, 2, 0, 2, 2, 1, 0, 2});
  CHECK(rows.leaving == Rows{3, 2});
  CHECK(rows.arriving == Rows{3, 2});
  CHECK(rows.chosen() == 5);
  CHECK(rows.rows() == 5);
  CHECK(rows.moved() == RoutedRows{2, 2, 0, 0});
}

// Three ranks divide each of two experts, on two expert-parallel ranks: the second of the three on the second of the
// two. From its own group come 4 and 1, the others' received 2 + 0 and 3 + 3.
TEST_CASE("ranks that divide experts have the rows of all of them") {
  const RouteShape shape{3, 2, 2, 1, 6};
  const ExchangedRows rows = exchanged_rows({2, 1, 3, 1}, shape, Rows{5, 1, 2, 0, 4, 1, 3, 3});
  CHECK(Rows(rows.received().begin(), rows.received().end()) == Rows{4, 1});
  CHECK(rows.by_part() == Rows{2, 5, 6});
  CHECK(rows.rows() == 13);
  // 5 leave for the first; 4 come from it; its 5 rows go to two others, whose 8 come here.
  CHECK(rows.moved() == RoutedRows{5, 4, 10, 8});
}

TEST_CASE("in balance every rank sends as many rows to every other") {
  const ExchangedRows rows = balanced_rows({4, 0, 2, 1}, 8);
  CHECK(rows.chosen() == 8);
  CHECK(rows.rows() == 16);
  CHECK(rows.moved() == RoutedRows{6, 6, 8, 8});
}

TEST_CASE("a table of routes that is let go serves the next of its shape") {
  CpuDevice device;
  Backend backend(device);
  RouteTables tables(backend);
  const RouteShape shape{4, 2, 8, 4, 2};
  auto first = tables.take(shape);
  const auto second = tables.take(shape);
  CHECK(first->experts != second->experts);
  CHECK(first->arrivals == first->counts + 8);
  const std::int32_t* const memory = first->experts;
  first = nullptr;
  CHECK(tables.take(shape)->experts == memory);
}

}  // namespace
}  // namespace plumbline
