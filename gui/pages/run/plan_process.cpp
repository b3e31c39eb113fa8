#include "gui/pages/run/plan_process.h"

#include <QCoreApplication>
#include <QDir>
#include <exception>

#include "core/io/output_file.h"
#include "gui/text.h"

namespace plumbline::gui {
namespace {

constexpr qsizetype most_kept = 1 << 16;  // of what it says about itself
constexpr int end_ms = 2000;

QString last_line(const QByteArray& text) {
  const QList<QByteArray> lines = text.trimmed().split('\n');
  return QString::fromUtf8(lines.back()).simplified();
}

}  // namespace

PlanProcess::PlanProcess(QObject* parent)
    : QObject(parent), program_(QDir(QCoreApplication::applicationDirPath()).filePath("plan")) {
  connect(&process_, &QProcess::readyReadStandardOutput, this, &PlanProcess::read_lines);
  connect(&process_, &QProcess::readyReadStandardError, this,
          [this] { errors_ = (errors_ + process_.readAllStandardError()).right(most_kept); });
  connect(&process_, &QProcess::finished, this, &PlanProcess::finish);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) fail(tr("%1 cannot be started: %2").arg(program_, process_.errorString()));
  });
}

PlanProcess::~PlanProcess() {
  process_.disconnect(this);
  if (!is_running()) return;
  process_.terminate();
  if (!process_.waitForFinished(end_ms)) process_.kill();
  process_.waitForFinished(end_ms);
}

void PlanProcess::start(const RunRequest& request) {
  if (is_running()) return;
  rest_.clear();
  errors_.clear();
  is_stopped_ = false;
  try {
    write_output_file(request.plan_file.toStdString(), request.plan_text);
  } catch (const std::exception& error) {
    return fail(QString::fromUtf8(error.what()));
  }
  QStringList arguments{"run", "--plan", request.plan_file, "--json", "--record", request.record_file};
  for (const auto& [flag, text] : training_texts(request)) arguments << qt(flag) << qt(text);
  process_.start(program_, arguments + flags_of(request.ranks));
}

void PlanProcess::stop() {
  is_stopped_ = true;
  process_.terminate();
}

void PlanProcess::read_lines() {
  rest_ += process_.readAllStandardOutput();
  for (qsizetype end = rest_.indexOf('\n'); end >= 0; end = rest_.indexOf('\n')) {
    const QByteArray line = rest_.left(end);
    rest_.remove(0, end + 1);
    if (const auto step = run_line({line.data(), static_cast<std::size_t>(line.size())})) Q_EMIT stepped(*step);
  }
  if (rest_.size() > most_kept) rest_.clear();  // no line of a step is so long
}

void PlanProcess::finish(int code, QProcess::ExitStatus status) {
  read_lines();
  errors_ += process_.readAllStandardError();
  if (is_stopped_ || (status == QProcess::NormalExit && code == 0)) {
    Q_EMIT ended();
  } else if (!errors_.trimmed().isEmpty()) {
    fail(last_line(errors_));
  } else if (status == QProcess::CrashExit) {
    fail(tr("the run was ended by a signal"));
  } else {
    fail(tr("the run ended with exit code %1 and said nothing").arg(code));
  }
}

void PlanProcess::fail(const QString& words) { Q_EMIT failed(words); }

}  // namespace plumbline::gui
