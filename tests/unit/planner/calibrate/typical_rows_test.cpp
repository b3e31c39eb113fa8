#include "planner/calibrate/typical_rows.h"

#include <limits>
#include <set>

#include "tests/catch.h"
#include "tests/unit/planner/validate/published_rows.h"

using namespace plumbline;

namespace {

std::vector<FitRow> rows_of(const std::string& source) {
  std::vector<RowSet> sets;
  for (const RowSet& set : rows_of_catalogue())
    if (set.name == source) sets.push_back(set);
  return fit_rows(sets, resolver_of_catalogue()).rows;
}

std::vector<std::size_t> all_of(const std::vector<FitRow>& rows) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(i);
  return all;
}

double least_of_all_choices(const std::vector<FitRow>& rows, const std::vector<std::size_t>& all) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = a + 1; b < rows.size(); ++b)
      for (std::size_t c = b + 1; c < rows.size(); ++c)
        least = std::min(least, distance_to_nearest(rows, all, {a, b, c}));
  return least;
}

}  // namespace

TEST_CASE("No other three rows stand for a source better") {
  for (const char* source : {"korthikanti2022_calculon", "zero_bubble"}) {
    const std::vector<FitRow> rows = rows_of(source);
    REQUIRE(rows.size() > 5);
    const std::vector<std::size_t> all = all_of(rows);
    const double found = distance_to_nearest(rows, all, typical_rows(rows, all, 3));
    // Swaps one at a time end where no single swap helps: as good as the best choice, or nearly.
    CHECK(found <= 1.05 * least_of_all_choices(rows, all));
  }
}

TEST_CASE("Typical rows differ from each other and are chosen without their measurements") {
  std::vector<FitRow> rows = rows_of("zero_bubble");
  const std::vector<std::size_t> all = all_of(rows);
  const std::vector<std::size_t> chosen = typical_rows(rows, all, 3);
  CHECK(std::set<std::size_t>(chosen.begin(), chosen.end()).size() == 3);
  for (FitRow& row : rows) row.measured_s *= row.id.size() % 2 == 0 ? 7 : 0.1;
  CHECK(typical_rows(rows, all, 3) == chosen);
  CHECK(typical_rows(rows, {4, 2}, 3) == std::vector<std::size_t>{4, 2});
}
