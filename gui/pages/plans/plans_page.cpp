#include "gui/pages/plans/plans_page.h"

#include <QComboBox>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/quantity/text.h"
#include "gui/pages/plans/plans_picture.h"
#include "gui/pages/shared/words_label.h"
#include "gui/scatter/scatter_plot.h"
#include "gui/tables/table_model.h"
#include "gui/tables/table_view.h"
#include "gui/text.h"
#include "gui/widgets/card.h"
#include "planner/present/plan_words.h"
#include "planner/session/search/search_words.h"

namespace plumbline::gui {
namespace {

/// What the command line prints around a ranking, without the table.
QStringList notes_on(const session::SearchAnswer& answer) {
  QStringList lines;
  for (const std::string& words : {present::tie_words(answer), present::quality_words(answer.request.recipes)})
    if (!words.empty()) lines.append(qt(words));
  if (!answer.result.complete) lines.append(QObject::tr("Interrupted: the best so far, not the best there is."));
  lines.append(qt(present::audit_words(answer.result.audit)));
  return lines;
}

QString nearest_words(const session::SearchAnswer& answer) {
  if (!answer.nearest_miss) return {};
  const Plan& plan = *answer.nearest_miss;
  return QObject::tr("Nearest: ") + qt(present::strategy_words(plan.strategy, plan.training)) + "\n" +
         qt(plan.verdict.reason);
}

session::RunLimits limits_of(const Found& found) { return run_limits(found.form); }

}  // namespace

PlansPage::PlansPage(QWidget* parent) : Page(parent), ranking_(new TableModel(this)), reasons_(new TableModel(this)) {
  auto* const parts = new QSplitter(Qt::Vertical, this);
  parts->setChildrenCollapsible(false);
  parts->addWidget(make_picture_card());
  parts->addWidget(make_table_card());
  parts->setSizes({1000, 1150});
  auto* const column = new QVBoxLayout(this);
  column->addWidget(parts);
  link();
  link_tools();
}

QWidget* PlansPage::make_picture_card() {
  picture_card_ = new Card(tr("Step time against peak memory"));
  picture_card_->set_subtitle(tr("Each question's plans appear here."));
  intervals_ = new QToolButton(picture_card_);
  intervals_->setText(tr("&Intervals"));
  intervals_->setCheckable(true);
  intervals_->setToolTip(tr("The interval of each step time: nine of ten runs lie in it"));
  shade_ = new QComboBox(picture_card_);
  shade_->addItems({tr("coloured: within the noise"), tr("coloured by cost"), tr("coloured by GPUs")});
  shade_->setAccessibleName(tr("What the colour of a point says"));
  scatter_ = new ScatterPlot(picture_card_);
  picture_card_->add_tool(intervals_);
  picture_card_->add_tool(shade_);
  picture_card_->add(scatter_, 1);
  return picture_card_;
}

QWidget* PlansPage::make_table_card() {
  table_card_ = new Card(tr("Ranking"));
  make_table_tools();
  ranking_view_ = new TableView(*ranking_, tr("Ranking of plans"), table_card_);
  ranking_view_->setObjectName("ranking");
  table_card_->add(ranking_view_, 1);
  table_card_->add(make_reasons(), 1);
  words_ = words_label(table_card_);
  words_->setObjectName("caption");
  table_card_->add(words_);
  return table_card_;
}

void PlansPage::make_table_tools() {
  unfold_button_ = new QToolButton(table_card_);
  unfold_button_->setText(tr("&Unfold"));
  unfold_button_->setCheckable(true);
  unfold_button_->setEnabled(false);
  unfold_button_->setToolTip(tr("Also plans that differ from one of these by less than repetitions of one run (+)"));
  reasons_button_ = new QToolButton(table_card_);
  reasons_button_->setText(tr("&Why not others?"));
  reasons_button_->setCheckable(true);
  filter_ = new QLineEdit(table_card_);
  filter_->setPlaceholderText(tr("filter, such as tp>=4"));
  filter_->setAccessibleName(tr("Filter of the ranking"));
  filter_->setToolTip(tr("Words apart by blanks that a plan must hold; a column's title with a number, such as pp<=4"));
  filter_->setClearButtonEnabled(true);
  filter_->setFixedWidth(34 * filter_->fontMetrics().averageCharWidth());
  table_card_->add_tool(unfold_button_);
  table_card_->add_tool(reasons_button_);
  table_card_->add_tool(filter_);
}

QWidget* PlansPage::make_reasons() {
  reasons_view_ = new TableView(*reasons_, tr("Why other plans are not shown"), table_card_);
  reasons_view_->horizontalHeader()->setStretchLastSection(true);
  reasons_view_->hide();
  return reasons_view_;
}

void PlansPage::link_tools() {
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) { ranking_->set_filter(text); });
  connect(shade_, &QComboBox::currentIndexChanged, this,
          [this](int index) { scatter_->set_shade(static_cast<Shade>(index)); });
  connect(intervals_, &QToolButton::toggled, this,
          [this](bool is_shown) { scatter_->set_intervals(is_shown ? Intervals::of_all : Intervals::of_marked); });
  connect(unfold_button_, &QToolButton::toggled, this, &PlansPage::unfold);
  connect(reasons_button_, &QToolButton::toggled, this, [this](bool is_shown) {
    reasons_view_->setVisible(is_shown);
    ranking_view_->setVisible(!is_shown);
  });
}

