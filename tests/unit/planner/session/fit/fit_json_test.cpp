// The most that fits, as the JSON that scripts read.

#include "planner/session/fit/fit_json.h"

#include "tests/catch.h"
#include "tests/json_members.h"
#include "tests/sample_plan.h"

namespace plumbline::session {
namespace {

TEST_CASE("the most that fits is written as plumbline.fit-limits/1") {
  FitLimits answer;
  answer.request.strategy = PartialStrategy{};
  FitLimit batch{LimitKind::micro_batch, 4, sample_plan(), Beyond{5, "", "too much"}, ""};
  FitLimit model{LimitKind::model, 1, sample_plan(), Beyond{0, "larger", "too much"}, ""};
  FitLimit none{LimitKind::devices, 0, std::nullopt, Beyond{16, "", "too much"}, ""};
  batch.sure = SureLimit{3, sample_plan()};
  model.sure = SureLimit{1, sample_plan()};
  answer.limits = {batch, model, none};
  const Json json = to_json(answer);
  CHECK(keys(json) == Names{"format", "question", "limits", "complete"});
  CHECK(*at(json, "format").if_string() == fit_limits_format);
  CHECK(*at(at(json, "question"), "strategy").if_string() == "given");
  CHECK(at(at(json, "question"), "framework").is_null());
  const Json::Array& limits = *at(json, "limits").if_array();
  REQUIRE(limits.size() == 3);
  for (const Json& limit : limits) CHECK(keys(limit) == Names{"kind", "value", "plan", "sure", "beyond", "note"});
  CHECK(*at(limits[0], "value").if_integer() == 4);
  CHECK(*at(at(limits[0], "beyond"), "value").if_integer() == 5);
  CHECK(*at(at(limits[0], "sure"), "value").if_integer() == 3);
  CHECK(*at(at(limits[1], "sure"), "value").if_string() == "tiny");
  CHECK(at(limits[2], "sure").is_null());
  CHECK(*at(limits[1], "value").if_string() == "tiny");
  CHECK(*at(at(limits[1], "beyond"), "value").if_string() == "larger");
  CHECK(at(limits[2], "value").is_null());
  CHECK(at(limits[2], "plan").is_null());
  answer.request.strategy.reset();
  CHECK(*at(at(to_json(answer), "question"), "strategy").if_string() == "any");
}

}  // namespace
}  // namespace plumbline::session
