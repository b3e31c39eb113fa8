#include "gui/pages/shared/words_label.h"

namespace plumbline::gui {

QLabel* words_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace plumbline::gui
