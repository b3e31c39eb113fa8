#include "gui/window/main_window.h"

#include <QTabWidget>

#include "gui/window/page_list.h"

namespace plumbline::gui {

MainWindow::MainWindow() : tabs_(new QTabWidget(this)) {
  setWindowTitle(tr("Plumbline"));
  resize(1280, 800);
  setCentralWidget(tabs_);
  pages_ = make_plan_pages(tabs_);
  for (Page* page : pages_) tabs_->addTab(page, page->title());
}

}  // namespace plumbline::gui
