#include "gui/pages/memory/memory_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "gui/pages/memory/knob_panel.h"
#include "gui/pages/memory/stage_bars.h"
#include "gui/pages/memory/treemap.h"
#include "gui/pages/shared/class_colours.h"
#include "gui/pages/shared/legend.h"
#include "gui/pages/shared/words_label.h"
#include "gui/tables/table_view.h"
#include "planner/present/peak_tables.h"
#include "planner/present/plan_tables.h"
#include "planner/present/plan_words.h"

namespace plumbline::gui {
namespace {

constexpr int side_width = 270;

}  // namespace

MemoryPage::MemoryPage(QWidget* parent) : Page(parent), prices_(new LatestJob(this)), trees_(new LatestJob(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  strategy_ = words_label(this);
  words_ = words_label(this);
  layout->addWidget(strategy_);
  layout->addWidget(words_);
  auto* across = new QSplitter(Qt::Horizontal, this);
  across->setChildrenCollapsible(false);
  across->addWidget(made_picture());
  across->addWidget(made_side());
  across->setStretchFactor(0, 1);
  across->setStretchFactor(1, 0);
  across->setSizes({10 * side_width, side_width});
  layout->addWidget(across, 1);
  connect(bars_, &StageBars::stage_chosen, this, &MemoryPage::show_stage);
  connect(treemap_, &Treemap::marked, marked_, &QLabel::setText);
  connect(knobs_, &KnobPanel::changed, this, &MemoryPage::ask);
  connect(prices_, &LatestJob::failed, this, &MemoryPage::show_refusal);
  connect(trees_, &LatestJob::failed, this, &MemoryPage::show_refusal);
}

QWidget* MemoryPage::made_picture() {
  picture_ = new QWidget(this);
  picture_->setAutoFillBackground(true);
  picture_->setBackgroundRole(QPalette::Base);
  auto* layout = new QVBoxLayout(picture_);
  layout->setContentsMargins(page_margin, page_margin / 2, page_margin, page_margin / 2);
  bars_ = new StageBars(picture_);
  treemap_ = new Treemap(picture_);
  legend_ = new Legend(picture_);
  marked_ = new QLabel(picture_);
  layout->addWidget(bars_, 1);
  layout->addWidget(legend_);
  layout->addWidget(treemap_, 1);
  layout->addWidget(marked_);
  return picture_;
}

QWidget* MemoryPage::made_side() {
  auto* side = new QWidget(this);
  side->setMinimumWidth(side_width);
  auto* layout = new QVBoxLayout(side);
  layout->setContentsMargins(page_margin, 0, 0, 0);
  knobs_ = new KnobPanel(side);
  layout->addWidget(knobs_);
  layout->addWidget(new TableView(classes_, tr("Memory of the chosen stage by class"), side), 1);
  classes_.colour_rows(
      [this](std::size_t row) { return colour_of_class(classes_.table().rows[row].front().text, palette_of(*this)); });
  return side;
}

void MemoryPage::show_plan(SharedPlan plan) {
  plan_ = std::move(plan);
  show_data(nullptr);
  prices_->abandon();
  knobs_->setEnabled(plan_ != nullptr);
  if (!plan_) return;
  knobs_->show_choices(knob_choices(plan_->answer), knobs_of(plan_->answer.strategy));
  ask();
}

void MemoryPage::ask() {
  if (!plan_) return;
  trees_->abandon();
  prices_->start([this, plan = plan_, knobs = knobs_->knobs()](const LatestJob::Context&) -> LatestJob::Delivery {
    SharedMemory memory = memory_data(plan, knobs);
    return [this, memory = std::move(memory)] { show_data(memory); };
  });
}

void MemoryPage::show_data(SharedMemory memory) {
  memory_ = std::move(memory);
  tree_of_.clear();
  trees_->abandon();
  words_->setText(memory_ ? QString::fromStdString(memory_words(*memory_)) : QString());
  strategy_->setText(
      memory_ ? QString::fromStdString(present::strategy_words(memory_->plan.strategy, memory_->plan.training))
              : QString());
  bars_->show_data(memory_);
  treemap_->show_tree({});
  classes_.set_table({});
  legend_->show_entries(memory_ ? class_legend(memory_->plan.prediction.stage_memory) : std::vector<LegendEntry>());
  if (!memory_) return;
  show_stage(bars_->stage());
  trees_->start([this, shown = memory_](const LatestJob::Context&) -> LatestJob::Delivery {
    auto trees = std::make_shared<std::vector<std::vector<MemoryBranch>>>(memory_trees(*shown));
    return [this, trees] { show_trees(*trees); };
  });
}

void MemoryPage::show_trees(std::vector<std::vector<MemoryBranch>> trees) {
  tree_of_ = std::move(trees);
  show_stage(bars_->stage());
}

void MemoryPage::show_stage(std::size_t stage) {
  present::Table table = present::peak_class_table(memory_->plan.prediction.stage_memory[stage]);
  table.columns.front().title = tr("stage %1").arg(stage).toStdString();
  classes_.set_table(std::move(table));
  treemap_->show_tree(stage < tree_of_.size() ? tree_of_[stage] : std::vector<MemoryBranch>());
}

void MemoryPage::show_refusal(const QString& words) {
  show_data(nullptr);
  words_->setText(
      QStringLiteral("<span style='color:%1'>%2</span>").arg(palette_of(*this).refusal.name(), words.toHtmlEscaped()));
}

std::vector<NamedTable> MemoryPage::tables() const {
  if (!memory_) return {};
  const Prediction& prediction = memory_->plan.prediction;
  std::vector<std::size_t> stages;
  for (std::size_t stage = 0; stage < memory_->stages(); ++stage) stages.push_back(stage);
  std::vector<NamedTable> tables{{"memory", present::memory_table(prediction, stages)}};
  if (bars_->stage() < tree_of_.size())
    tables.push_back({"memory-layers", memory_tree_table(tree_of_[bars_->stage()])});
  return tables;
}

}  // namespace plumbline::gui
