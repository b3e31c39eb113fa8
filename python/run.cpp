#include "python/run.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/errors.h"
#include "core/io/run_record_json.h"
#include "core/quantity/text.h"
#include "models/this_computer.h"
#include "planner/present/numbers.h"
#include "planner/session/compare/prepare_run.h"
#include "planner/session/flags/asked_plan.h"
#include "runtime/run/flags/rank_flags.h"
#include "runtime/run/flags/training_flags.h"
#include "runtime/run/predicted_memory.h"
#include "runtime/run/step_report.h"

namespace plumbline::python {
namespace {

using session::Answer;

/// The trainer knows one job in a process.
class OneRun {
 public:
  OneRun() {
    if (is_running.exchange(true))
      throw InputError({"run", "another run of this process has not ended", "one at a time, or another process", ""});
  }
  ~OneRun() { is_running = false; }
  OneRun(const OneRun&) = delete;
  OneRun& operator=(const OneRun&) = delete;

 private:
  static inline std::atomic<bool> is_running = false;
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

/// What is asked for, its flags read.
struct AskedRun {
  session::PlanRequest request;
  Recipe recipe;
  TrainingFlags training;
  LaneThreads lanes = LaneThreads::none;
};

/// Throws InputError for ranks that are not threads of this process.
LaneThreads lanes_in_process(const RankFlags& flags) {
  const RankModes modes = flags.modes();
  if (modes.is_cuda())
    throw InputError({"--backend", "\"cuda\" does not run inside of Python", "cpu, or the command plan run", ""});
  if (modes.transport == Transport::mpi)
    throw InputError(
        {"--ranks", "\"mpi\" takes a process for each rank", "local, or mpirun with the command plan run", ""});
  const auto place = modes.transport ? std::nullopt : launched_with_others(process_environment);
  if (place)
    throw InputError(
        {"--ranks",
         place->launcher + " started " + std::to_string(place->ranks) + " processes, which Python does not join",
         "local for a run of its own in each process, or the command plan run", ""});
  return modes.lanes;
}

AskedRun asked_run(const RankFlags& ranks, TrainingFlags training, const session::Inputs& inputs) {
  const LaneThreads lanes = lanes_in_process(ranks);
  training.continue_training();
  session::PlanRequest request = session::plan_request(inputs.source);
  Recipe recipe = recipe_in(request.written, request.name, request.plan.training);
  training.follow(recipe.settings);
  return {std::move(request), std::move(recipe), std::move(training), lanes};
}

TrainingJob job_of(const session::PreparedRun& prepared, const AskedRun& asked) {
  const Question& question = prepared.asked.question;
  TrainingJob job{.graph = question.graph(),
                  .strategy = prepared.asked.strategy,
                  .training = question.training(),
                  .program = prepared.simulated.program,
                  .replays = prepared.simulated.replays,
                  .constants = question.network().constants,
                  .plan_fingerprint = prepared.training_fingerprint,
                  .network = {question.network().model_type, prepared.network_config, prepared.network_fingerprint},
                  .programs = prepared.simulated.programs.get()};
  asked.training.complete(job, asked.recipe);
  return job;
}

/// Reads the data. Throws ReadingStopped.
void fill(InProcessRun& run, const AskedRun& asked, const Task& task) {
  const session::PricedQuestion& priced = run.prepared.asked;
  const Training& training = priced.question.training();
  const StopReading stop = [&task] { return task.is_stopped(); };
  run.options = asked.training.options(priced.question.graph(), training.sequence_length, stop);
  const Prediction& prediction = priced.plan.prediction;
  const RunSpeed speed =
      run_speed(prediction.model_flops_per_step, priced.question.calibration().device, priced.strategy.devices());
  run.heard.emplace(ReportedRun{run.options.steps, training.global_batch * training.sequence_length,
                                unigram_entropy(run.options.data, stop), speed,
                                asked.training.is_text() ? TokenMeaning::bytes : TokenMeaning::numbers},
                    task);
  run.options.observer = &*run.heard;
  run.options.device.lanes = asked.lanes;
  run.options.device.predicted_memory = predicted_memory_texts(prediction);
  run.job.emplace(job_of(run.prepared, asked));
}

present::Table step_table(const RunRecord& record) {
  using present::ColumnOf;
  using present::Unit;
  const auto number = [](double value, int digits) { return present::Cell{fixed(value, digits), value}; };
  const std::vector<ColumnOf<StepRecord>> columns{
      {{"step", "step", Unit::number, "of the whole training, from 1"},
       [](const StepRecord& s) { return present::whole(s.step + 1); }},
      {{"loss", "loss", Unit::number, "mean over the tokens of the global batch"},
       [number](const StepRecord& s) { return number(s.loss, 4); }},
      {{"held_out_loss", "held out", Unit::number, "loss of the held-out data behind the step"},
       [number](const StepRecord& s) { return s.held_out_loss ? number(*s.held_out_loss, 4) : present::Cell{""}; }},
      {{"gradient_norm", "norm", Unit::number, "of all gradients, before they are clipped"},
       [number](const StepRecord& s) { return number(s.gradient_norm, 4); }},
      {{"learning_rate", "rate", Unit::number, "learning rate of the step"},
       [number](const StepRecord& s) { return number(s.learning_rate, 6); }},
      {{"time", "time", Unit::milliseconds, "until the last rank was done"},
       [number](const StepRecord& s) { return number(static_cast<double>(s.time_ns) * 1e-6, 3); }}};
  return session::whole_table(columns, record.steps);
}

std::vector<std::string> sentences_of(const RunRecord& record, const Prediction& prediction) {
  const auto at = [](const StepRecord& step) { return loss_text(step) + " at step " + std::to_string(step.step + 1); };
  std::vector<std::string> sentences{std::to_string(record.steps.size()) + " steps of " + record.model + " on " +
                                     std::to_string(record.ranks.size()) +
                                     (record.ranks.size() == 1 ? " rank" : " ranks")};
  if (!record.steps.empty()) sentences.push_back("loss " + at(record.steps.front()) + "; " + at(record.steps.back()));
  if (const std::int64_t median_ns = median_step_ns(record); median_ns > 0)
    sentences.push_back("step " + to_text(Seconds(static_cast<double>(median_ns) * 1e-9)) + " (median), " +
                        grouped(static_cast<std::int64_t>(tokens_per_second(record))) + " tokens/s; predicted " +
                        present::interval_text(prediction.step_time_s));
  return sentences;
}

Answer answer_of(const RunRecord& record, const InProcessRun& run) {
  Answer answer;
  answer.json = answer.file_text = to_json_text(to_json(record));
  answer.tables["steps"] = step_table(record);
  answer.sentences = sentences_of(record, run.prepared.asked.plan.prediction);
  answer.remark = run.heard->early_stop();
  answer.complete = !run.heard->is_stopped();
  answer.found = !record.steps.empty();
  return answer;
}

Answer nothing_run() {
  Answer answer;
  answer.complete = answer.found = false;
  return answer;
}

Answer run_in_process(const AskedRun& asked, const Task& task) {
  std::optional<session::PreparedRun> prepared = session::prepare_run(asked.request, task);
  if (!prepared) return nothing_run();
  session::require_room(*prepared, asked.request.name, prepared->asked.strategy.devices(), computer_facts().memory);
  const auto run = std::make_shared<InProcessRun>(std::move(*prepared));
  try {
    fill(*run, asked, task);
  } catch (const ReadingStopped&) {
    return nothing_run();
  }
  try {
    RunRecord record = train(*run->job, run->options, run);
    session::sign(record, run->prepared.asked.plan);
    return answer_of(record, *run);
  } catch (...) {
    run->heard->close();
    throw;
  }
}

}  // namespace

session::UseCase run_use_case() {
  struct Flags {
    RankFlags ranks;
    TrainingFlags training;
  };
  const auto flags = std::make_shared<Flags>();
  session::UseCase use_case;
  use_case.options.push_back(session::input("--plan"));
  session::bind_options(use_case.options, RankFlags::option_table(), flags->ranks);
  session::bind_options(use_case.options, TrainingFlags::option_table(), flags->training);
  use_case.work = [flags](const session::Inputs& inputs) {
    const auto asked = std::make_shared<const AskedRun>(asked_run(flags->ranks, flags->training, inputs));
    return session::Work{[asked](const Task& task) { return run_in_process(*asked, task); }, {}};
  };
  return use_case;
}

}  // namespace plumbline::python
