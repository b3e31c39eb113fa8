#include "gui/background/latest_job.h"

#include <QMetaObject>
#include <QString>
#include <exception>
#include <utility>

namespace plumbline::gui {

LatestJob::~LatestJob() {
  for (Running& one : running_) one.thread.request_stop();
  running_.clear();  // joins: work looks for a stop every few hundredths of a second
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
  const std::uint64_t generation = generation_;
  const auto is_done = std::make_shared<bool>(false);
  running_.push_back({is_done, std::jthread([this, generation, is_done, work = std::move(work)](std::stop_token stop) {
                        Delivery delivery;
                        QString failure;
                        try {
                          delivery = work(Context(*this, generation, stop));
                        } catch (const std::exception& error) {
                          failure = QString::fromUtf8(error.what());
                        }
                        QMetaObject::invokeMethod(
                            this,
                            [this, generation, is_done, delivery = std::move(delivery), failure] {
                              *is_done = true;
                              finish(generation, delivery, failure);
                              join_done();
                            },
                            Qt::QueuedConnection);
                      })});
}

void LatestJob::stop() {
  if (is_busy_) running_.back().thread.request_stop();
}

void LatestJob::abandon() {
  ++generation_;
  if (!is_busy_) return;
  running_.back().thread.request_stop();
  is_busy_ = false;
  Q_EMIT ended();
}

void LatestJob::deliver(std::uint64_t generation, const Delivery& delivery) {
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

void LatestJob::join_done() {
  std::erase_if(running_, [](const Running& one) { return *one.is_done; });
}

}  // namespace plumbline::gui
