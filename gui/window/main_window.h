#pragma once
/// \file main_window.h: the window: the question on the left, pages that answer it on the right.

#include <QMainWindow>
#include <vector>

#include "gui/page.h"

class QTabWidget;

namespace plumbline::gui {

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();

 private:
  QTabWidget* tabs_;
  std::vector<Page*> pages_;
};

}  // namespace plumbline::gui
