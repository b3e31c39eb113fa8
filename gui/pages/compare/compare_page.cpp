#include "gui/pages/compare/compare_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/files/open_file.h"
#include "gui/pages/compare/comparison.h"
#include "gui/pages/compare/timeline_strips.h"
#include "gui/tables/table_model.h"
#include "gui/tables/table_view.h"
#include "gui/text.h"
#include "gui/widgets/card.h"
#include "planner/explain/changes.h"
#include "planner/present/plan_words.h"

namespace plumbline::gui {
namespace {

/// Such as an optimal recompute where nothing has to be recomputed.
bool is_priced_alike(const Plan& one, const Plan& other) {
  return one.prediction.time.by_cause == other.prediction.time.by_cause &&
         one.prediction.peak_memory == other.prediction.peak_memory;
}

/// The fastest that fits, else the one that needs least memory.
std::optional<Change> best_of(std::vector<Change> changes, const Plan& from) {
  std::erase_if(changes, [&](const Change& change) { return is_priced_alike(change.plan, from); });
  const auto is_better = [](const Change& one, const Change& other) {
    const Plan &a = one.plan, &b = other.plan;
    if (a.verdict.fits != b.verdict.fits) return a.verdict.fits;
    return a.verdict.fits ? a.prediction.step_time_s.expected < b.prediction.step_time_s.expected
                          : a.prediction.peak_memory < b.prediction.peak_memory;
  };
  const auto best = std::min_element(changes.begin(), changes.end(), is_better);
  if (best == changes.end()) return std::nullopt;
  return std::move(*best);
}

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : Page(parent),
      names_(new QLabel(this)),
      card_(new Card(tr("Side by side"), this)),
      time_(new StackedBars("s")),
      memory_(new StackedBars("GiB")),
      timelines_(new TimelineStrips),
      table_(new TableModel(this)),
      view_(new TableView(*table_, tr("What differs"))) {
  names_->setObjectName("caption");
  names_->setWordWrap(true);
  card_->add(names_);
  auto* const differences = new Card(tr("What differs"), this);
  view_->setSortingEnabled(false);
  differences->add(view_, 1);
  auto* const both = new QHBoxLayout;
  both->addWidget(make_scrolled_pictures(), 1);
  both->addWidget(differences, 1);
  auto* const column = new QVBoxLayout(this);
  column->addWidget(card_);
  column->addLayout(both, 1);
  connect(&simulated_, &LatestJob::failed, card_, &Card::set_subtitle);
  compare({}, tr("Choose two or more plans in the ranking (Ctrl and a click), or one, which is held against its best "
                 "neighbour."));
}

/// Several plans are higher than a small screen: they scroll.
QWidget* ComparePage::make_scrolled_pictures() {
  auto* const scroll = new QScrollArea(this);
  scroll->setWidget(make_pictures());
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);  // nothing in it takes keys; the table has its figures
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setAccessibleName(tr("Pictures of the plans that are compared"));
  return scroll;
}

QWidget* ComparePage::make_pictures() {
  pictures_ = new QWidget(this);
  auto* const column = new QVBoxLayout(pictures_);
  column->setContentsMargins(0, 0, 0, 0);
  time_->setAccessibleName(tr("Step time by cause"));
  memory_->setAccessibleName(tr("Memory of the heaviest stage"));
  auto* const time_card = new Card(tr("Step time by cause"), pictures_);
  time_card->add(time_);
  auto* const memory_card = new Card(tr("Memory of the heaviest stage"), pictures_);
  memory_card->add(memory_);
  auto* const timeline_card = new Card(tr("Simulated steps on one axis"), pictures_);
  timeline_card->set_subtitle(tr("each strip a plan, its pipeline stages from the top"));
  timeline_card->add(timelines_, 1);
  column->addWidget(time_card);
  column->addWidget(memory_card);
  column->addWidget(timeline_card, 1);
  return pictures_;
}

void ComparePage::set_others(std::vector<Plan> plans) { chosen_ = std::move(plans); }

void ComparePage::show_plan(SharedPlan plan) {
  neighbour_.abandon();
  simulated_.abandon();
  if (plan == nullptr) return compare({}, tr("There is no plan to compare."));
  if (chosen_.size() > 1) {
    compare(chosen_, {});
    return simulate(plan);
  }
  compare({plan->answer.plan}, tr("looking for the best neighbour"));
  look_for_neighbour(plan);
}

void ComparePage::look_for_neighbour(const SharedPlan& plan) {
  neighbour_.start([this, plan](const LatestJob::Context& context) -> LatestJob::Delivery {
    Task task;
    task.stop = context.stop();
    auto best = best_of(single_steps(plan->answer.question, plan->answer.strategy, task), plan->answer.plan);
    return [this, plan, best = std::move(best)] {
      if (best)
        compare({plan->answer.plan, best->plan}, tr("B is the best neighbour of A: ") + qt(to_text(best->steps)));
      else
        compare({plan->answer.plan}, tr("No single step along an axis is legal and changes anything."));
      simulate(plan);
    };
  });
}

/// The plans that are compared, as the question of `asked` prices them.
void ComparePage::simulate(const SharedPlan& asked) {
  simulated_.start([this, asked, plans = plans_](const LatestJob::Context& context) -> LatestJob::Delivery {
    Task task;
    task.stop = context.stop();
    std::vector<SharedTimeline> timelines;
    for (const Plan& plan : plans) {
      SharedTimeline timeline = timeline_data(priced(plan, asked->answer.question.text()), task);
      if (timeline == nullptr) return {};
      timelines.push_back(std::move(timeline));
    }
    return [this, timelines = std::move(timelines)] { timelines_->show_timelines(timelines); };
  });
}

void ComparePage::compare(std::vector<Plan> plans, const QString& words) {
  plans_ = std::move(plans);
  QStringList lines;
  for (std::size_t i = 0; i < plans_.size(); ++i)
    lines.append(letter_of(i) + "  " + qt(present::strategy_words(plans_[i].strategy, plans_[i].training)));
  names_->setText(lines.join('\n'));
  names_->setVisible(!lines.isEmpty());
  card_->set_subtitle(words);
  time_->set_bars(time_bars(plans_));
  memory_->set_bars(memory_bars(plans_));
  timelines_->show_timelines({});
  table_->set_table(side_by_side(plans_));
}

QWidget* ComparePage::picture() { return pictures_; }

std::vector<NamedTable> ComparePage::tables() const { return {{"compare", table_->table()}}; }

}  // namespace plumbline::gui
