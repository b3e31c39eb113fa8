#pragma once
/// \file question_model.h: the question that is being asked, its changes undone and redone.
///
/// Checked against: tests/gui/question/question_model_test.cpp.

#include <QObject>
#include <QUndoStack>

#include "gui/question/question_form.h"

namespace plumbline::gui {

class QuestionModel : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  [[nodiscard]] const QuestionForm& form() const { return form_; }
  /// Letters typed or deleted one behind the other in one field are one change, until `end_typing`.
  void set(Field field, const std::string& text);
  /// What was typed is a value of its own: Enter, Tab, a choice of a list. What is typed behind it is another change.
  void end_typing() { is_typing_ = false; }
  /// A number of the cluster has another value or source; with all texts empty it is the cluster's own again.
  void edit_machine(const MachineEdit& edit);
  /// The whole question at once, as one change.
  void replace(const QuestionForm& form, const QString& what);
  /// Undo and redo, for menus.
  [[nodiscard]] QUndoStack& changes() { return changes_; }

 Q_SIGNALS:
  void changed();

 private:
  friend class QuestionChange;
  void apply(const QuestionForm& form);

  QuestionForm form_;
  bool is_typing_ = false;  ///< the next letter may be part of the last change
  QUndoStack changes_;
};

}  // namespace plumbline::gui
