#include "gui/pages/plans/plans_page.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/pages/plans/plans_picture.h"
#include "gui/scatter/scatter_plot.h"
#include "gui/tables/table_model.h"
#include "gui/tables/table_view.h"
#include "gui/text.h"
#include "gui/widgets/card.h"
#include "planner/present/plan_words.h"
#include "planner/present/search_words.h"

namespace plumbline::gui {
namespace {

/// What the command line prints around a ranking, without the table.
QString remarks_on(const session::SearchAnswer& answer) {
  QStringList lines;
  for (const std::string& words : {present::tie_words(answer), present::quality_words(answer.request.recipes)})
    if (!words.empty()) lines.append(qt(words));
  if (!answer.result.complete) lines.append(QObject::tr("Interrupted: the best so far, not the best there is."));
  lines.append(qt(present::audit_words(answer.result.audit)));
  return lines.join('\n');
}

QString nearest_words(const session::SearchAnswer& answer) {
  if (!answer.nearest_miss) return {};
  const Plan& plan = *answer.nearest_miss;
  return QObject::tr("Nearest: ") + qt(present::strategy_words(plan.strategy, plan.training)) + "\n" +
         qt(plan.verdict.reason);
}

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
}

QWidget* PlansPage::make_picture_card() {
  picture_card_ = new Card(tr("Step time against peak memory"));
  picture_card_->set_subtitle(tr("Each question's plans appear here."));
  scatter_ = new ScatterPlot(picture_card_);
  picture_card_->add(scatter_, 1);
  return picture_card_;
}

QWidget* PlansPage::make_table_card() {
  table_card_ = new Card(tr("Ranking"));
  filter_ = new QLineEdit(table_card_);
  filter_->setPlaceholderText(tr("filter, such as tp>=4"));
  filter_->setAccessibleName(tr("Filter of the ranking"));
  filter_->setToolTip(tr("Words apart by blanks that a plan must hold; a column's title with a number, such as pp<=4"));
  filter_->setClearButtonEnabled(true);
  filter_->setFixedWidth(34 * filter_->fontMetrics().averageCharWidth());
  reasons_button_ = new QToolButton(table_card_);
  reasons_button_->setText(tr("Why not others?"));
  reasons_button_->setCheckable(true);
  table_card_->add_tool(reasons_button_);
  table_card_->add_tool(filter_);
  ranking_view_ = new TableView(*ranking_, table_card_);
  ranking_view_->setAccessibleName(tr("Ranking of plans"));
  table_card_->add(ranking_view_, 1);
  table_card_->add(make_reasons(), 1);
  words_ = new QLabel(table_card_);
  words_->setObjectName("caption");
  words_->setWordWrap(true);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  table_card_->add(words_);
  return table_card_;
}

QWidget* PlansPage::make_reasons() {
  reasons_view_ = new TableView(*reasons_, table_card_);
  reasons_view_->setAccessibleName(tr("Why other plans are not shown"));
  reasons_view_->horizontalHeader()->setStretchLastSection(true);
  reasons_view_->hide();
  return reasons_view_;
}

void PlansPage::link() {
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) { ranking_->set_filter(text); });
  connect(reasons_button_, &QToolButton::toggled, this, [this](bool is_shown) {
    reasons_view_->setVisible(is_shown);
    ranking_view_->setVisible(!is_shown);
  });
  connect(scatter_, &ScatterPlot::hovered_changed, ranking_view_, &TableView::set_hovered_row);
  connect(ranking_view_, &TableView::hovered, scatter_, &ScatterPlot::set_hovered);
  connect(ranking_view_, &TableView::chosen, this, [this](const std::vector<int>& rows) {
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

void PlansPage::show_found(const SharedFound& found) {
  found_ = found;
  const session::SearchAnswer& answer = found->answer;
  scatter_->set_picture(scatter_of(answer));
  ranking_->set_table(ranking_of(answer), marks_of(answer));
  ranking_view_->fit_columns();
  reasons_->set_table(rejection_table(answer.result.audit));
  reasons_view_->fit_columns();
  show_words(answer);
  set_outdated(false);
}

void PlansPage::show_words(const session::SearchAnswer& answer) {
  words_->setText(remarks_on(answer));
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
