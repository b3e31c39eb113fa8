// One's own calibration as a use-case: the same as the fit beneath it, followed, stopped, refused in the flags' words.
#include "planner/session/calibrate/calibrate.h"

#include <algorithm>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::session {
namespace {

/// The first runs of a published source that have times.
CalibrationRequest request_of(std::size_t count) {
  CalibrationRequest request;
  for (RunSet set : rows_of_catalogue()) {
    if (set.name != "zero_bubble") continue;
    REQUIRE(set.runs.size() >= count);
    set.runs.erase(set.runs.begin() + static_cast<std::ptrdiff_t>(count), set.runs.end());
    request.runs = {set};
  }
  return request;
}

TEST_CASE("the answer is what the fit of these runs finds, under the name that was asked for", "[session]") {
  CalibrationRequest request = request_of(6);
  request.name = "mine";
  std::vector<std::int64_t> iterations;
  Task task;
  task.progress = [&](const TaskProgress& now) {
    CHECK(now.phase == "fit");
    CHECK(now.done <= now.total);
    iterations.push_back(now.done);
  };
  const PreparedCalibration prepared = prepare_calibration(request);
  const CalibrationAnswer answer = calibrate(prepared, task);
  CHECK(answer.complete);
  CHECK(answer.found.stack.name == "mine");
  CHECK_FALSE(iterations.empty());
  OwnRunsOptions options;
  options.name = "mine";
  const OwnCalibration direct = calibrate_on(prepared.runs, options);
  REQUIRE(answer.found.runs.size() == direct.runs.size());
  for (std::size_t i = 0; i < direct.runs.size(); ++i) CHECK(answer.found.runs[i].fitted_s == direct.runs[i].fitted_s);
  CHECK(answer.found.sigma == direct.sigma);
}

TEST_CASE("a calibration that was stopped says that it is none", "[session]") {
  Task task;
  task.stop = StopRequest([] { return true; });
  CHECK_FALSE(calibrate(prepare_calibration(request_of(3)), task).complete);
}

TEST_CASE("what cannot be fitted is refused in the words of the flags", "[session]") {
  CalibrationRequest request = request_of(3);
  request.device = "A100-SXM-80G";
  CHECK_THROWS_WITH(calibrate(prepare_calibration(request)),
                    Catch::Matchers::StartsWith("--device") && Catch::Matchers::ContainsSubstring("nearest: A100"));
  request.device.reset();
  request.stack = request.like = "plumbline";
  CHECK_THROWS_WITH(prepare_calibration(request), Catch::Matchers::StartsWith("--like"));
}

TEST_CASE("runs that cannot be asked about are told with the reason before any fit", "[session]") {
  CalibrationRequest request = request_of(3);
  request.runs.front().runs.front().question.fields = {};
  const PreparedCalibration prepared = prepare_calibration(request);
  CHECK_FALSE(prepared.runs.empty());
  const std::string& id = request.runs.front().runs.front().question.id;
  const auto told = std::find_if(prepared.skipped.begin(), prepared.skipped.end(),
                                 [&](const SkippedRun& run) { return run.id == id; });
  REQUIRE(told != prepared.skipped.end());
  CHECK_FALSE(told->reason.empty());
}

}  // namespace
}  // namespace plumbline::session
