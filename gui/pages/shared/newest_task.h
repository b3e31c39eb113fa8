#pragma once
/// \file newest_task.h: work on another thread of which only the newest request's answer is shown.
///
/// Model: one thread. A new request asks the running one to stop and replaces the one that waits. What a request
/// returns is called on the thread of this object, unless a newer request or `cancel` came first.
/// Checked against: tests/gui/pages/shared/newest_task_test.cpp.

#include <QObject>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "planner/question/stop_request.h"

namespace plumbline::gui {

class NewestTask : public QObject {
  Q_OBJECT

 public:
  /// Shows an answer. May be empty: nothing to show.
  using Show = std::function<void()>;
  /// Called on the other thread.
  using Work = std::function<Show(const StopRequest&)>;

  explicit NewestTask(QObject* parent = nullptr);
  ~NewestTask() override;
  NewestTask(const NewestTask&) = delete;
  NewestTask& operator=(const NewestTask&) = delete;

  void start(Work work);
  /// No answer of an earlier request is shown from here on.
  void cancel();
  [[nodiscard]] bool is_busy() const { return is_busy_; }

 Q_SIGNALS:
  /// The newest request has been shown, or has failed.
  void ended();
  /// The newest request threw.
  void failed(const QString& message);

 private:
  struct Answer {
    std::uint64_t generation = 0;
    Show show;
    QString failure;
  };
  void work_on(const std::stop_token& ending);
  void deliver(const Answer& answer);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  Work next_;
  std::uint64_t next_generation_ = 0;
  std::stop_source running_;
  std::uint64_t generation_ = 0;  ///< of the newest request; this object's thread only
  bool is_busy_ = false;
  std::jthread thread_;
};

}  // namespace plumbline::gui
