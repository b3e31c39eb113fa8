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
  /// Letters typed into one field without a pause of another field are one change.
  void set(Field field, const std::string& text);
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
  QUndoStack changes_;
};

}  // namespace plumbline::gui
