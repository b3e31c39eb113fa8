#include "gui/pages/scaling/scaling_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gui/pages/shared/legend.h"
#include "gui/pages/shared/words_label.h"
#include "gui/tables/table_view.h"
#include "planner/session/size/size.h"

namespace plumbline::gui {
namespace {

LineLook look_of(session::Scaling scaling) {
  return scaling == session::Scaling::strong ? LineLook::whole : LineLook::dashed;
}

std::optional<ScalingPoint> point_of(const session::SizeRow& row, ScalingFigure figure) {
  const auto devices = static_cast<double>(row.devices);
  const Interval& days = row.bill.days;
  if (figure == ScalingFigure::days) return ScalingPoint{devices, days.low, days.expected, days.high};
  if (figure == ScalingFigure::efficiency)
    return ScalingPoint{devices, 100 * row.efficiency, 100 * row.efficiency, 100 * row.efficiency};
  if (!row.bill.dollars || days.expected <= 0) return std::nullopt;
  const double dollars = row.bill.dollars->value();
  return ScalingPoint{devices, dollars * days.low / days.expected, dollars, dollars * days.high / days.expected};
}

std::vector<ScalingLine> scaling_lines(const session::SizeAnswer& answer, ScalingFigure figure) {
  std::vector<ScalingLine> lines;
  for (const session::Scaling scaling : answer.request.scalings) {
    ScalingLine line{std::string(to_text(scaling)), look_of(scaling), {}};
    for (const session::SizeRow& row : answer.rows) {
      if (row.scaling != scaling || !row.plan) continue;
      if (const auto point = point_of(row, figure)) line.points.push_back(*point);
    }
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// What `plan size` answers: numbers of GPUs from the smallest on, until the limits are met.
session::SizeAnswer fewest_within_limits(session::SizeRequest request, const Task& task) {
  request.devices.clear();
  request.scalings = {session::Scaling::strong};
  return session::size(session::prepare_size(request), task);
}

/// The curves show the answer too.
void add_count(std::vector<std::int64_t>& counts, std::int64_t count) {
  if (std::find(counts.begin(), counts.end(), count) != counts.end()) return;
  counts.insert(std::upper_bound(counts.begin(), counts.end(), count), count);
}

std::string note_on(const session::ScalingQuestion& question, bool has_limits) {
  std::string note = question.note;
  if (!note.empty()) note += "\n";
  note += "Efficiency is the throughput of each GPU over the best of the same scaling that is shown here.";
  if (has_limits) note += " Days: * within the limits as expected, ** at the upper end of the interval too.";
  return note;
}

}  // namespace

ShownScaling shown_scaling(const PricedPlan& plan, const Task& task) {
  session::ScalingQuestion question = session::scaling_question(plan.answer, plan.limits);
  std::string least;
  if (plan.limits.any()) {
    const session::SizeAnswer fewest = fewest_within_limits(question.request, task);
    least = present::size_answer_words(fewest);
    const auto row = fewest.least ? fewest.least : fewest.nearest;
    if (row) add_count(question.request.devices, fewest.rows[*row].devices);
  }
  const session::SizeAnswer answer = session::size(session::prepare_size(question.request), task);
  ShownScaling shown;
  shown.words = present::size_question_words(answer);
  shown.least = least;
  shown.note = note_on(question, plan.limits.any());
  if (plan.limits.days) shown.limits[static_cast<std::size_t>(ScalingFigure::days)] = *plan.limits.days;
  if (plan.limits.budget) shown.limits[static_cast<std::size_t>(ScalingFigure::dollars)] = plan.limits.budget->value();
  for (const ScalingFigure figure : all_scaling_figures)
    shown.lines[static_cast<std::size_t>(figure)] = scaling_lines(answer, figure);
  shown.strong_words = present::scaling_words(answer, session::Scaling::strong);
  shown.weak_words = present::scaling_words(answer, session::Scaling::weak);
  shown.strong = present::size_table(answer, session::Scaling::strong);
  shown.weak = present::size_table(answer, session::Scaling::weak);
  return shown;
}

ScalingPage::ScalingPage(QWidget* parent) : Page(parent), task_(new LatestJob(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  auto* head = new QHBoxLayout;
  words_ = words_label(this);
  stop_ = new QPushButton(tr("&Stop"), this);
  head->addWidget(words_, 1);
  head->addWidget(stop_);
  least_ = words_label(this);
  least_->setObjectName("title");
  least_->hide();
  note_ = words_label(this);
  layout->addLayout(head);
  layout->addWidget(least_);
  layout->addWidget(note_);
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
  for (QLabel* label : {words_, least_, note_, strong_words_, weak_words_}) label->clear();
  least_->hide();
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
    Task task;
    task.stop = context.stop();
    auto scaling = std::make_shared<ShownScaling>(shown_scaling(*plan, task));
    return [this, scaling] { show_scaling(*scaling); };
  });
}

void ScalingPage::show_scaling(const ShownScaling& scaling) {
  words_->setText(QString::fromStdString(scaling.words));
  note_->setText(QString::fromStdString(scaling.note));
  note_->setVisible(!scaling.note.empty());
  least_->setText(QString::fromStdString(scaling.least));
  least_->setVisible(!scaling.least.empty());
  for (ScalingChart* chart : charts_)
    chart->show_lines(scaling.lines_of(chart->figure()), tr("the machine has no price"),
                      scaling.limits[static_cast<std::size_t>(chart->figure())]);
  legend_->show_entries(
      {{tr("strong scaling"), [](const Palette& palette) { return colour_of(LineLook::whole, palette); }},
       {tr("weak scaling"), [](const Palette& palette) { return colour_of(LineLook::dashed, palette); }}});
  strong_words_->setText(QString::fromStdString(scaling.strong_words));
  weak_words_->setText(QString::fromStdString(scaling.weak_words));
  strong_.set_table(scaling.strong);
  weak_.set_table(scaling.weak);
}

std::vector<NamedTable> ScalingPage::tables() const {
  if (strong_.table().rows.empty() && weak_.table().rows.empty()) return {};
  return {{"scaling-strong", strong_.table()}, {"scaling-weak", weak_.table()}};
}

}  // namespace plumbline::gui
