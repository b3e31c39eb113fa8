#include "gui/export/launch_dialog.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QVBoxLayout>
#include <filesystem>
#include <utility>

#include "core/io/output_file.h"
#include "core/quantity/text.h"
#include "gui/export/replace_question.h"
#include "gui/text.h"

namespace plumbline::gui {
namespace {

QString plan_words(const Plan& plan) {
  return qt(to_text(Seconds(plan.prediction.step_time_s.expected))) + QObject::tr(" a step, ") +
         qt(to_text(plan.prediction.peak_memory)) + QObject::tr(" at the peak") +
         (plan.verdict.fits ? QString() : QObject::tr(", does not fit"));
}

QString answer_words(const session::ExportAnswer& answer) {
  QStringList lines;
  if (answer.substitutions.empty()) lines.append(QObject::tr("Everything that the plan says can be expressed."));
  for (const session::Substitution& one : answer.substitutions)
    lines.append(qt(one.sentence) + QObject::tr("; nearest: ") + qt(one.change));
  if (answer.nearest)
    lines.append(QObject::tr("As planned ") + plan_words(answer.as_planned) + QObject::tr("; the nearest ") +
                 plan_words(*answer.nearest));
  for (const std::string& sentence : answer.files.missing) lines.append(QObject::tr("Missing: ") + qt(sentence));
  for (const std::string& sentence : answer.files.unsaid) lines.append(QObject::tr("Not said: ") + qt(sentence));
  for (const std::string& sentence : answer.files.assumptions) lines.append(QObject::tr("Assumed: ") + qt(sentence));
  return lines.join('\n');
}

}  // namespace

LaunchDialog::LaunchDialog(SharedPlan plan, QWidget* parent)
    : QDialog(parent),
      plan_(std::move(plan)),
      target_(new QComboBox(this)),
      release_(new QComboBox(this)),
      words_(new QLabel(this)),
      files_(new QTabWidget(this)),
      write_(new QPushButton(tr("&Write to a folder..."), this)) {
  setWindowTitle(tr("Launch files"));
  resize(860, 600);
  for (const LaunchTarget& target : launch_targets()) target_->addItem(qt(target.title), qt(to_text(target.framework)));
  target_->setAccessibleName(tr("Framework"));
  release_->setAccessibleName(tr("Release"));
  files_->setAccessibleName(tr("Launch files"));
  words_->setWordWrap(true);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  lay_out();
  connect(target_, &QComboBox::currentIndexChanged, this, [this] {
    fill_releases();
    ask();
  });
  connect(release_, &QComboBox::activated, this, &LaunchDialog::ask);
  connect(&job_, &LatestJob::failed, this, &LaunchDialog::show_refusal);
  connect(write_, &QPushButton::clicked, this, &LaunchDialog::browse);
  fill_releases();
  ask();
}

void LaunchDialog::lay_out() {
  auto* const head = new QHBoxLayout;
  auto* const target = new QLabel(tr("&Framework"), this);
  auto* const release = new QLabel(tr("R&elease"), this);
  target->setBuddy(target_);
  release->setBuddy(release_);
  for (QWidget* const widget : std::initializer_list<QWidget*>{target, target_, release, release_})
    head->addWidget(widget);
  head->addStretch();
  auto* const foot = new QHBoxLayout;
  auto* const close = new QPushButton(tr("&Close"), this);
  connect(close, &QPushButton::clicked, this, &QDialog::close);
  close->setAutoDefault(false);
  foot->addStretch();
  foot->addWidget(write_);
  foot->addWidget(close);
  auto* const column = new QVBoxLayout(this);
  column->addLayout(head);
  column->addWidget(words_);
  column->addWidget(files_, 1);
  column->addLayout(foot);
}

void LaunchDialog::fill_releases() {
  const QSignalBlocker blocker(release_);
  release_->clear();
  const auto& releases = launch_targets()[static_cast<std::size_t>(target_->currentIndex())].releases;
  for (auto release = releases.rbegin(); release != releases.rend(); ++release) release_->addItem(qt(*release));
}

bool LaunchDialog::choose_target(const QString& name) {
  const int index = target_->findData(name);
  if (index >= 0) target_->setCurrentIndex(index);
  return index >= 0;
}

void LaunchDialog::ask() {
  write_->setEnabled(false);
  words_->setText(tr("The nearest plan that it launches is looked for."));
  job_.start([this, plan = plan_, target = target_->currentData().toString().toStdString(),
              release = release_->currentText().toStdString()](const LatestJob::Context&) -> LatestJob::Delivery {
    auto answer = std::make_shared<session::ExportAnswer>(session::export_plan(plan->answer, target, release));
    return [this, answer] { show_answer(std::move(*answer)); };
  });
}

void LaunchDialog::show_answer(session::ExportAnswer answer) {
  answer_ = std::move(answer);
  words_->setText(answer_words(answer_));
  while (files_->count() > 0) delete files_->widget(0);
  QWidget* before = files_;  // in the order of Tab
  for (const LaunchFile& file : answer_.files.files) {
    auto* const text = new QPlainTextEdit(qt(file.text));
    text->setReadOnly(true);
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text->setAccessibleName(qt(file.name));
    files_->addTab(text, qt(file.name));
    setTabOrder(before, text);
    before = text;
  }
  write_->setEnabled(true);
}

void LaunchDialog::show_refusal(const QString& words) {
  answer_ = {};
  while (files_->count() > 0) delete files_->widget(0);
  words_->setText(words);
}

QString LaunchDialog::words() const { return words_->text(); }

void LaunchDialog::write(const QString& folder) const {
  require_writable_folder("folder", folder.toStdString());
  for (const LaunchFile& file : answer_.files.files) {
    const std::filesystem::path path = std::filesystem::path(folder.toStdString()) / file.name;
    write_output_file(path, file.text);
    if (file.is_executable)
      std::filesystem::permissions(path, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  }
}

void LaunchDialog::browse() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of the launch files"));
  if (folder.isEmpty()) return;
  write_asking(folder);
}

void LaunchDialog::write_asking(const QString& folder) {
  try {
    QStringList others;
    for (const std::string& name : session::other_files(answer_.files.files, folder.toStdString()))
      others.append(qt(name));
    if (!may_replace(*this, folder, others)) return words_->setText(tr("Nothing was written."));
    write(folder);
    words_->setText(tr("Written to %1.").arg(folder));
  } catch (const std::exception& error) {
    words_->setText(QString::fromUtf8(error.what()));
  }
}

}  // namespace plumbline::gui
