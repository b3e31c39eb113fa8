// The numbers of the timeline are those that `plan simulate --json` prints.
#include "gui/pages/timeline/timeline_data.h"

#include "core/io/simulation_json.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

TEST_CASE("stages, peaks and idle times of the timeline are the command line's") {
  const SharedPlan plan = priced(pipelined());
  const SharedTimeline timeline = timeline_data(plan);
  REQUIRE(timeline);
  const auto answer = session::simulate(plan->answer);
  REQUIRE(answer);
  const Json json =
      to_json(answer->simulated.program, answer->simulated.simulation, session::setting_of(plan->answer, *answer));
  const Json::Array& stages = *json.find("stages")->if_array();
  const present::Table table = stage_table(*timeline);
  REQUIRE(table.rows.size() == stages.size());
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const Json& peak = *stages[stage].find("peak");
    const std::vector<present::Cell>& row = table.rows[stage];
    CHECK(*row[1].number * 1024 * 1024 * 1024 ==
          Approx(static_cast<double>(*peak.find("bytes")->if_integer())).epsilon(1e-12));
    CHECK(*row[2].number == Approx(1e3 * *peak.find("at_s")->if_double()));
    CHECK(row[3].text == *peak.find("action")->if_string());
    CHECK(*row[4].number == Approx(1e3 * *stages[stage].find("idle_s")->if_double()));
  }
  CHECK(to_seconds(timeline->simulation().step()).value() == *json.find("step_time_s")->if_double());
}

TEST_CASE("a device's usable memory is without the headroom asked for") {
  AskedPlan asked = pipelined();
  const SharedTimeline timeline = timeline_data(priced(asked));
  REQUIRE(timeline->capacity.size() == 4);
  for (const Bytes capacity : timeline->capacity) CHECK(capacity == timeline->plan->answer.question.capacity());
}

TEST_CASE("work that is stopped has no timeline") {
  Task task;
  task.stop = StopRequest([] { return true; });
  CHECK(timeline_data(priced(pipelined()), task) == nullptr);
}

}  // namespace
}  // namespace plumbline::gui
