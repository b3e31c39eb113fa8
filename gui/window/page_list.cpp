#include "gui/window/page_list.h"

#include "gui/pages/graph/graph_page.h"
#include "gui/pages/memory/memory_page.h"
#include "gui/pages/scaling/scaling_page.h"
#include "gui/pages/step/step_page.h"
#include "gui/pages/timeline/timeline_page.h"

namespace plumbline::gui {

std::vector<Page*> make_plan_pages(QWidget* parent) {
  std::vector<Page*> pages;
  pages.push_back(new MemoryPage(parent));
  pages.push_back(new TimelinePage(parent));
  pages.push_back(new StepPage(parent));
  pages.push_back(new ScalingPage(parent));
  pages.push_back(new GraphPage(parent));
  return pages;
}

}  // namespace plumbline::gui
