#pragma once
/// \file job.h: one request on a thread of its own, which can be followed and ended early.
///
/// Model: the thread reads the question and does the work; signals reach neither it nor what it starts, so that the
/// system calls of the library are not ended by them. Who waits looks at the work's time limit, and hands on the latest
/// progress, of a run every step.
/// Checked against: tests/capi/answers_test.py, tests/python/interrupt_test.py.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

class Job {
 public:
  /// `read` makes the work of what was asked.
  explicit Job(std::function<session::Work()> read) : read_(std::move(read)), thread_([this] { run(); }) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// Ends it.
  ~Job() { stop(); }

  void stop() { stop_.request_stop(); }
  /// Whether it has ended, after waiting for that so long at most; without a wait: until it has.
  [[nodiscard]] bool ended_within(std::optional<std::chrono::milliseconds> wait);
  /// The next report that nobody has taken, as JSON: steps in their order, then the latest progress.
  [[nodiscard]] std::optional<std::string> take_report();
  /// Waits for the end. Throws what the work threw.
  [[nodiscard]] session::Answer answer();

 private:
  using Clock = std::chrono::steady_clock;
  struct Progress {
    std::string phase;
    std::int64_t done = 0, total = 0;
    double best_step_time_s = 0;
  };

  void run();
  [[nodiscard]] session::Work begun();
  [[nodiscard]] static std::string json_of(const Progress& progress);

  std::function<session::Work()> read_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ended_ = false;
  std::optional<Clock::time_point> limit_;  ///< once the question is read
  std::optional<Progress> progress_;
  std::deque<std::string> steps_;
  session::Answer answer_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace plumbline::capi
