#include "gui/search/search_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/errors.h"

namespace plumbline::gui {
namespace {

constexpr int pause_ms = 300;  // longer than between two keys
constexpr std::chrono::milliseconds between_looks(200);

session::SearchAnswer answer_of(const QuestionForm& form, const LatestJob::Context& context,
                                const std::function<void(const SearchState&)>& show, const BestSoFar& best_so_far) {
  Task task;
  task.stop = context.stop();
  task.progress = [&](const TaskProgress& now) {
    const SearchState state{QString::fromUtf8(now.phase.data(), static_cast<int>(now.phase.size())), now.done,
                            now.total, now.best_step_time_s};
    context.post([show, state] { show(state); });
  };
  return session::search(session::prepare_search(search_request(form)), task, best_so_far);
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

BestSoFar SearchSession::best_so_far(const LatestJob::Context& context, const QuestionForm& form) {
  const auto last = std::make_shared<std::chrono::steady_clock::time_point>();
  return [this, context, form, last](const std::vector<RankedStrategy>& best) {
    const auto now = std::chrono::steady_clock::now();
    if (now - *last < between_looks) return;
    *last = now;
    const auto count = static_cast<std::ptrdiff_t>(std::min(best.size(), shown_plans));
    auto found = std::make_shared<const FoundSoFar>(FoundSoFar{form, {best.begin(), best.begin() + count}});
    context.post([this, found = std::move(found)] { Q_EMIT found_so_far(found); });
  };
}

void SearchSession::search() {
  Q_EMIT started();
  job_.start([this, form = form_](const LatestJob::Context& context) -> LatestJob::Delivery {
    try {
      auto found = std::make_shared<const Found>(
          Found{form, answer_of(
                          form, context, [this](const SearchState& state) { Q_EMIT progressed(state); },
                          best_so_far(context, form))});
      return [this, found = SharedFound(std::move(found))] { Q_EMIT answered(found); };
    } catch (const InputError& error) {
      return [this, refusal = refusal_of(error, form)] { Q_EMIT refused(refusal); };
    }
  });
}

}  // namespace plumbline::gui
