#include "gui/pages/scaling/scaling_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "gui/pages/scaling/scaling_chart.h"
#include "gui/pages/scaling/scaling_question.h"
#include "gui/pages/shared/legend.h"
#include "gui/pages/shared/words_label.h"
#include "gui/tables/table_view.h"
#include "planner/present/size_tables.h"

namespace plumbline::gui {
namespace {}  // namespace

ScalingPage::ScalingPage(QWidget* parent) : Page(parent), task_(new LatestJob(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  auto* head = new QHBoxLayout;
  words_ = words_label(this);
  stop_ = new QPushButton(tr("&Stop"), this);
  head->addWidget(words_, 1);
  head->addWidget(stop_);
  remark_ = words_label(this);
  layout->addLayout(head);
  layout->addWidget(remark_);
  layout->addWidget(made_picture(), 3);
  strong_words_ = words_label(this);
  weak_words_ = words_label(this);
  layout->addWidget(strong_words_);
  layout->addWidget(new TableView(strong_, tr("Strong scaling"), this), 2);
  layout->addWidget(weak_words_);
  layout->addWidget(new TableView(weak_, tr("Weak scaling"), this), 2);
  stop_->hide();
  connect(stop_, &QPushButton::clicked, this, [this] {
    task_->abandon();
    stop_->hide();
    words_->setText(tr("Stopped."));
  });
  connect(task_, &LatestJob::ended, stop_, &QWidget::hide);
  connect(task_, &LatestJob::failed, words_, &QLabel::setText);
}

QWidget* ScalingPage::made_picture() {
  picture_ = new QWidget(this);
  picture_->setAutoFillBackground(true);
  picture_->setBackgroundRole(QPalette::Base);
  auto* layout = new QVBoxLayout(picture_);
  layout->setContentsMargins(page_margin / 2, page_margin / 2, page_margin / 2, page_margin / 2);
  auto* across = new QHBoxLayout;
  for (const ScalingFigure figure : all_scaling_figures) {
    charts_.push_back(new ScalingChart(figure, picture_));
    across->addWidget(charts_.back(), 1);
  }
  legend_ = new Legend(picture_);
  layout->addLayout(across, 1);
  layout->addWidget(legend_);
  return picture_;
}

void ScalingPage::clear() {
  for (ScalingChart* chart : charts_) chart->show_lines({});
  legend_->show_entries({});
  strong_.set_table({});
  weak_.set_table({});
  for (QLabel* label : {words_, remark_, strong_words_, weak_words_}) label->clear();
}

void ScalingPage::show_plan(SharedPlan plan) {
  plan_ = std::move(plan);
  task_->abandon();
  clear();
  stop_->setVisible(plan_ != nullptr);
  if (plan_) ask();
}

void ScalingPage::ask() {
  words_->setText(tr("The best plan of each number of GPUs is searched for."));
  task_->start([this, plan = plan_](const LatestJob::Context& context) -> LatestJob::Delivery {
    const ScalingQuestion question = scaling_question(plan->answer, plan->limits);
    Task task;
    task.stop = context.stop();
    auto answer = std::make_shared<session::SizeAnswer>(session::size(session::prepare_size(question.request), task));
    return [this, answer, remark = question.remark] { show_answer(*answer, remark); };
  });
}

void ScalingPage::show_answer(const session::SizeAnswer& answer, const std::string& remark) {
  words_->setText(QString::fromStdString(present::size_question_words(answer)));
  remark_->setText(QString::fromStdString(remark));
  remark_->setVisible(!remark.empty());
  for (ScalingChart* chart : charts_)
    chart->show_lines(scaling_lines(answer, chart->figure()), tr("the machine has no price"));
  std::vector<LegendEntry> entries;
  for (const session::Scaling scaling : answer.request.scalings)
    entries.push_back({scaling == session::Scaling::strong ? tr("strong scaling") : tr("weak scaling"),
                       [scaling](const Palette& palette) { return colour_of(scaling, palette); }});
  legend_->show_entries(std::move(entries));
  strong_words_->setText(QString::fromStdString(present::scaling_words(answer, session::Scaling::strong)));
  weak_words_->setText(QString::fromStdString(present::scaling_words(answer, session::Scaling::weak)));
  strong_.set_table(present::size_table(answer, session::Scaling::strong));
  weak_.set_table(present::size_table(answer, session::Scaling::weak));
}

std::vector<NamedTable> ScalingPage::tables() const {
  if (strong_.table().rows.empty() && weak_.table().rows.empty()) return {};
  return {{"scaling-strong", strong_.table()}, {"scaling-weak", weak_.table()}};
}

}  // namespace plumbline::gui
