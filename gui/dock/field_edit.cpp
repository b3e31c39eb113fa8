#include "gui/dock/field_edit.h"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QKeySequence>
#include <QLabel>
#include <QLineEdit>
#include <QStyle>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "gui/text.h"

namespace plumbline::gui {
namespace {

/// The wheel scrolls the dock; a list changes only where somebody opens it.
class QuietList : public QComboBox {
 public:
  using QComboBox::QComboBox;

 protected:
  void wheelEvent(QWheelEvent* event) override;
};

void QuietList::wheelEvent(QWheelEvent* event) { event->ignore(); }

}  // namespace

FieldEdit::FieldEdit(const FieldFacts& facts, const QStringList& choices, FieldLayout layout, QWidget* parent)
    : QWidget(parent),
      field_(facts.field),
      caption_(new QLabel(qt(facts.caption), this)),
      line_(nullptr),
      refusal_(new QLabel(this)) {
  if (choices.isEmpty())
    line_ = new QLineEdit(this);
  else
    make_list(choices);
  QWidget* const seen = list_ != nullptr ? static_cast<QWidget*>(list_) : line_;
  caption_->setBuddy(seen);
  caption_->setObjectName("caption");
  line_->setPlaceholderText(qt(facts.placeholder));
  seen->setToolTip(qt(facts.explanation));
  for (QWidget* const widget : {seen, static_cast<QWidget*>(line_)}) {
    widget->setAccessibleName(qt(facts.caption));
    widget->setAccessibleDescription(qt(facts.explanation));
  }
  refusal_->setObjectName("refusal");
  refusal_->setWordWrap(true);
  refusal_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  refusal_->hide();
  lay_out(layout);
  connect(line_, &QLineEdit::textEdited, this, [this](const QString& text) { Q_EMIT edited(field_, text); });
  connect(line_, &QLineEdit::editingFinished, this, &FieldEdit::committed);
  line_->installEventFilter(this);
}

/// Undo and redo are those of the whole question, also while a field has the focus.
bool FieldEdit::eventFilter(QObject* watched, QEvent* event) {
  if (watched != line_ || (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress))
    return QWidget::eventFilter(watched, event);
  auto* const key = static_cast<QKeyEvent*>(event);
  if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo))
    return QWidget::eventFilter(watched, event);
  event->ignore();
  return true;
}

void FieldEdit::choose(const QString& text) {
  Q_EMIT committed();
  Q_EMIT edited(field_, text);
  Q_EMIT committed();
}

void FieldEdit::make_list(const QStringList& choices) {
  list_ = new QuietList(this);
  list_->setEditable(true);
  list_->setInsertPolicy(QComboBox::NoInsert);
  list_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  list_->setMinimumContentsLength(8);
  list_->addItems(choices);
  list_->setCurrentIndex(-1);
  list_->completer()->setFilterMode(Qt::MatchContains);
  list_->completer()->setCompletionMode(QCompleter::PopupCompletion);
  line_ = list_->lineEdit();
  line_->clear();
  connect(list_, &QComboBox::textActivated, this, &FieldEdit::choose);
  connect(list_->completer(), QOverload<const QString&>::of(&QCompleter::activated), this, &FieldEdit::choose);
}

void FieldEdit::lay_out(FieldLayout layout) {
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  QWidget* const seen = list_ != nullptr ? static_cast<QWidget*>(list_) : line_;
  if (layout == FieldLayout::caption_above) {
    column->addWidget(caption_);
    column->addWidget(seen);
  } else {
    auto* const row = new QHBoxLayout;
    const bool is_short = layout == FieldLayout::short_caption_beside;
    if (is_short) caption_->setFixedWidth(caption_->fontMetrics().horizontalAdvance("ZeRO "));
    row->addWidget(caption_, is_short ? 0 : 2);
    row->addWidget(seen, 3);
    column->addLayout(row);
  }
  column->addWidget(refusal_);
}

QString FieldEdit::text() const { return line_->text(); }

void FieldEdit::set_text(const QString& text) {
  if (line_->text() == text) return;
  if (list_ != nullptr) list_->setCurrentIndex(list_->findText(text));
  line_->setText(text);
  line_->setCursorPosition(0);
}

QString FieldEdit::refusal() const { return refusal_->isHidden() ? QString() : refusal_->text(); }

void FieldEdit::set_refusal(const QString& words) {
  refusal_->setText(words);
  refusal_->setVisible(!words.isEmpty());
  QWidget* const seen = list_ != nullptr ? static_cast<QWidget*>(list_) : line_;
  if (seen->property("wrong").toBool() == !words.isEmpty()) return;
  seen->setProperty("wrong", !words.isEmpty());
  seen->style()->unpolish(seen);
  seen->style()->polish(seen);
}

}  // namespace plumbline::gui
