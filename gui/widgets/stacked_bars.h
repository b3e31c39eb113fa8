#pragma once
/// \file stacked_bars.h: bars of coloured parts on one axis, a bar for each plan, with what the colours mean.
///
/// Checked against: tests/gui/pages/compare_page_test.cpp.

#include <QColor>
#include <QWidget>
#include <vector>

#include "gui/palette.h"

namespace plumbline::gui {

struct BarPart {
  QString name;
  double value = 0;
  QColor (*colour)(const Palette& palette, int kind) = nullptr;
  int kind = 0;
};

struct Bar {
  QString name;
  std::vector<BarPart> parts;
  double limit = 0;  ///< marked where it is in sight; 0: none
};

class StackedBars : public QWidget {
  Q_OBJECT

 public:
  /// `unit`: "s", behind totals.
  explicit StackedBars(const QString& unit, QWidget* parent = nullptr);

  void set_bars(std::vector<Bar> bars);
  [[nodiscard]] const std::vector<Bar>& bars() const { return bars_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF place_of(std::size_t bar, std::size_t part) const;
  [[nodiscard]] double bar_height() const;
  [[nodiscard]] double left() const;
  [[nodiscard]] double scale() const;
  [[nodiscard]] int legend_lines() const;
  double paint_legend(QPainter* painter) const;

  QString unit_;
  std::vector<Bar> bars_;
};

}  // namespace plumbline::gui
