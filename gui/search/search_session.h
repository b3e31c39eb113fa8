#pragma once
/// \file search_session.h: the search that follows a question: started by itself a moment after a change, on another
/// thread, answered by whole immutable values.
///
/// Checked against: tests/gui/search/search_session_test.cpp (quick changes and cancels never show a stale answer).

#include <QObject>
#include <QTimer>
#include <memory>

#include "gui/background/latest_job.h"
#include "gui/question/question_form.h"

namespace plumbline::gui {

/// A question and what was found for it.
struct Found {
  QuestionForm form;
  session::SearchAnswer answer;
};
using SharedFound = std::shared_ptr<const Found>;

/// What a search that goes on would answer with.
struct FoundSoFar {
  QuestionForm form;
  std::vector<RankedStrategy> best;  ///< best first, at most `shown_plans`
};
using SharedSoFar = std::shared_ptr<const FoundSoFar>;

struct SearchState {
  QString phase;
  qint64 done = 0;
  qint64 total = 0;
  double best_step_time_s = 0;  ///< 0: none yet
};

class SearchSession : public QObject {
  Q_OBJECT

 public:
  explicit SearchSession(QObject* parent = nullptr);

  /// After a pause in which nothing else is asked; an earlier search is stopped now and never answers.
  void ask(const QuestionForm& form);
  /// Asks what waits for its pause, now.
  void flush();
  /// Ends with the best so far.
  void cancel();
  /// Ends without an answer.
  void abandon();
  [[nodiscard]] bool is_busy() const { return pause_.isActive() || job_.is_busy(); }

 Q_SIGNALS:
  void started();
  void progressed(const plumbline::gui::SearchState& state);
  /// A few times a second while it searches, once anything fits.
  void found_so_far(const plumbline::gui::SharedSoFar& found);
  void answered(const plumbline::gui::SharedFound& found);
  void refused(const plumbline::gui::Refusal& refusal);
  void ended();

 private:
  void search();
  /// Called by the search's thread; what it tells arrives on this one.
  [[nodiscard]] BestSoFar best_so_far(const LatestJob::Context& context, const QuestionForm& form);

  QuestionForm form_;
  QTimer pause_;
  LatestJob job_;
};

}  // namespace plumbline::gui
