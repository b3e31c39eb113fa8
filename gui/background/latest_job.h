#pragma once
/// \file latest_job.h: work on another thread, of which only what was started last delivers its result.
///
/// Model: one thread, made with the first work. A new start asks the running work to stop, takes the place of work that
/// waits, and drops whatever earlier work still delivers, so that nothing stale is shown. What a work returns is called
/// on the thread of this object.
/// Checked against: tests/gui/background/latest_job_test.cpp.

#include <QObject>
#include <QString>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace plumbline::gui {

class LatestJob : public QObject {
  Q_OBJECT

 public:
  /// On the window's thread; empty: nothing is to be done.
  using Delivery = std::function<void()>;
  class Context {
   public:
    Context(LatestJob& job, std::uint64_t generation, std::stop_token stop)
        : job_(&job), generation_(generation), stop_(std::move(stop)) {}
    [[nodiscard]] const std::stop_token& stop() const { return stop_; }
    /// Delivers now, such as progress; dropped as the result is.
    void post(Delivery delivery) const;

   private:
    LatestJob* job_;
    std::uint64_t generation_;
    std::stop_token stop_;
  };
  using Work = std::function<Delivery(const Context&)>;

  using QObject::QObject;
  ~LatestJob() override;
  LatestJob(const LatestJob&) = delete;
  LatestJob& operator=(const LatestJob&) = delete;

  /// Never waits.
  void start(Work work);
  /// Asks the work to end with what it has, which is delivered.
  void stop();
  /// As `stop`, and nothing is delivered.
  void abandon();
  [[nodiscard]] bool is_busy() const { return is_busy_; }

 Q_SIGNALS:
  /// Work threw: its message.
  void failed(const QString& words);
  /// Delivered, failed or abandoned.
  void ended();

 private:
  struct Waiting {
    Work work;
    std::uint64_t generation = 0;
    std::stop_source stop;
  };
  void run(const std::stop_token& ending);
  [[nodiscard]] bool take(Waiting& next, const std::stop_token& ending);
  void deliver(std::uint64_t generation, const Delivery& delivery) const;
  void finish(std::uint64_t generation, const Delivery& delivery, const QString& failure);

  std::uint64_t generation_ = 0;  ///< of the newest work; this object's thread only
  bool is_busy_ = false;
  std::stop_source stop_{std::nostopstate};  ///< of the newest work
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Waiting waiting_;  ///< guarded by the mutex; empty work: nothing waits
  std::jthread thread_;
};

}  // namespace plumbline::gui
