#pragma once
/// \file field_edit.h: a field of the question: its caption, what is typed or chosen, and what is wrong with it.

#include <QStringList>
#include <QWidget>

#include "gui/question/question_form.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace plumbline::gui {

enum class FieldLayout : std::uint8_t { caption_above, caption_beside, short_caption_beside };

class FieldEdit : public QWidget {
  Q_OBJECT

 public:
  /// With choices: a list that is searched by typing any part of a name; other texts may be typed too.
  FieldEdit(const FieldFacts& facts, const QStringList& choices, FieldLayout layout, QWidget* parent = nullptr);

  [[nodiscard]] Field field() const { return field_; }
  [[nodiscard]] QString text() const;
  /// Says nothing to `edited`.
  void set_text(const QString& text);
  /// Marks it wrong with these words; empty: it is right.
  void set_refusal(const QString& words);
  [[nodiscard]] QString refusal() const;

 Q_SIGNALS:
  void edited(plumbline::gui::Field field, const QString& text);
  /// What was typed is whole: Enter, the focus goes elsewhere, a choice of the list.
  void committed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_list(const QStringList& choices);
  void choose(const QString& text);
  void lay_out(FieldLayout layout);

  Field field_;
  QLabel* caption_;
  QComboBox* list_ = nullptr;
  QLineEdit* line_;
  QLabel* refusal_;
};

}  // namespace plumbline::gui
