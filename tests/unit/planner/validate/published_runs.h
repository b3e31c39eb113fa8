#pragma once
/// \file published_runs.h: runs of the catalogue by id, and the resolver that the command uses.

#include "models/measurement_catalog.h"
#include "planner/validate/resolve.h"
#include "tests/catch.h"

namespace plumbline {

[[nodiscard]] inline const std::vector<RunSet>& rows_of_catalogue() {
  static const std::vector<RunSet> sets = published_runs();
  return sets;
}

[[nodiscard]] inline const RunResolver& resolver_of_catalogue() {
  static const RunResolver resolver({run_aliases()}, run_assumptions());
  return resolver;
}

/// The run and its set.
[[nodiscard]] inline std::pair<const MeasuredRun*, const RunSet*> published_row(const std::string& id) {
  for (const RunSet& set : rows_of_catalogue())
    for (const MeasuredRun& run : set.runs)
      if (run.question.id == id) return {&run, &set};
  FAIL("no published run " << id);
  return {};
}

[[nodiscard]] inline Resolution resolved_row(const std::string& id) {
  const auto [run, runs] = published_row(id);
  return resolver_of_catalogue().resolve(run->question, *runs);
}

}  // namespace plumbline
