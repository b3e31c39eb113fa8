// What a plan's run needs, and what the planner refuses before anything is executed.

#include "planner/session/compare/prepare_run.h"

#include "core/base/version.h"
#include "planner/question/fingerprint.h"
#include "planner/session/compare/compare.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

PlanRequest runnable_plan() { return written(estimate(runnable_request())); }

TEST_CASE("a prepared run holds the program of single blocks and the names of its checkpoints") {
  const auto run = prepare_run(runnable_plan());
  REQUIRE(run);
  CHECK(run->simulated.program.ranks.size() == 2);
  CHECK(std::ssize(run->simulated.replays) == std::ssize(run->asked.question.graph().sequence()));
  const std::string constants = canonical_text(run->asked.question.network().constants);
  CHECK(run->training_fingerprint == fingerprint(fingerprint(run->asked.plan) + constants));
  CHECK(run->network_fingerprint == fingerprint(run->asked.plan.model.fingerprint + constants));
}

TEST_CASE("a plan of another network than its name means now is not run") {
  PlanRequest request = runnable_plan();
  request.plan.model.fingerprint = "0000000000000000";
  const std::string now = estimate(request).plan.model.fingerprint;
  CHECK(refusal([&] { return prepare_run(request); }) ==
        "plan.json:/model/fingerprint: the network nano-llama is not the one that the plan was made for; expected "
        "fingerprint " +
            now + "; make the plan anew");
}

TEST_CASE("a run needs the memory of all its ranks here, and no more ranks than a computer has") {
  const auto run = prepare_run(runnable_plan());
  REQUIRE(run);
  const auto room = [&](std::int64_t ranks_here, Bytes memory) {
    return refusal([&] {
      require_room(*run, "plan.json", ranks_here, memory);
      return 0;
    });
  };
  Bytes all(0);
  for (const MemoryPeak& peak : run->simulated.simulation.memory) all += 2 * peak.memory.device_total();
  CHECK(room(4, all) == "accepted");
  CHECK(room(4, all - Bytes(1)).find("plan.json: the ranks here need ") == 0);
  CHECK(room(2, all - Bytes(1)) == "accepted");  // half of the ranks are on another computer
  CHECK(room(65, all) == "plan.json:/strategy: the plan has 4 ranks; expected at most 64 on this computer");
}

TEST_CASE("a record is signed with what it is a record of") {
  const Plan plan = estimate(runnable_request()).plan;
  RunRecord record;
  sign(record, plan);
  CHECK(record.program_version == program_version());
  CHECK(record.plan_fingerprint == fingerprint(plan));
  CHECK(record.model == "nano-llama");
  CHECK(record.model_fingerprint == plan.model.fingerprint);
  CHECK(record.machine == "cpu");
}

TEST_CASE("a preparation that is stopped has no answer") {
  std::stop_source source;
  source.request_stop();
  Task task;
  task.stop = source.get_token();
  CHECK(!prepare_run(runnable_plan(), task));
}

}  // namespace
}  // namespace plumbline::session