void PlansPage::link() {
  connect(scatter_, &ScatterPlot::hovered_changed, ranking_view_, &TableView::set_hovered_row);
  connect(ranking_view_, &TableView::hovered, scatter_, &ScatterPlot::set_hovered);
  connect(ranking_view_, &TableView::room_changed, this, &PlansPage::show_notes);
  connect(ranking_view_, &TableView::chosen, this, [this](const std::vector<int>& rows) {
    if (is_so_far_) return;
    scatter_->set_chosen(rows);
    Q_EMIT chosen(rows);
  });
  connect(scatter_, &ScatterPlot::clicked, this, [this](int point, bool adds) {
    const int place = ranking_->place_of(point);
    if (place < 0) return;
    using Flag = QItemSelectionModel::SelectionFlag;
    ranking_view_->selectionModel()->select(ranking_->index(place, 0),
                                            (adds ? Flag::Toggle : Flag::ClearAndSelect) | Flag::Rows);
    ranking_view_->scrollTo(ranking_->index(place, 0));
  });
}

void PlansPage::show_so_far(const SharedSoFar& found) {
  unfolding_.abandon();
  is_so_far_ = true;
  scatter_->set_picture(scatter_so_far(found->best));
  ranking_->set_table(ranking_so_far(found->best));
  unfold_button_->setEnabled(false);
  picture_card_->set_title(tr("Step time against peak memory: the best so far"));
  picture_card_->set_subtitle(tr("%1 plans, by closed form; the search goes on and simulates the best of them.")
                                  .arg(qt(grouped(static_cast<std::int64_t>(found->best.size())))));
  table_card_->set_subtitle(tr("They can be chosen when the search has ended; Stop (Esc) ends it with these."));
  notes_.clear();
  show_notes();
}

void PlansPage::end_so_far() {
  if (!is_so_far_) return;
  if (found_ != nullptr) return show_found(found_);
  is_so_far_ = false;
  scatter_->set_picture({});
  ranking_->set_table({});
  picture_card_->set_subtitle(tr("Each question's plans appear here."));
  table_card_->set_subtitle({});
  set_outdated(false);
}

void PlansPage::show_found(const SharedFound& found) {
  unfolding_.abandon();
  is_so_far_ = false;
  found_ = found;
  const session::SearchAnswer& answer = found->answer;
  const QSignalBlocker blocker(unfold_button_);
  unfold_button_->setChecked(false);
  show_plans(folded_plans(answer));
  const auto stands_for_others = [](const RankedPlan& ranked) { return ranked.equivalent > 0; };
  unfold_button_->setEnabled(std::any_of(plans_.begin(), plans_.end(), stands_for_others));
  reasons_->set_table(rejection_table(answer.result.audit));
  show_words(answer);
  set_outdated(false);
}

void PlansPage::show_plans(std::vector<RankedPlan> plans) {
  plans_ = std::move(plans);
  const session::RunLimits limits = limits_of(*found_);
  scatter_->set_picture(scatter_of(found_->answer, plans_, limits));
  ranking_->set_table(ranking_of(plans_), marks_of(found_->answer, plans_, limits));
}

void PlansPage::unfold(bool is_unfolded) {
  unfolding_.abandon();
  if (found_ == nullptr) return;
  if (!is_unfolded) return show_plans(folded_plans(found_->answer));
  unfolding_.start([this, found = found_](const LatestJob::Context& context) -> LatestJob::Delivery {
    auto plans = std::make_shared<std::vector<RankedPlan>>(unfolded_plans(found->answer, context.stop()));
    return [this, plans] { show_plans(std::move(*plans)); };
  });
}

void PlansPage::show_words(const session::SearchAnswer& answer) {
  notes_ = notes_on(answer);
  const session::RunLimits limits = limits_of(*found_);
  if (const std::string kept = kept_words(run_figures(plans_, limits), limits); !kept.empty()) notes_.prepend(qt(kept));
  show_notes();
  if (answer.plans.empty()) {
    picture_card_->set_subtitle(answer.result.complete ? tr("No plan of this space fits.")
                                                       : tr("Interrupted before a plan was found."));
    table_card_->set_subtitle(nearest_words(answer));
    return;
  }
  picture_card_->set_subtitle(
      qt(present::question_words(answer.plans.front())) + "\n" +
      tr("each point a plan; in colour: within the noise of the best; line: the front that no plan "
         "beats in both"));
  table_card_->set_subtitle(qt(present::framework_words(answer.framework)));
}

/// What the command line says behind a ranking, and which columns have no room.
void PlansPage::show_notes() {
  QStringList lines = notes_;
  const QString& room = ranking_view_->room_words();
  if (!lines.isEmpty() && !room.isEmpty()) lines.append(tr("%1 (a right click on a title chooses columns)").arg(room));
  words_->setText(lines.join('\n'));
}

void PlansPage::set_outdated(bool is_outdated) {
  picture_card_->set_title(is_outdated ? tr("Step time against peak memory: of the question before this one")
                                       : tr("Step time against peak memory"));
}

void PlansPage::choose(int plan) { ranking_view_->choose_row(plan); }

QWidget* PlansPage::picture() { return scatter_; }

std::vector<NamedTable> PlansPage::tables() const {
  return {{"plans", ranking_->shown()}, {"rejected", reasons_->table()}};
}

}  // namespace plumbline::gui
