#include "gui/background/latest_job.h"

#include <QMetaObject>
#include <exception>
#include <utility>

namespace plumbline::gui {

LatestJob::~LatestJob() {
  stop_.request_stop();
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();  // work looks for a stop every few hundredths of a second, a run of a plan in each step
}

void LatestJob::Context::post(Delivery delivery) const {
  QMetaObject::invokeMethod(
      job_,
      [job = job_, generation = generation_, delivery = std::move(delivery)] { job->deliver(generation, delivery); },
      Qt::QueuedConnection);
}

void LatestJob::start(Work work) {
  abandon();
  is_busy_ = true;
  stop_ = std::stop_source();
  {
    const std::lock_guard lock(mutex_);
    waiting_ = {std::move(work), generation_, stop_};
  }
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& ending) { run(ending); });
  wake_.notify_one();
}

void LatestJob::stop() {
  if (is_busy_) stop_.request_stop();
}

void LatestJob::abandon() {
  ++generation_;
  if (!is_busy_) return;
  stop_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    waiting_.work = nullptr;
  }
  is_busy_ = false;
  Q_EMIT ended();
}

bool LatestJob::take(Waiting& next, const std::stop_token& ending) {
  std::unique_lock lock(mutex_);
  if (!wake_.wait(lock, ending, [this] { return waiting_.work != nullptr; })) return false;
  next = std::exchange(waiting_, {});
  return !ending.stop_requested();
}

void LatestJob::run(const std::stop_token& ending) {
  for (Waiting next; take(next, ending);) {
    Delivery delivery;
    QString failure;
    try {
      delivery = next.work(Context(*this, next.generation, next.stop.get_token()));
    } catch (const std::exception& error) {
      failure = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, generation = next.generation, delivery = std::move(delivery), failure] {
          finish(generation, delivery, failure);
        },
        Qt::QueuedConnection);
    next = {};  // what it holds is not needed until the next
  }
}

void LatestJob::deliver(std::uint64_t generation, const Delivery& delivery) const {
  if (generation == generation_ && delivery) delivery();
}

void LatestJob::finish(std::uint64_t generation, const Delivery& delivery, const QString& failure) {
  if (generation != generation_) return;
  is_busy_ = false;
  if (!failure.isEmpty())
    Q_EMIT failed(failure);
  else if (delivery)
    delivery();
  if (generation == generation_) Q_EMIT ended();
}

}  // namespace plumbline::gui
