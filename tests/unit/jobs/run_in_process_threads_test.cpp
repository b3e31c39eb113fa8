// A plan that is run in this process: what is heard, recorded and refused.
#include "jobs/run_in_process.h"

#include <stdexcept>
#include <stop_token>
#include <vector>

#include "core/base/errors.h"
#include "core/measurement/reported_step.h"
#include "planner/session/plan_file.h"
#include "planner/session/use_case/use_case.h"
#include "runtime/run/trainer.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::jobs {
namespace {

constexpr const char* many_steps = "100000";

TrainingFlags flags_of_run(const std::string& steps) {
  TrainingFlags flags;
  std::vector<session::BoundOption> options;
  session::bind_options(options, TrainingFlags::option_table(), flags);
  for (const session::BoundOption& option : options) {
    if (option.words.flag == "--steps") option.give(steps);
    if (option.words.flag == "--generate") option.give("0");
  }
  return flags;
}

session::PlanRequest small_plan(std::int64_t ranks) {
  session::StrategyRequest request;
  request.question.model = "nano-gpt";
  request.question.machine = "cpu";
  request.question.devices = ranks;
  request.question.training.global_batch = 2;
  request.question.training.sequence_length = 32;
  return session::plan_request_of(session::plan_text(request, session::estimate(request)), "plan");
}

AskedRun small_run(const std::string& steps, std::int64_t ranks = 1) {
  return asked_run(small_plan(ranks), flags_of_run(steps));
}

/// Hears each step on a rank's thread.
Task heard_by(std::vector<ReportedStep>& steps) {
  Task task;
  task.step = [&steps](const ReportedStep& step) { steps.push_back(step); };
  return task;
}

}  // namespace

TEST_CASE("a plan is run in this process, heard step by step, and its record is signed") {
  const AskedRun asked = small_run("3", 2);
  std::vector<ReportedStep> heard;
  const auto run = run_in_process(asked, heard_by(heard));
  REQUIRE(run);
  CHECK_FALSE(run->is_stopped);
  CHECK(run->early_stop.empty());
  REQUIRE(run->record.steps.size() == 3);
  CHECK(run->record.ranks.size() == 2);
  CHECK(run->record.model == "nano-gpt");
  CHECK_FALSE(run->record.plan_fingerprint.empty());
  CHECK(run->prediction.step_time_s.expected > 0);
  REQUIRE(heard.size() == 3);
  for (std::size_t step = 0; step < heard.size(); ++step) CHECK(heard[step].step == run->record.steps[step]);
  CHECK_FALSE(is_running());
}

TEST_CASE("a run that is stopped ends behind its step and is recorded up to there") {
  std::vector<ReportedStep> heard;
  std::stop_source source;
  Task task;
  task.stop = source.get_token();
  task.step = [&](const ReportedStep& step) {
    heard.push_back(step);
    if (heard.size() == 2) source.request_stop();
  };
  const auto run = run_in_process(small_run(many_steps), task);
  REQUIRE(run);
  CHECK(run->is_stopped);
  CHECK(run->record.steps.size() == heard.size());
  CHECK(heard.size() >= 2);
  CHECK(heard.size() <= 4);
}

TEST_CASE("a run that is stopped before its first step answers nothing, and the next one runs") {
  std::stop_source source;
  source.request_stop();
  std::vector<ReportedStep> heard;
  Task task = heard_by(heard);
  task.stop = source.get_token();
  CHECK_FALSE(run_in_process(small_run("3"), task));
  CHECK(heard.empty());
  CHECK_FALSE(is_running());
  CHECK(run_in_process(small_run("1"), Task()));
}

TEST_CASE("what is thrown while a step is heard is the failure of its run, and the next one runs") {
  Task task;
  task.step = [](const ReportedStep&) { throw std::runtime_error("nobody listens"); };
  CHECK_THROWS_WITH(run_in_process(small_run("3", 2), task), Catch::Matchers::ContainsSubstring("nobody listens"));
  CHECK_FALSE(is_running());
  CHECK_THROWS_AS(run_in_process(small_run("3"), task), RunFailure);
  CHECK(run_in_process(small_run("1"), Task()));
}

TEST_CASE("a second run of a process is refused while the first goes on") {
  std::string refused;
  bool was_running = false;
  Task task;
  task.step = [&](const ReportedStep&) {
    was_running = is_running();
    refused = session::refusal([] { return run_in_process(small_run("1"), Task()); });
  };
  CHECK(run_in_process(small_run("1"), task));
  CHECK(was_running);
  CHECK(refused == "run: another run of this process has not ended; expected one at a time, or another process");
}

TEST_CASE("what a run reads of its recipe and flags is refused before it begins") {
  CHECK(session::refusal([] { return run_in_process(small_run("0"), Task()); }).find("--steps") == 0);
  CHECK_FALSE(is_running());
}

}  // namespace plumbline::jobs
