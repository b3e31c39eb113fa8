#pragma once
/// \file loss_plot.h: the loss of a run, step by step, while it runs.

#include <QWidget>
#include <vector>

#include "gui/io/run_line_json.h"

namespace plumbline::gui {

class LossPlot : public QWidget {
  Q_OBJECT

 public:
  explicit LossPlot(QWidget* parent = nullptr);

  void clear(std::int64_t steps);
  void add(const RunLine& step);
  [[nodiscard]] const std::vector<RunLine>& steps() const { return lines_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 160}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::int64_t planned_ = 1;
  std::vector<RunLine> lines_;
};

}  // namespace plumbline::gui
