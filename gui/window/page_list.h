#pragma once
/// \file page_list.h: the pages of the window, in the order of their tabs.

#include <vector>

#include "gui/page.h"

namespace plumbline::gui {

/// Children of `parent`.
[[nodiscard]] std::vector<Page*> make_plan_pages(QWidget* parent);

}  // namespace plumbline::gui
