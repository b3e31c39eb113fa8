#include "gui/dock/question_dock.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <array>

#include "core/base/errors.h"
#include "core/quantity/text.h"
#include "gui/dock/cluster_words.h"
#include "gui/dock/field_choices.h"
#include "gui/dock/field_edit.h"
#include "gui/dock/machine_dialog.h"
#include "gui/question/command_text.h"
#include "gui/text.h"
#include "planner/session/search/search_words.h"

namespace plumbline::gui {
namespace {

constexpr std::array groups{FieldGroup::question, FieldGroup::recipe, FieldGroup::constraints, FieldGroup::limits};

/// What is asked for is not there yet, which is no mistake of whoever is still typing.
bool is_unfinished(const QuestionForm& form) {
  return form[Field::model].empty() || form[Field::machine].empty() || form[Field::batch].empty();
}

/// Two of them share a line.
bool is_short(const FieldFacts& facts) {
  const bool is_degree = facts.group == FieldGroup::constraints && facts.caption.size() <= 4;
  return is_degree || facts.group == FieldGroup::limits;
}

FieldLayout layout_of(const FieldFacts& facts) {
  if (!is_short(facts)) return FieldLayout::caption_beside;
  return facts.group == FieldGroup::limits ? FieldLayout::caption_above : FieldLayout::short_caption_beside;
}

void add_pair(FieldEdit* one, FieldEdit* other, QVBoxLayout& column) {
  auto* const row = new QHBoxLayout;
  row->setSpacing(14);
  row->addWidget(one, 1, Qt::AlignTop);
  row->addWidget(other, 1, Qt::AlignTop);
  column.addLayout(row);
}

QString found_words(const session::SearchAnswer& answer) {
  const SearchAudit& audit = answer.result.audit;
  QString words = qt(grouped(audit.total)) + QObject::tr(" plans considered, ") + qt(grouped(audit.solved)) +
                  QObject::tr(" priced, ") + qt(grouped(audit.memory)) + QObject::tr(" beyond memory");
  if (!answer.result.complete)
    words += QObject::tr("\nInterrupted: the best so far, not the best there is.");
  else if (answer.plans.empty())
    words += QObject::tr("\nNo plan of this space fits.");
  return words;
}

QString state_words(const SearchState& state) {
  QString words = state.phase + " " + qt(grouped(state.done));
  if (state.total > 0) words += QObject::tr(" of ") + qt(grouped(state.total));
  if (state.best_step_time_s > 0)
    words += QObject::tr("\nbest so far: a step of ") + qt(to_text(Seconds(state.best_step_time_s)));
  return words;
}

}  // namespace

QuestionDock::QuestionDock(QuestionModel& model, SearchSession& search, QWidget* parent)
    : QWidget(parent), model_(&model), search_(&search), scroll_(new QScrollArea(this)) {
  setObjectName("question");
  auto* const inside = new QWidget;
  inside->setObjectName("question");
  auto* const column = new QVBoxLayout(inside);
  column->setSpacing(3);
  for (const FieldGroup group : groups) add_group(group, *column);
  column->addStretch();
  scroll_->setWidget(inside);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setFocusPolicy(Qt::NoFocus);  // it follows the field that has the focus
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* const all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  all->addWidget(scroll_, 1);
  all->addWidget(make_foot());
  connect(model_, &QuestionModel::changed, this, &QuestionDock::show_form);
  follow_search();
  show_form();
}

void QuestionDock::add_group(FieldGroup group, QVBoxLayout& column) {
  auto* const title = new QLabel(qt(title_of(group)).toUpper());
  title->setObjectName("group");
  column.addWidget(title);
  FieldEdit* waiting = nullptr;  // for another short one beside it
  for (const FieldFacts& facts : all_fields()) {
    if (facts.group != group) continue;
    auto* const edit = new FieldEdit(facts, choices_of(facts.field), layout_of(facts));
    fields_[facts.field] = edit;
    connect(edit, &FieldEdit::edited, this, &QuestionDock::take);
    connect(edit, &FieldEdit::committed, model_, &QuestionModel::end_typing);
    if (!is_short(facts)) {
      column.addWidget(edit);
      if (facts.field == Field::machine) column.addWidget(make_machine_line());
    } else if (waiting == nullptr) {
      waiting = edit;
    } else {
      add_pair(waiting, edit, column);
      waiting = nullptr;
    }
  }
  column.addSpacing(2);
}

/// A command line that is pasted into a field is the question that it asks.
void QuestionDock::take(Field field, const QString& text) {
  if (!is_command(text.toStdString())) return model_->set(field, text.toStdString());
  try {
    model_->replace(form_of_command(text.toStdString()), tr("Command line"));
  } catch (const InputError& error) {
    show_form();
    fields_.at(field)->set_refusal(QString::fromUtf8(error.what()));
  }
}

/// Below the cluster: its nodes, how many of its numbers are edited, and the way to them.
QWidget* QuestionDock::make_machine_line() {
  auto* const line = new QWidget;
  machine_words_ = new QLabel(line);
  machine_words_->setObjectName("caption");
  auto* const button = new QToolButton(line);
  button->setText(tr("&Numbers..."));
  button->setAccessibleName(tr("Numbers of the cluster"));
  button->setToolTip(tr("Every number of the cluster with its source, to be edited (Ctrl+M)"));
  connect(button, &QToolButton::clicked, this, &QuestionDock::show_machine);
  auto* const row = new QHBoxLayout(line);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(machine_words_, 1);
  row->addWidget(button);
  return line;
}

void QuestionDock::show_machine() {
  if (machine_dialog_ == nullptr) machine_dialog_ = new MachineDialog(*model_, window());
  machine_dialog_->show();
  machine_dialog_->raise();
  machine_dialog_->activateWindow();
}

QWidget* QuestionDock::make_foot() {
  auto* const foot = new QWidget(this);
  foot->setObjectName("foot");
  progress_ = new QProgressBar(foot);
  progress_->setTextVisible(false);
  progress_->setFixedHeight(6);
  progress_->setAccessibleName(tr("Progress of the search"));
  status_ = new QLabel(foot);
  status_->setWordWrap(true);
  status_->setMinimumHeight(3 * status_->fontMetrics().lineSpacing());
  status_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  cancel_ = new QPushButton(tr("&Stop"), foot);
  cancel_->setToolTip(tr("End the search with the best so far (Esc)"));
  cancel_->setEnabled(false);
  connect(cancel_, &QPushButton::clicked, search_, &SearchSession::cancel);
  auto* const row = new QHBoxLayout;
  row->addWidget(status_, 1);
  row->addWidget(cancel_, 0, Qt::AlignTop);
  auto* const column = new QVBoxLayout(foot);
  column->addWidget(progress_);
  column->addLayout(row);
  return foot;
}

void QuestionDock::follow_search() {
  connect(search_, &SearchSession::started, this, [this] {
    progress_->setRange(0, 0);
    status_->setText(tr("searching"));
    cancel_->setEnabled(true);
  });
  connect(search_, &SearchSession::progressed, this, [this](const SearchState& state) {
    constexpr int steps = 1000;
    progress_->setRange(0, state.total > 0 ? steps : 0);
    if (state.total > 0) progress_->setValue(static_cast<int>(steps * state.done / state.total));
    status_->setText(state_words(state));
  });
  connect(search_, &SearchSession::answered, this, [this](const SharedFound& found) { show_found(*found); });
  connect(search_, &SearchSession::refused, this, &QuestionDock::show_refusal);
  connect(search_, &SearchSession::ended, this, [this] {
    progress_->setRange(0, 1);
    progress_->setValue(0);
    cancel_->setEnabled(false);
  });
}

void QuestionDock::show_form() {
  const std::vector<Refusal> wrong = refusals(model_->form());
  for (const auto& [field, edit] : fields_) {
    edit->set_text(qt(model_->form()[field]));
    edit->set_refusal({});
  }
  for (const Refusal& refusal : wrong) show_refusal(refusal);
  const std::size_t edits = model_->form().machine_edits.size();
  const QString edited = edits == 0 ? QString() : tr("%1 edited").arg(edits);
  const QString nodes = cluster_words(model_->form());
  machine_words_->setText(nodes + (nodes.isEmpty() || edited.isEmpty() ? "" : ", ") + edited);
  if (!wrong.empty()) {
    search_->abandon();
  } else if (is_unfinished(model_->form())) {
    search_->abandon();
    status_->setText(tr("A model, a cluster and a global batch make a question."));
  } else {
    search_->ask(model_->form());
  }
}

void QuestionDock::show_refusal(const Refusal& refusal) {
  if (refusal.field) {
    fields_.at(*refusal.field)->set_refusal(qt(refusal.words));
    status_->setText(tr("The question has a wrong value: ") + qt(facts_of(*refusal.field).caption));
  } else {
    status_->setText(qt(refusal.words));
  }
}

void QuestionDock::show_found(const Found& found) { status_->setText(found_words(found.answer)); }

QString QuestionDock::status() const { return status_->text(); }

void QuestionDock::reveal(Field field) { scroll_->ensureWidgetVisible(fields_.at(field)); }

}  // namespace plumbline::gui
