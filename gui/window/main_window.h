#pragma once
/// \file main_window.h: the window: the question on the left, pages that answer it on the right.
///
/// Checked against: tests/gui/window/main_window_test.cpp.

#include <QMainWindow>
#include <map>
#include <optional>
#include <vector>

#include "gui/files/plan_pricer.h"
#include "gui/page.h"
#include "gui/question/question_model.h"
#include "gui/search/search_session.h"

class QLabel;
class QTabWidget;

namespace plumbline::gui {

class ComparePage;
class PlansPage;
class QuestionDock;
class RunPage;
class StartPage;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();

  [[nodiscard]] QuestionModel& question() { return question_; }
  [[nodiscard]] SearchSession& search() { return search_; }
  [[nodiscard]] QuestionDock& dock() const { return *dock_; }
  /// Writes files that take long to make.
  [[nodiscard]] LatestJob& exports() { return exports_; }
  [[nodiscard]] PlansPage& plans() const { return *plans_; }
  [[nodiscard]] const std::vector<Page*>& pages() const { return pages_; }
  [[nodiscard]] Page* page(const QString& id) const;
  [[nodiscard]] Page* page_in_front() const;
  /// The plan that the pages are about; nullptr: none.
  [[nodiscard]] const SharedPlan& plan() const { return plan_; }
  /// What went wrong last, in a line; empty: nothing.
  [[nodiscard]] QString message() const;
  /// While another thread searches or prices.
  [[nodiscard]] bool is_busy() const;

  /// A plan, a session, a model, a machine or a record.
  void open(const QString& file);
  void bring_to_front(const QString& page_id);
  void save_session(const QString& file);
  /// Shows a line about what went wrong; empty: takes it away.
  void say(const QString& words);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void make_pages();
  void make_dock();
  void link_question();
  void link_plans();
  void show_content(const QString& file, const OpenedFile& content);
  void show_plan(const SharedPlan& plan);
  void update_page();
  void note_recent(const QString& file);

  QuestionModel question_;
  SearchSession search_;
  PlanPricer pricer_;
  LatestJob exports_;
  QTabWidget* tabs_;
  QLabel* message_;
  QuestionDock* dock_;
  StartPage* start_;
  PlansPage* plans_;
  ComparePage* compare_;
  RunPage* run_;
  std::vector<Page*> pages_;
  std::map<Page*, SharedPlan> shown_;
  SharedPlan plan_;
  /// Of a plan that was opened: it stays until another is chosen or asked for.
  std::optional<QuestionForm> kept_question_;
};

}  // namespace plumbline::gui
