// Which runs a fit reads: none that are held out.
#include "planner/calibrate/fit_run.h"

#include <algorithm>
#include <set>
#include <string>

#include "planner/calibrate/source_rules.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::fit_run_test {
namespace {

RunSet set_named(const std::string& name) {
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == name) return set;
  FAIL("no set " << name);
  return {};
}

TEST_CASE("a fit with a file that is held out reads the runs that it reads without it") {
  const RunSet karpathy = set_named("karpathy");
  RunSet bubble = set_named("zero_bubble");
  const std::size_t with_both = fit_runs({karpathy, bubble}, resolver_of_catalogue()).runs.size();
  bubble.held_out = true;
  const FitRuns alone = fit_runs({karpathy}, resolver_of_catalogue());
  const FitRuns held_out = fit_runs({karpathy, bubble}, resolver_of_catalogue());
  CHECK(with_both > alone.runs.size());
  REQUIRE(held_out.runs.size() == alone.runs.size());
  for (std::size_t i = 0; i < alone.runs.size(); ++i) {
    CHECK(held_out.runs[i].id == alone.runs[i].id);
    CHECK(held_out.runs[i].measured_s == alone.runs[i].measured_s);
  }
  CHECK(held_out.skipped.size() > alone.skipped.size());
  CHECK(held_out.skipped.back().reason == "its file is held out of every fit");
}

TEST_CASE("official benchmarks and public reports are held out, and no fit of what ships reads them") {
  std::set<std::string> held_out;
  std::size_t runs = 0;
  for (const RunSet& set : rows_of_catalogue()) {
    const bool is_outside = set.name.starts_with("mlperf_") || set.name.starts_with("public_reports_");
    CAPTURE(set.name);
    CHECK(set.held_out == is_outside);
    if (!set.held_out) continue;
    held_out.insert(set.name);
    runs += set.runs.size();
    for (const MeasuredRun& run : set.runs) CHECK_FALSE(run.source.empty());
  }
  CHECK(held_out.size() == 14);
  CHECK(runs == 137);
  for (const FitRun& run : fit_runs(rows_of_catalogue(), resolver_of_catalogue()).runs)
    CHECK_FALSE(held_out.contains(run.source));
}

// Only llm_foundry has runs of llm-foundry; a copy of it that is held out keeps no rule of the framework alive.
TEST_CASE("a rule that only a held-out file needs besides is left out with its source") {
  RunSet copy = set_named("llm_foundry");
  copy.name = "copy";
  const auto rules = [&](bool held_out) {
    copy.held_out = held_out;
    std::vector<RunSet> sets = rows_of_catalogue();
    sets.push_back(copy);
    return without_rules_for(run_assumptions(), "llm_foundry", sets).rules.size();
  };
  const std::size_t without_copy =
      without_rules_for(run_assumptions(), "llm_foundry", rows_of_catalogue()).rules.size();
  CHECK(rules(false) > without_copy);
  CHECK(rules(true) == without_copy);
}

}  // namespace
}  // namespace plumbline::fit_run_test
