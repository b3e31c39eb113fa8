#include "gui/pages/run/run_page.h"

#include <QComboBox>
#include <QFile>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "core/io/run_record_json.h"
#include "gui/export/plan_export.h"
#include "gui/pages/run/step_plot.h"
#include "gui/tables/table_model.h"
#include "gui/tables/table_view.h"
#include "gui/text.h"
#include "gui/widgets/card.h"
#include "planner/present/plan_words.h"
#include "planner/session/compare/compare.h"

namespace plumbline::gui {
namespace {

constexpr int usual_steps = 40, most_steps = 1'000'000;

}  // namespace

RunPage::RunPage(QWidget* parent) : Page(parent), card_(new Card(tr("Run on this computer"), this)) {
  card_->add(make_controls());
  card_->add(make_plots(), 1);
  auto* const column = new QVBoxLayout(this);
  column->addWidget(card_, 1);
  column->addWidget(make_comparison(), 1);
  link();
  show_plan(nullptr);
}

QWidget* RunPage::make_controls() {
  auto* const controls = new QWidget(card_);
  steps_ = new QSpinBox(controls);
  steps_->setRange(1, most_steps);
  steps_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  steps_->setValue(usual_steps);
  steps_->setAccessibleName(tr("Steps"));
  ranks_ = new QComboBox(controls);
  for (const RunRanks ranks : all_run_ranks) ranks_->addItem(words_of(ranks));
  ranks_->setAccessibleName(tr("What ranks are"));
  ranks_->setToolTip(tr("CUDA needs the program built with it, and a GPU; \"plan doctor\" says what is missing"));
  start_ = new QPushButton(tr("&Run"), controls);
  start_->setObjectName("primary");
  stop_ = new QPushButton(tr("S&top"), controls);
  stop_->setToolTip(tr("End the run behind its step; what it measured is kept"));
  state_ = new QLabel(controls);
  state_->setObjectName("caption");
  auto* const steps = new QLabel(tr("Steps"), controls);
  steps->setBuddy(steps_);
  auto* const row = new QHBoxLayout(controls);
  row->setContentsMargins(0, 0, 0, 0);
  for (QWidget* const widget : std::initializer_list<QWidget*>{steps, steps_, ranks_, start_, stop_})
    row->addWidget(widget);
  row->addSpacing(10);
  row->addWidget(state_, 1);
  return controls;
}

QWidget* RunPage::make_plots() {
  plots_ = new QWidget(card_);
  losses_ = new StepPlot(StepFigure::loss, plots_);
  throughput_ = new StepPlot(StepFigure::tokens_per_second, plots_);
  auto* const row = new QHBoxLayout(plots_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(losses_, 3);
  row->addWidget(throughput_, 2);
  return plots_;
}

QWidget* RunPage::make_comparison() {
  comparison_ = new Card(tr("Predicted against measured"), this);
  comparison_->set_subtitle(tr("After a run, or when the record of one is opened or dropped here."));
  auto* const open = new QPushButton(tr("Open a re&cord..."), comparison_);
  open->setToolTip(tr("What \"plan run --record\" measured of this plan, here or on another computer"));
  connect(open, &QPushButton::clicked, this, &RunPage::browse_asked);
  comparison_->add_tool(open);
  tables_tab_ = new QTabWidget(comparison_);
  tables_tab_->setDocumentMode(true);
  tables_tab_->setAccessibleName(tr("Predicted against measured"));
  for (const QString& title : {tr("Time"), tr("Memory"), tr("Communication"), tr("Device")}) {
    auto* const model = new TableModel(this);
    auto* const view = new TableView(*model, title);
    tables_tab_->addTab(view, title);
    parts_.push_back({title, model, view});
  }
  tables_tab_->hide();
  comparison_->add(tables_tab_, 1);
  no_tables_ = new QWidget(comparison_);
  comparison_->add(no_tables_, 1);
  return comparison_;
}

void RunPage::link() {
  connect(start_, &QPushButton::clicked, this, &RunPage::start);
  connect(stop_, &QPushButton::clicked, &run_, &PlanRun::stop);
  connect(&run_, &PlanRun::stepped, this, &RunPage::note);
  connect(&run_, &PlanRun::ended, this, [this] {
    set_running(false);
    plan_ = run_plan_;
    if (!QFile::exists(run_.record_file())) return state_->setText(tr("stopped before a step was measured"));
    open_record(run_.record_file());
  });
  connect(&run_, &PlanRun::failed, this, [this](const QString& words) {
    set_running(false);
    state_->setText(tr("failed"));
    Q_EMIT said(words);
  });
  connect(&compared_, &LatestJob::failed, this, &RunPage::said);
}

void RunPage::show_plan(SharedPlan plan) {
  plan_ = std::move(plan);
  set_running(run_.is_running());
  if (plan_ == nullptr) {
    card_->set_subtitle(tr("There is no plan to run."));
    return;
  }
  const Plan& shown = plan_->answer.plan;
  card_->set_subtitle(qt(present::question_words(shown)) + "\n" +
                      qt(present::strategy_words(shown.strategy, shown.training)));
  if (!waiting_record_.isEmpty()) open_record(std::exchange(waiting_record_, {}));
}

void RunPage::set_running(bool is_running) {
  start_->setEnabled(!is_running && plan_ != nullptr);
  steps_->setEnabled(!is_running);
  ranks_->setEnabled(!is_running);
  stop_->setEnabled(is_running);
}

void RunPage::set_steps(int steps) { steps_->setValue(steps); }

void RunPage::start() {
  if (plan_ == nullptr || run_.is_running()) return;
  Q_EMIT said({});
  run_plan_ = plan_;
  for (StepPlot* const plot : {losses_, throughput_}) plot->clear(steps_->value());
  state_->setText(tr("starting"));
  set_running(true);
  run_.start(plan_text(*plan_), steps_->value(),
             all_run_ranks[static_cast<std::size_t>(std::max(0, ranks_->currentIndex()))]);
}

void RunPage::note(const RunLine& step) {
  for (StepPlot* const plot : {losses_, throughput_}) plot->add(step);
  state_->setText(tr("step %1 of %2, loss %3, %4 s a step, %5 tokens/s")
                      .arg(step.step)
                      .arg(steps_->value())
                      .arg(step.loss, 0, 'f', 4)
                      .arg(step.seconds, 0, 'f', 3)
                      .arg(step.tokens_per_second, 0, 'f', 0));
}

void RunPage::open_record(const QString& file) {
  if (plan_ == nullptr) {
    waiting_record_ = file;
    Q_EMIT said(tr("%1 is the record of a run: open its plan first").arg(file));
    return;
  }
  compared_.start([this, file, plan = plan_](const LatestJob::Context& context) -> LatestJob::Delivery {
    const std::string name = file.toStdString();
    const auto record = std::make_shared<const RunRecord>(read_run_record_file(name));
    Task task;
    task.stop = context.stop();
    auto comparison = session::compare(plan->answer, *record, name, task);
    return [this, plan, record, comparison = std::move(comparison)] {
      if (!comparison) return;
      show_comparison(*comparison);
      Q_EMIT recorded(plan, record);
    };
  });
}

void RunPage::show_comparison(const Comparison& comparison) {
  parts_[0].model->set_table(present::action_table(comparison));
  parts_[1].model->set_table(present::compared_memory_table(comparison));
  parts_[2].model->set_table(present::sent_table(comparison));
  parts_[3].model->set_table(present::device_memory_table(comparison));
  tables_tab_->setTabVisible(3, !comparison.device.empty());
  QString words = qt(present::compared_step_words(comparison));
  if (!comparison.step_cause.empty()) words += "\n" + qt(comparison.step_cause);
  words += "\n" + qt(present::compared_bytes_words(comparison));
  if (const std::string unpredicted = present::unpredicted_device_words(comparison); !unpredicted.empty())
    words += "\n" + qt(unpredicted);
  comparison_->set_subtitle(words);
  no_tables_->hide();
  tables_tab_->show();
}

QString RunPage::compared_words() const { return tables_tab_->isHidden() ? QString() : comparison_->subtitle(); }

QWidget* RunPage::picture() { return plots_; }

std::vector<NamedTable> RunPage::tables() const {
  if (tables_tab_->isHidden()) return {};
  std::vector<NamedTable> all{{"run-time", parts_[0].model->table()},
                              {"run-memory", parts_[1].model->table()},
                              {"run-communication", parts_[2].model->table()}};
  if (tables_tab_->isTabVisible(3)) all.push_back({"run-device", parts_[3].model->table()});
  return all;
}

}  // namespace plumbline::gui
