#pragma once
/// \file waiting.h: what tests of pages do with them: wait for an answer, find parts.

#include <QTest>

#include "gui/page.h"

namespace plumbline::gui {

inline constexpr int longest_wait_ms = 20'000;

[[nodiscard]] inline bool wait_for(const Page& page) {
  return QTest::qWaitFor([&] { return page.is_complete(); }, longest_wait_ms);
}

/// Shown at a usual size, with its answer.
[[nodiscard]] inline bool show_and_wait(Page& page, const SharedPlan& plan) {
  page.resize(1000, 700);
  page.show();
  page.show_plan(plan);
  return QTest::qWaitForWindowExposed(&page) && wait_for(page);
}

}  // namespace plumbline::gui
