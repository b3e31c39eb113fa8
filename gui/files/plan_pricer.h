#pragma once
/// \file plan_pricer.h: opens files and prices chosen plans on another thread; only what was asked for last answers.
///
/// Checked against: tests/gui/window/main_window_test.cpp.

#include <QObject>

#include "gui/background/latest_job.h"
#include "gui/files/open_file.h"

namespace plumbline::gui {

class PlanPricer : public QObject {
  Q_OBJECT

 public:
  explicit PlanPricer(QObject* parent = nullptr);

  void price(const Plan& plan, const QuestionText& question, const session::RunLimits& limits = {});
  void open(const QString& file);
  [[nodiscard]] bool is_busy() const { return job_.is_busy(); }

 Q_SIGNALS:
  void priced(const plumbline::gui::SharedPlan& plan);
  void opened(const QString& file, const plumbline::gui::OpenedFile& content);
  /// In one line.
  void failed(const QString& words);

 private:
  LatestJob job_;
};

}  // namespace plumbline::gui
