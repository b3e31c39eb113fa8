#pragma once
/// \file latest_job.h: work on another thread, of which only what was started last delivers its result.
///
/// Model: each work runs on a thread of its own and returns what the window's thread is to do with its result. A new
/// start asks the work before it to stop and drops whatever that still delivers, so that nothing stale is shown.
/// Checked against: tests/gui/background/latest_job_test.cpp.

#include <QObject>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

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
  struct Running {
    std::shared_ptr<bool> is_done;  ///< read and written on the window's thread
    std::jthread thread;
  };
  void deliver(std::uint64_t generation, const Delivery& delivery);
  void finish(std::uint64_t generation, const Delivery& delivery, const QString& failure);
  void join_done();

  std::uint64_t generation_ = 0;
  bool is_busy_ = false;
  std::vector<Running> running_;
};

}  // namespace plumbline::gui
