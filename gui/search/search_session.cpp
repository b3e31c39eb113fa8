#include "gui/search/search_session.h"

#include <utility>

#include "core/base/errors.h"

namespace plumbline::gui {
namespace {

constexpr int pause_ms = 300;  // longer than between two keys

session::SearchAnswer answer_of(const QuestionForm& form, const LatestJob::Context& context,
                                const std::function<void(const SearchState&)>& show) {
  Task task;
  task.stop = context.stop();
  task.progress = [&](const TaskProgress& now) {
    const SearchState state{QString::fromUtf8(now.phase.data(), static_cast<int>(now.phase.size())), now.done,
                            now.total, now.best_step_time_s};
    context.post([show, state] { show(state); });
  };
  return session::search(search_request(form), task);
}

}  // namespace

SearchSession::SearchSession(QObject* parent) : QObject(parent) {
  pause_.setSingleShot(true);
  pause_.setInterval(pause_ms);
  connect(&pause_, &QTimer::timeout, this, &SearchSession::search);
  connect(&job_, &LatestJob::ended, this, [this] {
    if (!is_busy()) Q_EMIT ended();
  });
  connect(&job_, &LatestJob::failed, this, [this](const QString& words) {
    Q_EMIT refused({std::nullopt, words.toStdString()});
  });
}

void SearchSession::ask(const QuestionForm& form) {
  form_ = form;
  pause_.start();
  job_.abandon();
}

void SearchSession::flush() {
  if (!pause_.isActive()) return;
  pause_.stop();
  search();
}

void SearchSession::cancel() {
  if (pause_.isActive()) abandon();
  job_.stop();
}

void SearchSession::abandon() {
  const bool was_waiting = pause_.isActive() && !job_.is_busy();
  pause_.stop();
  job_.abandon();
  if (was_waiting) Q_EMIT ended();
}

void SearchSession::search() {
  Q_EMIT started();
  job_.start([this, form = form_](const LatestJob::Context& context) -> LatestJob::Delivery {
    try {
      auto found = std::make_shared<const Found>(
          Found{form, answer_of(form, context, [this](const SearchState& state) { Q_EMIT progressed(state); })});
      return [this, found = SharedFound(std::move(found))] { Q_EMIT answered(found); };
    } catch (const InputError& error) {
      return [this, refusal = refusal_of(error, form)] { Q_EMIT refused(refusal); };
    }
  });
}

}  // namespace plumbline::gui
