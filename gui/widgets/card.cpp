#include "gui/widgets/card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace plumbline::gui {

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent),
      title_(new QLabel(title, this)),
      subtitle_(new QLabel(this)),
      head_(new QHBoxLayout),
      column_(new QVBoxLayout(this)) {
  setObjectName("card");
  title_->setObjectName("title");
  subtitle_->setObjectName("caption");
  subtitle_->setWordWrap(true);
  subtitle_->hide();
  head_->addWidget(title_);
  head_->addStretch();
  column_->setContentsMargins(14, 10, 14, 12);
  column_->setSpacing(6);
  column_->addLayout(head_);
  column_->addWidget(subtitle_);
}

void Card::set_title(const QString& title) { title_->setText(title); }

void Card::set_subtitle(const QString& words) {
  subtitle_->setText(words);
  subtitle_->setVisible(!words.isEmpty());
}

QString Card::subtitle() const { return subtitle_->text(); }

void Card::add_tool(QWidget* tool) { head_->addWidget(tool); }

void Card::add(QWidget* widget, int stretch) { column_->addWidget(widget, stretch); }

}  // namespace plumbline::gui
