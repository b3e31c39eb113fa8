#pragma once
/// \file legend.h: what the colours of a picture mean, in as many lines as the width needs.

#include <QColor>
#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

#include "gui/palette.h"

namespace plumbline::gui {

struct LegendEntry {
  QString words;
  std::function<QColor(const Palette&)> colour;
};

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  void show_entries(std::vector<LegendEntry> entries);

  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  /// Where each entry lies in this width.
  [[nodiscard]] std::vector<QRect> places(int width) const;

  std::vector<LegendEntry> entries_;
};

}  // namespace plumbline::gui
