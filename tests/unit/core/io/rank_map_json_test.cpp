// The places of a plan's ranks as JSON.

#include "core/io/rank_map_json.h"

#include "core/plan/rank_map.h"
#include "tests/catch.h"
#include "tests/sample_plan.h"

namespace plumbline {
namespace {

TEST_CASE("every rank has its host, device and coordinate on each axis") {
  const Plan plan = sample_plan();
  const Json json = ranks_json(plan);
  const std::vector<RankPlace> places = rank_map(plan.layout, plan.machine);
  REQUIRE(json.if_array()->size() == places.size());
  REQUIRE(places.size() == 16);
  // Rank 9 of 16 on hosts of 8: the second device of the second host; tensor 9 mod 2, pipeline 9 / 8.
  const Json& ninth = json.if_array()->at(9);
  CHECK(*ninth.find("host")->if_integer() == 1);
  CHECK(*ninth.find("device")->if_integer() == 1);
  CHECK(*ninth.find("coordinates")->find("tensor")->if_integer() == 1);
  CHECK(*ninth.find("coordinates")->find("pipeline")->if_integer() == 1);
}

TEST_CASE("a plan with ranks is still read as the plan") {
  const Json json = plan_with_ranks_json(sample_plan());
  CHECK(json.if_object()->back().first == "ranks");
  CHECK(plan_from_json(JsonPlace(json, "p.json:")).strategy == sample_plan().strategy);
}

}  // namespace
}  // namespace plumbline
