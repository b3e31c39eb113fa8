#include "python/interruptible.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/io/run_record_json.h"

namespace plumbline::python {
namespace {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_looks(
    20);  // people take Ctrl-C that ends within a tenth of a second as at once

/// From this thread and those that it starts: Python's handlers are for Python's threads. Not those that a fault of the
/// thread itself raises.
void block_signals() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&signals, fault);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// One piece of work on a thread of its own. No member touches Python.
class Job {
 public:
  explicit Job(const Work& work) : work_(work), thread_([this] { run(); }) {}

  void stop() { stop_.request_stop(); }
  /// Whether the work has ended, after waiting for that a moment.
  [[nodiscard]] bool ended_within(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, wait, [this] { return ended_; });
  }
  struct Report {
    std::string phase;
    std::int64_t done = 0, total = 0;
    double best_step_time_s = 0;
  };
  /// The latest progress that nobody has taken yet.
  [[nodiscard]] std::optional<Report> take_report() {
    const std::lock_guard lock(mutex_);
    return std::exchange(report_, std::nullopt);
  }
  /// Steps of a run that nobody has taken yet, each as JSON text.
  [[nodiscard]] std::vector<std::string> take_steps() {
    const std::lock_guard lock(mutex_);
    return std::exchange(steps_, {});
  }
  /// Once ended. Throws what the work threw.
  [[nodiscard]] Answer answer() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(answer_);
  }

 private:
  void run() {
    block_signals();
    Task task;
    task.stop = stop_.get_token();
    task.progress = [this](const TaskProgress& now) {
      const std::lock_guard lock(mutex_);
      report_ = Report{std::string(now.phase), now.done, now.total, now.best_step_time_s};
    };
    task.step = [this](const ReportedStep& step) {
      std::string text = to_json_text(to_json(step), -1);
      const std::lock_guard lock(mutex_);
      steps_.push_back(std::move(text));
    };
    try {
      answer_ = work_.run(task);
    } catch (...) {
      failure_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    done_.notify_all();
  }

  const Work& work_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool ended_ = false;
  std::optional<Report> report_;
  std::vector<std::string> steps_;
  Answer answer_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses the others
};

/// Runs Python's signal handlers and the callback. Throws what they raise.
void hear_python(Job& job, const py::object& progress) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (progress.is_none()) return;
  for (const std::string& step : job.take_steps()) progress(step);
  if (const auto report = job.take_report())
    progress(report->phase, report->done, report->total, report->best_step_time_s);
}

/// Until the work has ended; what Python raised meanwhile.
std::optional<py::error_already_set> wait_for(Job& job, const py::object& progress, std::optional<Seconds> limit) {
  std::optional<py::error_already_set> raised;
  const auto begin = Clock::now();
  const auto waits = [&] {
    const py::gil_scoped_release released;
    return !job.ended_within(between_looks);
  };
  while (waits()) {
    if (limit && std::chrono::duration<double>(Clock::now() - begin).count() >= limit->value()) job.stop();
    try {
      hear_python(job, progress);
    } catch (py::error_already_set& error) {
      if (!raised) raised.emplace(std::move(error));
      job.stop();
    }
  }
  // Short work may end before the first poll; this delivers the progress that it reported.
  if (!raised) try {
      hear_python(job, progress);
    } catch (py::error_already_set& error) {
      raised.emplace(std::move(error));
    }
  return raised;
}

}  // namespace

Ended run_interruptibly(const Work& work, const py::object& progress) {
  Job job(work);
  std::optional<py::error_already_set> raised = wait_for(job, progress, work.time_limit);
  if (!raised) return {job.answer(), false};
  const bool is_interrupt = raised->matches(PyExc_KeyboardInterrupt);
  if (!is_interrupt) throw py::error_already_set(std::move(*raised));
  Answer answer = job.answer();
  if (!answer.found) throw py::error_already_set(std::move(*raised));
  return {std::move(answer), true};
}

}  // namespace plumbline::python
