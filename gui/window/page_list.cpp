#include "gui/window/page_list.h"

namespace plumbline::gui {

std::vector<Page*> make_plan_pages([[maybe_unused]] QWidget* parent) {
  std::vector<Page*> pages;
  // pages.push_back(new MemoryPage(parent)); and so on, in the order of the tabs
  return pages;
}

}  // namespace plumbline::gui
