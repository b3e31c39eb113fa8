#include "gui/pages/step/step_page.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "gui/pages/shared/words_label.h"
#include "gui/pages/step/waterfall.h"
#include "gui/tables/table_view.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_tables.h"
#include "planner/present/plan_words.h"
#include "planner/pricing/trust.h"

namespace plumbline::gui {
namespace {}  // namespace

StepPage::StepPage(QWidget* parent)
    : Page(parent),
      explained_(new LatestJob(this)),
      measured_(new LatestJob(this)),
      runs_(std::make_shared<MeasuredRuns>()) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  words_ = words_label(this);
  waterfall_ = new Waterfall(this);
  bottleneck_ = words_label(this);
  basis_ = words_label(this);
  layout->addWidget(words_);
  layout->addWidget(waterfall_);
  layout->addWidget(bottleneck_);
  layout->addWidget(made_tables(), 1);
  layout->addWidget(basis_);
  const auto show_failure = [this](const QString& message) { bottleneck_->setText(message); };
  connect(explained_, &LatestJob::failed, this, show_failure);
  connect(measured_, &LatestJob::failed, this, show_failure);
}

QWidget* StepPage::made_tables() {
  auto* down = new QSplitter(Qt::Vertical, this);
  down->setChildrenCollapsible(false);
  auto* across = new QSplitter(Qt::Horizontal, down);
  across->setChildrenCollapsible(false);
  across->addWidget(new TableView(changes_, tr("One change along each axis"), across));
  across->addWidget(new TableView(near_, tr("Nearest measured runs"), across));
  across->setSizes({506, 434});
  down->addWidget(across);
  down->addWidget(new TableView(assumed_, tr("Assumed numbers and their sources"), down));
  return down;
}

QWidget* StepPage::picture() { return waterfall_; }

void StepPage::show_plan(SharedPlan plan) {
  plan_ = std::move(plan);
  explained_->abandon();
  measured_->abandon();
  changes_.set_table({});
  assumed_.set_table({});
  near_.set_table({});
  bottleneck_->clear();
  basis_->clear();
  words_->clear();
  waterfall_->clear();
  if (!plan_) return;
  const Plan& shown = plan_->answer.plan;
  words_->setText(QString::fromStdString(present::interval_text(shown.prediction.step_time_s) + ", " +
                                         present::throughput_words(shown)));
  waterfall_->show_step(shown.prediction.time, shown.prediction.step_time_s);
  const std::string trust = present::trust_words(shown.provenance.trust);
  basis_->setText(QString::fromStdString(present::basis_words(shown) + (trust.empty() ? "" : "; " + trust)));
  ask();
}

void StepPage::ask() {
  explained_->start([this, plan = plan_](const LatestJob::Context& context) -> LatestJob::Delivery {
    Task task;
    task.stop = context.stop();
    auto explanation = std::make_shared<session::Explanation>(session::explain(plan->answer, std::nullopt, task));
    return [this, explanation] { show_explanation(*explanation); };
  });
  measured_->start([this, plan = plan_, runs = runs_](const LatestJob::Context& context) -> LatestJob::Delivery {
    const RunFeatures features = run_features(plan->answer.question, plan->answer.strategy);
    auto near =
        std::make_shared<std::vector<RunOutcome>>(nearest(runs->of_device(features.device, context.stop()), features));
    return [this, near] { show_runs(*near); };
  });
}

void StepPage::show_explanation(const session::Explanation& explanation) {
  bottleneck_->setText(QString::fromStdString("Bottleneck: " + explanation.bottleneck + "."));
  changes_.set_table(present::change_table(explanation.plan, explanation.changes));
  assumed_.set_table(present::assumed_table(explanation.assumed));
}

void StepPage::show_runs(const std::vector<RunOutcome>& runs) { near_.set_table(near_runs_table(runs)); }

std::vector<NamedTable> StepPage::tables() const {
  if (!plan_) return {};
  return {{"step", present::time_table(plan_->answer.plan.prediction.time)},
          {"step-changes", changes_.table()},
          {"step-assumed", assumed_.table()},
          {"step-measured", near_.table()}};
}

}  // namespace plumbline::gui
