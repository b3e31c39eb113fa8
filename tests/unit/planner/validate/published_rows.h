#pragma once
/// \file published_rows.h: rows of the catalogue by id, and the resolver that the command uses.

#include "models/measurement_catalog.h"
#include "planner/validate/resolve.h"
#include "tests/catch.h"

namespace plumbline {

[[nodiscard]] inline const std::vector<RowSet>& rows_of_catalogue() {
  static const std::vector<RowSet> sets = published_rows();
  return sets;
}

[[nodiscard]] inline const RowResolver& resolver_of_catalogue() {
  static const RowResolver resolver({row_aliases(), row_doubts()}, row_assumptions());
  return resolver;
}

/// The row and its set.
[[nodiscard]] inline std::pair<const MeasuredRow*, const RowSet*> published_row(const std::string& id) {
  for (const RowSet& set : rows_of_catalogue())
    for (const MeasuredRow& row : set.rows)
      if (row.question.id == id) return {&row, &set};
  FAIL("no published row " << id);
  return {};
}

[[nodiscard]] inline Resolution resolved_row(const std::string& id) {
  const auto [row, rows] = published_row(id);
  return resolver_of_catalogue().resolve(row->question, *rows);
}

}  // namespace plumbline
