#include "gui/dock/machine_dialog.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/dock/machine_model.h"
#include "gui/text.h"

namespace plumbline::gui {

MachineDialog::MachineDialog(QuestionModel& question, QWidget* parent)
    : QDialog(parent),
      question_(&question),
      numbers_(new MachineModel(question, this)),
      filtered_(new QSortFilterProxyModel(this)),
      filter_(new QLineEdit(this)),
      view_(new QTableView(this)),
      words_(new QLabel(this)),
      reset_(new QPushButton(tr("&Reset the chosen"), this)),
      reset_all_(new QPushButton(tr("Reset &all"), this)) {
  setWindowTitle(tr("Numbers of the cluster"));
  resize(900, 560);
  filtered_->setSourceModel(numbers_);
  filtered_->setFilterKeyColumn(-1);
  filtered_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  view_->setModel(filtered_);
  view_->setAccessibleName(tr("Numbers of the cluster"));
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                         QAbstractItemView::AnyKeyPressed);
  view_->setTabKeyNavigation(false);
  view_->setShowGrid(false);
  view_->setWordWrap(false);
  view_->setFrameShape(QFrame::NoFrame);
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setDefaultSectionSize(view_->fontMetrics().height() + 9);
  view_->horizontalHeader()->setStretchLastSection(true);
  view_->horizontalHeader()->setHighlightSections(false);
  filter_->setPlaceholderText(tr("filter, such as bandwidth"));
  filter_->setAccessibleName(tr("Filter of the numbers"));
  filter_->setClearButtonEnabled(true);
  words_->setWordWrap(true);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  lay_out();
  connect(filter_, &QLineEdit::textChanged, filtered_, &QSortFilterProxyModel::setFilterFixedString);
  connect(reset_, &QPushButton::clicked, this, &MachineDialog::reset_chosen);
  connect(reset_all_, &QPushButton::clicked, numbers_, &MachineModel::reset_all);
  connect(numbers_, &MachineModel::refused, this, [this](const QString& words) {
    if (words.isEmpty()) return show_state();
    words_->setObjectName("refusal");
    words_->setText(words);
    setStyleSheet(styleSheet());
  });
  connect(question_, &QuestionModel::changed, this, &MachineDialog::show_state);
  show_state();
}

void MachineDialog::lay_out() {
  auto* const caption = new QLabel(tr("A double click or F2 edits a value, its source or its kind. Every edit is a "
                                      "change of the question: the search "
                                      "starts anew, and Ctrl+Z takes it back."),
                                   this);
  caption->setObjectName("caption");
  caption->setWordWrap(true);
  auto* const foot = new QHBoxLayout;
  foot->addWidget(words_, 1);
  foot->addWidget(reset_);
  foot->addWidget(reset_all_);
  auto* const close = new QPushButton(tr("&Close"), this);
  connect(close, &QPushButton::clicked, this, &QDialog::close);
  foot->addWidget(close);
  for (QPushButton* const button : {reset_, reset_all_, close}) button->setAutoDefault(false);
  auto* const column = new QVBoxLayout(this);
  column->addWidget(caption);
  column->addWidget(filter_);
  column->addWidget(view_, 1);
  column->addLayout(foot);
}

void MachineDialog::reset_chosen() {
  std::vector<int> rows;
  for (const QModelIndex& index : view_->selectionModel()->selectedRows())
    rows.push_back(filtered_->mapToSource(index).row());
  for (const int row : rows)
    if (numbers_->is_edited(row)) numbers_->reset(row);
}

void MachineDialog::show_state() {
  const auto edits = static_cast<int>(question_->form().machine_edits.size());
  words_->setObjectName("caption");
  setStyleSheet(styleSheet());
  if (!numbers_->trouble().isEmpty())
    words_->setText(numbers_->trouble());
  else
    words_->setText(edits == 0 ? tr("As the cluster's file has them.") : tr("Edited numbers: %1, in bold.").arg(edits));
  reset_->setEnabled(edits > 0);
  reset_all_->setEnabled(edits > 0);
  constexpr int widest = 250, widest_date = 90;  // the last column takes the rest
  view_->resizeColumnsToContents();
  for (int column = 0; column < MachineModel::column_count; ++column)
    view_->setColumnWidth(
        column, std::min(column == MachineModel::date ? widest_date : widest, view_->columnWidth(column) + 8));
}

QString MachineDialog::words() const { return words_->text(); }

}  // namespace plumbline::gui
