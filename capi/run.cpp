#include "capi/run.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/io/run_record_json.h"
#include "core/quantity/text.h"
#include "jobs/run_in_process.h"
#include "planner/present/numbers.h"
#include "planner/session/flags/asked_plan.h"
#include "runtime/run/flags/rank_flags.h"
#include "runtime/run/flags/training_flags.h"
#include "runtime/run/step_report.h"

namespace plumbline::capi {
namespace {

using session::Answer;

/// Throws InputError for ranks that are not threads of this process.
LaneThreads lanes_in_process(const RankFlags& flags) {
  const RankModes modes = flags.modes();
  if (modes.is_cuda())
    throw InputError({"--backend", "\"cuda\" does not run inside of this process", "cpu, or the command plan run", ""});
  if (modes.transport == Transport::mpi)
    throw InputError(
        {"--ranks", "\"mpi\" takes a process for each rank", "local, or mpirun with the command plan run", ""});
  const auto place = modes.transport ? std::nullopt : launched_with_others(process_environment);
  if (place)
    throw InputError(
        {"--ranks",
         place->launcher + " started " + std::to_string(place->ranks) + " processes, which this process does not join",
         "local for a run of its own in each process, or the command plan run", ""});
  return modes.lanes;
}

jobs::AskedRun asked_run(const RankFlags& ranks, TrainingFlags training, const session::Inputs& inputs) {
  const LaneThreads lanes = lanes_in_process(ranks);
  training.continue_training();
  return jobs::asked_run(session::plan_request(inputs.source), std::move(training), lanes);
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

Answer answer_of(const jobs::FinishedRun& run) {
  Answer answer;
  answer.json = answer.file_text = to_json_text(to_json(run.record));
  answer.tables["steps"] = step_table(run.record);
  answer.sentences = sentences_of(run.record, run.prediction);
  answer.warning = run.early_stop;
  answer.complete = !run.is_stopped;
  answer.found = !run.record.steps.empty();
  return answer;
}

Answer nothing_run() {
  Answer answer;
  answer.complete = answer.found = false;
  return answer;
}

Answer answer_in_process(const jobs::AskedRun& asked, const Task& task) {
  const std::optional<jobs::FinishedRun> run = jobs::run_in_process(asked, task);
  return run ? answer_of(*run) : nothing_run();
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
    const auto asked = std::make_shared<const jobs::AskedRun>(asked_run(flags->ranks, flags->training, inputs));
    return session::Work{[asked](const Task& task) { return answer_in_process(*asked, task); }, {}};
  };
  return use_case;
}

}  // namespace plumbline::capi
