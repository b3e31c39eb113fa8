#include "gui/pages/start/start_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/files/examples.h"
#include "gui/widgets/card.h"

namespace plumbline::gui {
namespace {

QLabel* label(const QString& text, const char* kind) {
  auto* const made = new QLabel(text);
  made->setObjectName(kind);
  made->setWordWrap(true);
  return made;
}

}  // namespace

StartPage::StartPage(QWidget* parent) : Page(parent), recent_(new Card(tr("Recent"))), recent_files_(new QVBoxLayout) {
  auto* const files = new QWidget(recent_);
  files->setLayout(recent_files_);
  recent_files_->setContentsMargins(0, 0, 0, 0);
  recent_->add(files);
  recent_->hide();
  auto* const left = new QVBoxLayout;
  left->addWidget(make_examples());
  left->addStretch();
  auto* const right = new QVBoxLayout;
  right->addWidget(make_drop_field());
  right->addWidget(recent_);
  right->addStretch();
  auto* const both = new QHBoxLayout;
  both->setSpacing(12);
  both->addLayout(left, 3);
  both->addLayout(right, 2);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(16, 18, 16, 16);
  column->setSpacing(8);
  column->addWidget(label(tr("Which configuration should I launch?"), "heading"));
  column->addWidget(
      label(tr("Say on the left what is trained and on what. Plans are ranked while you type, and each of "
               "the other pages answers one question about the plan that is chosen."),
            "caption"));
  column->addSpacing(8);
  column->addLayout(both);
  column->addStretch();
}

QWidget* StartPage::make_examples() {
  auto* const card = new Card(tr("Worked examples"));
  for (const Example& example : examples()) {
    auto* const button = new QPushButton(example.title + "\n" + example.words, card);
    button->setObjectName("choice");
    button->setAccessibleName(example.title);
    button->setAccessibleDescription(example.words);
    connect(button, &QPushButton::clicked, this,
            [this, &example] { Q_EMIT example_chosen(example.form, example.title); });
    card->add(button);
  }
  return card;
}

QWidget* StartPage::make_drop_field() {
  auto* const card = new Card(tr("A file of your own"));
  card->add(label(tr("Drop it anywhere on this window: a config.json of Hugging Face or the folder of a checkpoint, a "
                     "machine file, a plan, a session, or the record of a run."),
                  "caption"));
  open_ = new QPushButton(tr("&Open a file..."), card);
  connect(open_, &QPushButton::clicked, this, &StartPage::browse_asked);
  card->add(open_);
  return card;
}

void StartPage::show_recent(const QStringList& files) {
  while (QLayoutItem* const item = recent_files_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  QWidget* before = open_;  // in the order of Tab: these are made long after the rest of the window
  for (const QString& file : files) {
    const QFileInfo info(file);
    auto* const button = new QPushButton(info.fileName() + "\n" + info.absolutePath());
    button->setObjectName("choice");
    button->setAccessibleName(info.fileName());
    connect(button, &QPushButton::clicked, this, [this, file] { Q_EMIT file_chosen(file); });
    recent_files_->addWidget(button);
    setTabOrder(before, button);
    before = button;
  }
  recent_->setVisible(!files.isEmpty());
}

}  // namespace plumbline::gui
