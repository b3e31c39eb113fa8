#pragma once
/// \file treemap.h: what a stage holds at its peak as areas: classes, and in them layers.
///
/// The pointer names a part; Left and Right, Home and End go through them.

#include <QWidget>
#include <vector>

#include "gui/pages/memory/memory_tree.h"
#include "gui/palette.h"

namespace plumbline::gui {

class Treemap : public QWidget {
  Q_OBJECT

 public:
  explicit Treemap(QWidget* parent = nullptr);
  void show_tree(std::vector<MemoryBranch> tree);
  /// "activations, layer 3: 1.20 GiB, 4 buffers, micro-batches 0-3"; empty: none is marked.
  [[nodiscard]] QString marked_words() const;

 Q_SIGNALS:
  void marked(const QString& words);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Place {
    QRectF area;
    std::size_t branch = 0;
    std::size_t leaf = 0;
  };
  struct Title {
    QRectF area;
    std::size_t branch = 0;
  };
  void lay_out();
  /// Takes a strip for the class's name from the room of its parts, where there is enough.
  void place_title(std::size_t branch, QRectF& room);
  void mark(int place);
  [[nodiscard]] int place_at(QPointF position) const;
  [[nodiscard]] QString words_of_place(int place) const;
  [[nodiscard]] bool has_title(std::size_t branch) const;
  void paint_title(QPainter& painter, const Title& title, const Palette& palette) const;
  void paint_place(QPainter& painter, const Place& place, const Palette& palette) const;

  std::vector<MemoryBranch> tree_;
  std::vector<QRectF> branches_;
  std::vector<Title> titles_;
  std::vector<Place> places_;
  int marked_ = -1;
};

}  // namespace plumbline::gui
