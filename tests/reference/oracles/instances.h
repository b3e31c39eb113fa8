#pragma once
/// \file instances.h: the solved instances of one kind (tests/data/planner_oracles.json).

#include <numeric>
#include <optional>

#include "core/quantity/quantity.h"
#include "tests/test_rows.h"

namespace plumbline {

/// Calls `test(row)` for every instance of `kind`; returns how many there are.
template <class Test>
std::size_t for_each_instance(std::string_view kind, Test test) {
  TestRows file("planner_oracles.json");
  std::size_t count = 0;
  for (JsonObject& row : file.rows()) {
    if (row.at("kind").string() != kind) continue;
    ++count;
    test(row);
  }
  return count;
}

[[nodiscard]] inline std::vector<std::vector<std::int64_t>> lists_at(JsonObject& row, std::string_view key) {
  std::vector<std::vector<std::int64_t>> lists;
  for (const JsonPlace& list : row.at(key).elements()) {
    lists.emplace_back();
    for (const JsonPlace& element : list.elements()) lists.back().push_back(element.integer(0, std::int64_t{1} << 62));
  }
  return lists;
}
[[nodiscard]] inline std::vector<std::int32_t> small_counts_at(JsonObject& row, std::string_view key) {
  const std::vector<std::int64_t> counts = counts_at(row, key);
  return {counts.begin(), counts.end()};
}
/// Nothing where the instance says null: no solution.
[[nodiscard]] inline std::optional<std::int64_t> solved_at(JsonObject& row, std::string_view key) {
  const auto place = row.find(key);
  return place ? std::optional(place->integer(0, std::int64_t{1} << 62)) : std::nullopt;
}

}  // namespace plumbline
