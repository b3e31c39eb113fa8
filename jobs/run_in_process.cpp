#include "jobs/run_in_process.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/errors.h"
#include "core/quantity/text.h"
#include "jobs/training_job.h"
#include "models/this_computer.h"
#include "planner/session/compare/prepare_run.h"
#include "runtime/run/step_report.h"

namespace plumbline::jobs {
namespace {

/// The trainer knows one job in a process.
class OneRun {
 public:
  OneRun() {
    if (is_one_running.exchange(true))
      throw InputError({"run", "another run of this process has not ended", "one at a time, or another process", ""});
  }
  ~OneRun() { is_one_running = false; }
  OneRun(const OneRun&) = delete;
  OneRun& operator=(const OneRun&) = delete;

  [[nodiscard]] static bool is_there() { return is_one_running; }

 private:
  static inline std::atomic<bool> is_one_running = false;
};

/// Reports steps to a task until it is closed, and asks the run to end when the task is stopped or closed.
class HeardRun : public RunObserver {
 public:
  HeardRun(ReportedRun run, const Task& task) : task_(task), steps_(std::move(run)) {}

  void on_step(const StepRecord& step) override {
    const std::scoped_lock lock(mutex_);
    steps_.note(step);
    if (task_ && task_->step) task_->step(steps_.reported());
  }
  void on_generated(const std::vector<std::int32_t>& tokens) override { steps_.note_generated(tokens); }
  void on_early_stop(const EarlyStoppingState& state) override {
    early_stop_ = "the held-out loss has not been below " + fixed(*state.lowest, 4) + " for " +
                  std::to_string(state.without_improvement) + " evaluations: the run ended there (patience)";
  }
  [[nodiscard]] int stop_signal() override {
    const std::scoped_lock lock(mutex_);
    return !task_ || task_->is_stopped() ? SIGINT : 0;
  }
  void on_stop(int) override { is_stopped_ = true; }

  /// Nobody follows the run any more: the task may end.
  void close() {
    const std::scoped_lock lock(mutex_);
    task_.reset();
  }
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  [[nodiscard]] const std::string& early_stop() const { return early_stop_; }

 private:
  std::mutex mutex_;
  std::optional<Task> task_;
  StepReport steps_;
  std::string early_stop_;
  bool is_stopped_ = false;
};

/// All that threads of ranks read, which keep it.
struct InProcessRun {
  explicit InProcessRun(session::PreparedRun ready) : prepared(std::move(ready)) {}

  OneRun alone;
  session::PreparedRun prepared;
  RunOptions options;
  std::optional<TrainingJob> job;
  std::optional<HeardRun> heard;
};

/// Reads the data. Throws ReadingStopped.
void fill(InProcessRun& run, const AskedRun& asked, const Task& task) {
  const StopReading stop = [&task] { return task.is_stopped(); };
  run.options = run_options(run.prepared, asked.training, stop);
  const RunSpeed speed = run_speed_of(run.prepared.asked);
  run.heard.emplace(reported_run(run.prepared, asked.training, run.options, speed, stop), task);
  run.options.observer = &*run.heard;
  run.options.device.lanes = asked.lanes;
  run.job.emplace(training_job(run.prepared, asked.training, asked.recipe));
}

}  // namespace

AskedRun asked_run(session::PlanRequest request, TrainingFlags training, LaneThreads lanes) {
  Recipe recipe = recipe_in(request.written, request.name, request.plan.training);
  training.follow(recipe.settings);
  return {std::move(request), std::move(recipe), std::move(training), lanes};
}

std::optional<FinishedRun> run_in_process(const AskedRun& asked, const Task& task) {
  std::optional<session::PreparedRun> prepared = session::prepare_run(asked.request, task);
  if (!prepared) return std::nullopt;
  session::require_room(*prepared, asked.request.name, prepared->asked.strategy.devices(), computer_facts().memory);
  const auto run = std::make_shared<InProcessRun>(std::move(*prepared));
  try {
    fill(*run, asked, task);
  } catch (const ReadingStopped&) {
    return std::nullopt;
  }
  try {
    FinishedRun finished{.record = train(*run->job, run->options, run),
                         .prediction = run->prepared.asked.plan.prediction};
    session::sign(finished.record, run->prepared.asked.plan);
    finished.early_stop = run->heard->early_stop();
    finished.is_stopped = run->heard->is_stopped();
    return finished;
  } catch (...) {
    run->heard->close();
    throw;
  }
}

bool is_running() { return OneRun::is_there(); }

}  // namespace plumbline::jobs
