#include "gui/pages/run/plan_thread.h"

#include <new>
#include <optional>
#include <vector>

#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "core/io/run_record_json.h"
#include "jobs/run_in_process.h"
#include "planner/session/plan_file.h"
#include "planner/session/use_case/use_case.h"
#include "runtime/run/flags/training_flags.h"

namespace plumbline::gui {
namespace {

TrainingFlags training_flags_of(const RunRequest& request) {
  TrainingFlags flags;
  std::vector<session::BoundOption> options;
  session::bind_options(options, TrainingFlags::option_table(), flags);
  for (const auto& [flag, text] : training_texts(request))
    for (const session::BoundOption& option : options)
      if (option.words.flag == flag) option.give(text);
  return flags;
}

/// Throws std::exception for whatever a run throws.
void run_and_record(const RunRequest& request, const Task& task) {
  try {
    const auto run = jobs::run_in_process(
        jobs::asked_run(session::plan_request_of(request.plan_text, "plan"), training_flags_of(request)), task);
    if (run) write_output_file(request.record_file.toStdString(), to_json_text(to_json(run->record)));
  } catch (const std::bad_alloc&) {
    throw EnvironmentError("memory: not enough for this run");
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    throw EnvironmentError("the run ended, and nothing says why");
  }
}

}  // namespace

PlanThread::PlanThread(QObject* parent) : QObject(parent) {
  connect(&job_, &LatestJob::failed, this, [this](const QString& words) { Q_EMIT failed(words.simplified()); });
}

void PlanThread::start(const RunRequest& request) {
  job_.start([this, request](const LatestJob::Context& context) -> LatestJob::Delivery {
    Task task;
    task.stop = context.stop();
    task.step = [this, context](const ReportedStep& reported) {
      if (const std::optional<RunLine> step = run_line(reported))
        context.post([this, step = *step] { Q_EMIT stepped(step); });
    };
    run_and_record(request, task);
    return [this] { Q_EMIT ended(); };
  });
}

}  // namespace plumbline::gui
