#include "gui/export/replace_question.h"

#include <QMessageBox>
#include <QObject>
#include <QPushButton>

namespace plumbline::gui {

bool may_replace(QWidget& over, const QString& folder, const QStringList& names) {
  if (names.isEmpty()) return true;
  QMessageBox question(&over);
  question.setIcon(QMessageBox::Warning);
  question.setWindowTitle(QObject::tr("Replace files?"));
  question.setTextFormat(Qt::PlainText);
  question.setText(QObject::tr("In %1 there are other files of these names: %2").arg(folder, names.join(", ")));
  question.setInformativeText(QObject::tr("They may have been edited. Replace them?"));
  const QPushButton* const replace = question.addButton(QObject::tr("&Replace"), QMessageBox::DestructiveRole);
  question.setDefaultButton(question.addButton(QMessageBox::Cancel));
  question.exec();
  return question.clickedButton() == replace;
}

}  // namespace plumbline::gui
