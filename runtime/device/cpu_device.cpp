#include "runtime/device/cpu_device.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace plumbline {

/// A queue of work and the thread that runs it.
class CpuDevice::Lane {
 public:
  Lane() : thread_([this] { run(); }) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  /// What has not begun does not run.
  ~Lane() {
    begin_stop();
    end_stop();
  }
  /// Whoever waits for the lane gets an exception.
  void begin_stop() {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  void end_stop() {
    if (thread_.joinable()) thread_.join();
  }

  void enqueue(std::function<void()> work) {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
    ++given_;
    changed_.notify_all();
  }
  [[nodiscard]] std::int64_t given() const {
    const std::scoped_lock lock(mutex_);
    return given_;
  }
  void finish(std::int64_t work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= work || failure_ || is_stopping_; });
    if (done_ >= work) return;
    if (failure_) std::rethrow_exception(failure_);
    throw std::runtime_error("a lane was stopped before its work was done");
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
      if (is_stopping_) return;
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      std::exception_ptr failure;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
      if (!failure) ++done_;
      changed_.notify_all();
      if (failure) return;
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::int64_t given_ = 0;
  std::int64_t done_ = 0;
  bool is_stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses the others
};

CpuDevice::CpuDevice(LaneThreads threads) : threads_(threads) {}
CpuDevice::~CpuDevice() { stop(); }

void CpuDevice::enqueue(Stream lane, std::function<void()> work) {
  if (!has_thread(lane)) return work();
  std::unique_ptr<Lane>& started = lanes_[static_cast<std::size_t>(lane)];
  if (!started) started = std::make_unique<Lane>();
  started->enqueue(std::move(work));
}

Mark CpuDevice::mark(Stream lane) const {
  const auto& started = lanes_[static_cast<std::size_t>(lane)];
  return {lane, started ? started->given() : 0};
}

void CpuDevice::wait(Stream lane, Mark mark) {
  // A lane runs its own work in order, and what has no thread has run.
  if (mark.lane == lane || mark.work == 0) return;
  if (has_thread(lane))
    enqueue(lane, [&other = of(mark.lane), mark] { other.finish(mark.work); });
  else
    pass(mark);
}

void CpuDevice::finish(Mark mark) { pass(mark); }

void CpuDevice::pass(Mark mark) {
  if (mark.work > 0) of(mark.lane).finish(mark.work);
}

void CpuDevice::finish_all() {
  for (std::size_t lane = 0; lane < stream_count; ++lane) pass(mark(static_cast<Stream>(lane)));
}

/// Lanes wait for each other: none goes before all have stopped.
void CpuDevice::stop() noexcept {
  for (auto& lane : lanes_)
    if (lane) lane->begin_stop();
  for (auto& lane : lanes_)
    if (lane) lane->end_stop();
  for (auto& lane : lanes_) lane.reset();
}

}  // namespace plumbline
