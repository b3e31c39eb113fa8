#include "gui/window/main_window.h"

#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QSettings>
#include <QTabBar>
#include <QTabWidget>
#include <QUrl>
#include <QVBoxLayout>

#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "gui/dock/question_dock.h"
#include "gui/io/window_json.h"
#include "gui/pages/compare/compare_page.h"
#include "gui/pages/plans/plans_page.h"
#include "gui/pages/run/run_page.h"
#include "gui/pages/start/start_page.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/tables/table_view.h"
#include "gui/text.h"
#include "gui/window/menus.h"
#include "gui/window/page_list.h"
#include "gui/window/row_menu.h"

namespace plumbline::gui {
namespace {

constexpr const char* recent_key = "recent";
constexpr int most_recent = 6;

}  // namespace

MainWindow::MainWindow() : tabs_(new QTabWidget), message_(new QLabel) {
  setWindowTitle(tr("Plumbline"));
  resize(1280, 800);
  setAcceptDrops(true);
  message_->setObjectName("message");
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->hide();
  make_pages();
  auto* const centre = new QWidget(this);
  auto* const column = new QVBoxLayout(centre);
  column->setContentsMargins(8, 0, 8, 4);
  column->addWidget(message_);
  column->addWidget(tabs_, 1);
  setCentralWidget(centre);
  make_dock();
  make_menus(*this);
  link_question();
  link_plans();
  start_->show_recent(QSettings().value(recent_key).toStringList());
}

void MainWindow::make_pages() {
  start_ = new StartPage(tabs_);
  plans_ = new PlansPage(tabs_);
  compare_ = new ComparePage(tabs_);
  run_ = new RunPage(tabs_);
  pages_ = {start_, plans_};
  for (Page* const page : make_plan_pages(tabs_)) pages_.push_back(page);
  pages_.push_back(compare_);
  pages_.push_back(run_);
  for (Page* const page : pages_) tabs_->addTab(page, page->title());
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Pages"));
  tabs_->tabBar()->setExpanding(false);
  tabs_->tabBar()->setAccessibleName(tr("Pages"));
  connect(tabs_, &QTabWidget::currentChanged, this, &MainWindow::update_page);
  connect(start_, &StartPage::example_chosen, this, [this](const QuestionForm& form, const QString& title) {
    kept_question_.reset();
    question_.replace(form, title);
    search_.flush();
    bring_to_front("plans");
  });
  connect(start_, &StartPage::file_chosen, this, &MainWindow::open);
  connect(start_, &StartPage::browse_asked, this, [this] { browse_for_file(*this); });
  connect(run_, &RunPage::browse_asked, this, [this] { browse_for_file(*this); });
  connect(run_, &RunPage::said, this, &MainWindow::say);
  connect(run_, &RunPage::recorded, tabs_->findChild<TimelinePage*>(), &TimelinePage::show_record);
}

void MainWindow::make_dock() {
  constexpr int width = 292;
  auto* const dock = new QDockWidget(tr("Question"), this);
  dock->setObjectName("question_dock");
  dock->setFeatures(QDockWidget::DockWidgetClosable);
  dock->setTitleBarWidget(new QWidget(dock));
  dock_ = new QuestionDock(question_, search_, dock);
  dock->setWidget(dock_);
  addDockWidget(Qt::LeftDockWidgetArea, dock);
  resizeDocks({dock}, {width}, Qt::Horizontal);
}

void MainWindow::link_question() {
  connect(&question_, &QuestionModel::changed, this, [this] {
    if (kept_question_ != question_.form()) kept_question_.reset();
    plans_->set_outdated(plans_->found() && plans_->found()->form != question_.form());
  });
  connect(&search_, &SearchSession::found_so_far, plans_, &PlansPage::show_so_far);
  connect(&search_, &SearchSession::ended, plans_, [this] {
    plans_->end_so_far();
    plans_->set_outdated(plans_->found() && plans_->found()->form != question_.form());
  });
  connect(&search_, &SearchSession::answered, this, [this](const SharedFound& found) {
    say({});
    plans_->show_found(found);
    if (kept_question_) return;
    if (found->answer.plans.empty())
      show_plan(nullptr);
    else
      plans_->choose(0);
  });
}

void MainWindow::link_plans() {
  connect(plans_, &PlansPage::chosen, this, [this](const std::vector<int>& plans) {
    if (plans.empty()) return;
    kept_question_.reset();
    const Found& found = *plans_->found();
    std::vector<Plan> several;
    for (const int plan : plans) several.push_back(plans_->plans()[static_cast<std::size_t>(plan)].plan);
    pricer_.price(several.front(), found.answer.request.question, run_limits(found.form));
    compare_->set_others(std::move(several));
  });
  plans_->findChild<TableView*>("ranking")->set_row_menu(
      [this](QMenu& menu, int plan) { fill_row_menu(*this, menu, plan); });
  connect(&pricer_, &PlanPricer::priced, this, &MainWindow::show_plan);
  connect(&pricer_, &PlanPricer::opened, this, &MainWindow::show_content);
  connect(&pricer_, &PlanPricer::failed, this, &MainWindow::say);
  connect(&exports_, &LatestJob::failed, this, &MainWindow::say);
}

Page* MainWindow::page(const QString& id) const {
  for (Page* const page : pages_)
    if (page->id() == id) return page;
  return nullptr;
}

Page* MainWindow::page_in_front() const { return pages_[static_cast<std::size_t>(tabs_->currentIndex())]; }

QString MainWindow::message() const { return message_->isHidden() ? QString() : message_->text(); }

bool MainWindow::is_busy() const { return search_.is_busy() || pricer_.is_busy() || exports_.is_busy(); }

void MainWindow::bring_to_front(const QString& page_id) {
  if (Page* const found = page(page_id)) tabs_->setCurrentWidget(found);
}

void MainWindow::show_plan(const SharedPlan& plan) {
  plan_ = plan;
  update_page();
}

/// Pages behind are told of a plan when they come to the front.
void MainWindow::update_page() {
  Page* const page = page_in_front();
  const auto shown = shown_.find(page);
  if (shown != shown_.end() && shown->second == plan_) return;
  shown_[page] = plan_;
  page->show_plan(plan_);
}

void MainWindow::say(const QString& words) {
  message_->setText(words);
  message_->setVisible(!words.isEmpty());
}

void MainWindow::open(const QString& file) {
  say({});
  pricer_.open(QFileInfo(file).absoluteFilePath());
}

void MainWindow::show_content(const QString& file, const OpenedFile& content) {
  note_recent(file);
  if (const auto* const plan = std::get_if<SharedPlan>(&content)) {
    kept_question_ = form_of((*plan)->answer.plan);
    compare_->set_others({});
    show_plan(*plan);
    question_.replace(*kept_question_, QFileInfo(file).fileName());
    if (page_in_front() == start_) bring_to_front("plans");
  } else if (const auto* const state = std::get_if<WindowState>(&content)) {
    question_.replace(state->form, QFileInfo(file).fileName());
    bring_to_front(qt(state->page));
  } else if (const auto* const model = std::get_if<ModelFile>(&content)) {
    question_.set(Field::model, model->path);
  } else if (const auto* const machine = std::get_if<MachineFile>(&content)) {
    question_.set(Field::machine, machine->path);
  } else if (const auto* const record = std::get_if<RecordFile>(&content)) {
    bring_to_front("run");
    run_->open_record(qt(record->path));
  }
}

void MainWindow::save_session(const QString& file) {
  try {
    write_output_file(file.toStdString(),
                      to_json_text(to_json(WindowState{question_.form(), page_in_front()->id().toStdString()})));
    note_recent(file);
  } catch (const std::exception& error) {
    say(QString::fromUtf8(error.what()));
  }
}

void MainWindow::note_recent(const QString& file) {
  QSettings settings;
  QStringList files = settings.value(recent_key).toStringList();
  files.removeAll(file);
  files.prepend(file);
  while (files.size() > most_recent) files.removeLast();
  settings.setValue(recent_key, files);
  start_->show_recent(files);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  if (!urls.front().isLocalFile()) return say(tr("%1 is no file of this computer").arg(urls.front().toDisplayString()));
  event->acceptProposedAction();
  open(urls.front().toLocalFile());
}

}  // namespace plumbline::gui
