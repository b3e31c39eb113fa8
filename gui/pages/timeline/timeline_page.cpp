#include "gui/pages/timeline/timeline_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <limits>
#include <utility>

#include "core/quantity/text.h"
#include "gui/pages/shared/class_colours.h"
#include "gui/pages/shared/legend.h"
#include "gui/pages/shared/words_label.h"
#include "gui/pages/timeline/lane_view.h"
#include "gui/pages/timeline/memory_view.h"
#include "gui/pages/timeline/minimap.h"
#include "gui/tables/table_view.h"
#include "planner/present/numbers.h"
#include "planner/present/peak_tables.h"

namespace plumbline::gui {
namespace {

constexpr int details_width = 385;
constexpr int lanes_stretch = 3;
constexpr int memory_stretch = 2;

}  // namespace

TimelinePage::TimelinePage(QWidget* parent) : Page(parent), task_(new LatestJob(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  layout->addWidget(made_head());
  auto* across = new QSplitter(Qt::Horizontal, this);
  across->setChildrenCollapsible(false);
  across->addWidget(made_picture());
  across->addWidget(made_details());
  across->setStretchFactor(0, 1);
  across->setStretchFactor(1, 0);
  across->setSizes({10 * details_width, details_width});
  layout->addWidget(across, 1);
  connect_views();
}

QWidget* TimelinePage::made_head() {
  auto* head = new QWidget(this);
  auto* layout = new QHBoxLayout(head);
  layout->setContentsMargins(0, 0, 0, 0);
  words_ = new QLabel(head);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  words_->setWordWrap(true);
  layout->addWidget(words_, 1);
  return head;
}

QWidget* TimelinePage::made_picture() {
  picture_ = new QWidget(this);
  picture_->setAutoFillBackground(true);
  picture_->setBackgroundRole(QPalette::Base);
  auto* layout = new QVBoxLayout(picture_);
  layout->setContentsMargins(0, page_margin / 2, 0, page_margin / 2);
  layout->setSpacing(page_margin / 2);
  lanes_ = new LaneView(picture_);
  memory_ = new MemoryView(picture_);
  minimap_ = new Minimap(picture_);
  legend_ = new Legend(picture_);
  auto* below = new QHBoxLayout;
  below->setContentsMargins(page_margin, 0, page_margin, 0);
  below->addWidget(legend_);
  layout->addWidget(minimap_);
  layout->addWidget(lanes_, lanes_stretch);
  layout->addWidget(memory_, memory_stretch);
  layout->addLayout(below);
  return picture_;
}

QWidget* TimelinePage::made_details() {
  auto* details = new QWidget(this);
  auto* layout = new QVBoxLayout(details);
  layout->setContentsMargins(page_margin, 0, 0, 0);
  instant_ = words_label(details);
  layout->addWidget(instant_);
  layout->addWidget(new TableView(classes_, tr("Memory by class at the instant"), details), 1);
  layout->addWidget(new TableView(buffers_, tr("Largest buffers alive at the instant"), details), 1);
  auto* peak = new QPushButton(tr("Go to the &peak"), details);
  connect(peak, &QPushButton::clicked, this, [this] {
    if (data_) show_sample(track_.peak);
  });
  layout->addWidget(peak);
  details->setMinimumWidth(details_width);
  for (TableModel* model : {&classes_, &buffers_})
    model->colour_rows([this, model](std::size_t row) {
      return colour_of_class(model->table().rows[row].front().text, palette_of(*this));
    });
  return details;
}

void TimelinePage::connect_views() {
  connect(lanes_, &LaneView::window_changed, memory_, &MemoryView::show_window);
  connect(lanes_, &LaneView::window_changed, minimap_, &Minimap::show_window);
  connect(minimap_, &Minimap::window_changed, lanes_, &LaneView::show_window);
  connect(minimap_, &Minimap::window_changed, memory_, &MemoryView::show_window);
  connect(lanes_, &LaneView::stage_chosen, this, &TimelinePage::show_stage);
  connect(lanes_, &LaneView::instant_chosen, this, &TimelinePage::show_instant);
  connect(memory_, &MemoryView::sample_chosen, this, &TimelinePage::show_sample);
  connect(task_, &LatestJob::failed, this, [this](const QString& message) { words_->setText(message); });
}

void TimelinePage::show_plan(SharedPlan plan) {
  show_data(nullptr);
  plan_ = std::move(plan);
  if (!plan_) return task_->abandon();
  words_->setText(tr("The step is simulated."));
  task_->start([this, plan = plan_, record = plan_ == recorded_plan_ ? record_ : nullptr](
                   const LatestJob::Context& context) -> LatestJob::Delivery {
    Task task;
    task.stop = context.stop();
    SharedTimeline timeline = timeline_data(plan, task, record);
    return [this, timeline = std::move(timeline)] { show_data(timeline); };
  });
}

void TimelinePage::show_record(const SharedPlan& plan, const SharedRecord& record) {
  recorded_plan_ = plan;
  record_ = record;
  if (plan_ != nullptr && plan_ == recorded_plan_) show_plan(plan_);
}

void TimelinePage::show_data(SharedTimeline timeline) {
  data_ = std::move(timeline);
  words_->setText(data_ ? QString::fromStdString(timeline_words(*data_)) : QString());
  lanes_->show_data(data_);
  minimap_->show_data(data_);
  memory_->show_window(lanes_->window());
  show_legend();
  if (data_) return show_stage(lanes_->chosen_stage());
  memory_->show_picture(std::nullopt);
  classes_.set_table({});
  buffers_.set_table({});
  instant_->clear();
}

void TimelinePage::show_stage(std::size_t stage) {
  track_ = memory_track(data_->simulated(), stage);
  const MemoryBreakdown& peak = data_->simulation().memory[stage].memory;
  memory_->show_picture(
      MemoryPicture{track_, data_->capacity[stage], peak.device_total(), peak[MemoryClass::fragmentation]});
  show_sample(track_.peak);
}

void TimelinePage::show_instant(double time) { show_sample(sample_at(track_, time)); }

void TimelinePage::show_sample(std::size_t sample) {
  memory_->show_sample(sample);
  const MemorySample& now = track_.samples[sample];
  lanes_->show_instant(static_cast<double>(now.at.value()));
  const std::size_t stage = lanes_->chosen_stage();
  // At the peak it is known what the allocator loses.
  const bool is_peak = sample == track_.peak;
  const MemoryBreakdown& memory = is_peak ? data_->simulation().memory[stage].memory : now.memory;
  QString words = is_peak ? tr("<b>At the peak of stage %1</b>") : tr("<b>Alive on stage %1</b>");
  words = words.arg(stage) + QStringLiteral("<br>") +
          tr("%1 GiB at %2")
              .arg(QString::fromStdString(present::gib_text(memory.device_total(), 2)),
                   QString::fromStdString(to_text(to_seconds(is_peak ? data_->reports[stage].peak_at : now.at))));
  const std::string& action = data_->reports[stage].peak_action;
  if (is_peak && !action.empty()) words += tr(", when %1 starts").arg(QString::fromStdString(action));
  instant_->setText(words);
  present::Table classes = present::peak_class_table(memory);
  if (!is_peak) classes.columns.front().title = "at this instant";
  classes_.set_table(std::move(classes));
  present::Table buffers = present::largest_buffer_table(buffers_at(data_->simulated(), stage, now),
                                                         std::numeric_limits<std::size_t>::max());
  buffers.columns.front().title = "that come and go";
  buffers.columns[2].drop_order = 1;  // how many there are says least
  buffers_.set_table(std::move(buffers));
}

void TimelinePage::show_legend() {
  std::vector<LegendEntry> entries;
  std::array<bool, all_activities.size()> seen{};
  if (data_)
    for (const std::vector<Lane>* lanes : {&data_->lanes, &data_->measured})
      for (const Lane& lane : *lanes)
        for (const Segment& segment : lane.segments) seen[static_cast<std::size_t>(segment.activity)] = true;
  seen[static_cast<std::size_t>(Activity::idle)] = data_ != nullptr;
  for (const Activity activity : all_activities)
    if (seen[static_cast<std::size_t>(activity)])
      entries.push_back({tr(words_of(activity)), [activity](const Palette& palette) { return palette.of(activity); }});
  legend_->show_entries(std::move(entries));
}

std::vector<NamedTable> TimelinePage::tables() const {
  if (!data_) return {};
  return {{"timeline-stages", stage_table(*data_)},
          {"timeline-classes", classes_.table()},
          {"timeline-buffers", buffers_.table()}};
}

}  // namespace plumbline::gui
