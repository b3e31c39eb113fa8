#include "capi/job.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "core/io/json.h"
#include "core/io/run_record_json.h"
#include "planner/session/search/search_words.h"

namespace plumbline::capi {
namespace {

/// From this thread and those that it starts: handlers are for the threads of who asks. Not those that a fault of the
/// thread itself raises.
void block_signals() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&signals, fault);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

bool Job::ended_within(std::optional<std::chrono::milliseconds> wait) {
  std::unique_lock lock(mutex_);
  const std::optional<Clock::time_point> end = wait ? std::optional(Clock::now() + *wait) : std::nullopt;
  while (!is_ended_) {
    const Clock::time_point now = Clock::now();
    if (limit_ && now >= *limit_) stop();
    if (end && now >= *end) break;
    std::optional<Clock::time_point> next = end;
    if (limit_ && !stop_.stop_requested()) next = end ? std::min(*end, *limit_) : *limit_;
    if (next)
      changed_.wait_until(lock, *next);
    else
      changed_.wait(lock);
  }
  return is_ended_;
}

std::string Job::json_of(const Progress& progress) {
  const std::string words =
      present::progress_words({progress.phase, progress.done, progress.total, progress.best_step_time_s});
  return to_json_text(Json::Object{{"phase", progress.phase},
                                   {"done", progress.done},
                                   {"total", progress.total},
                                   {"best_step_time_s", progress.best_step_time_s},
                                   {"text", words}},
                      -1);
}

std::optional<std::string> Job::take_report() {
  const std::lock_guard lock(mutex_);
  if (!steps_.empty()) {
    std::string step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }
  const std::optional<Progress> progress = std::exchange(progress_, std::nullopt);
  return progress ? std::optional(json_of(*progress)) : std::nullopt;
}

session::Answer Job::answer() {
  static_cast<void>(ended_within(std::nullopt));
  if (failure_) std::rethrow_exception(failure_);
  return std::move(answer_);
}

session::Work Job::begun() {
  session::Work work = read_();
  if (work.time_limit) {
    const std::lock_guard lock(mutex_);
    limit_ = Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(work.time_limit->value()));
  }
  changed_.notify_all();
  return work;
}

void Job::run() {
  block_signals();
  Task task;
  task.stop = stop_.get_token();
  task.progress = [this](const TaskProgress& now) {
    const std::lock_guard lock(mutex_);
    progress_ = Progress{std::string(now.phase), now.done, now.total, now.best_step_time_s};
  };
  task.step = [this](const ReportedStep& step) {
    std::string text = to_json_text(to_json(step), -1);
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(text));
  };
  try {
    answer_ = begun().run(task);
  } catch (...) {
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  is_ended_ = true;
  changed_.notify_all();
}

}  // namespace plumbline::capi
