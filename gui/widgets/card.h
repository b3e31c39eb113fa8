#pragma once
/// \file card.h: a framed part of a page with a title and what it shows in a line.

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace plumbline::gui {

class Card : public QFrame {
  Q_OBJECT

 public:
  explicit Card(const QString& title, QWidget* parent = nullptr);

  void set_title(const QString& title);
  void set_subtitle(const QString& words);
  [[nodiscard]] QString subtitle() const;
  /// Beside the title, on the right.
  void add_tool(QWidget* tool);
  void add(QWidget* widget, int stretch = 0);

 private:
  QLabel* title_;
  QLabel* subtitle_;
  QHBoxLayout* head_;
  QVBoxLayout* column_;
};

}  // namespace plumbline::gui
