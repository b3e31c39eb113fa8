#include "gui/pages/shared/newest_task.h"

#include <exception>
#include <utility>

namespace plumbline::gui {

NewestTask::NewestTask(QObject* parent)
    : QObject(parent), thread_([this](const std::stop_token& ending) { work_on(ending); }) {}

NewestTask::~NewestTask() {
  cancel();
  thread_.request_stop();
  thread_.join();
}

void NewestTask::start(Work work) {
  cancel();
  is_busy_ = true;
  {
    const std::lock_guard lock(mutex_);
    next_ = std::move(work);
    next_generation_ = generation_;
  }
  wake_.notify_one();
}

void NewestTask::cancel() {
  ++generation_;
  is_busy_ = false;
  const std::lock_guard lock(mutex_);
  next_ = nullptr;
  running_.request_stop();
}

void NewestTask::work_on(const std::stop_token& ending) {
  for (;;) {
    Work work;
    Answer answer;
    std::stop_token stop;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, ending, [this] { return next_ != nullptr; })) return;
      work = std::exchange(next_, nullptr);
      answer.generation = next_generation_;
      running_ = std::stop_source();
      stop = running_.get_token();
    }
    try {
      answer.show = work(StopRequest(stop));
    } catch (const std::exception& error) {
      answer.failure = QString::fromStdString(error.what());
    }
    QMetaObject::invokeMethod(
        this, [this, answer] { deliver(answer); }, Qt::QueuedConnection);
  }
}

void NewestTask::deliver(const Answer& answer) {
  if (answer.generation != generation_) return;
  is_busy_ = false;
  if (answer.show) answer.show();
  if (!answer.failure.isEmpty()) Q_EMIT failed(answer.failure);
  Q_EMIT ended();
}

}  // namespace plumbline::gui
