#pragma once
/// \file page.h: a page of the window: one question about the plan that is looked at, answered by one widget.
///
/// A page computes what takes longer than a hundredth of a second on another thread and shows nothing of an earlier
/// plan once `show_plan` was called. To add one: a folder of gui/pages, and its line in gui/window/page_list.cpp.

#include <QString>
#include <QWidget>
#include <memory>
#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/session/estimate.h"
#include "planner/session/run_limits.h"

namespace plumbline::gui {

/// A plan that was asked about, and everything that its prices rest on. Immutable; shared by pages and threads.
struct PricedPlan {
  session::EstimateRequest request;
  session::PricedQuestion answer;
  session::RunLimits limits = {};  ///< of the run, where its question has some
};
using SharedPlan = std::shared_ptr<const PricedPlan>;

/// A table of a page, to be exported.
struct NamedTable {
  std::string name;  ///< of its file, without an ending: "memory"
  present::Table table;
};

/// Around what a page shows, in pixels.
inline constexpr int page_margin = 12;

class Page : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;

  /// "memory": of its screenshot, and what a session file names it by.
  [[nodiscard]] virtual QString id() const = 0;
  /// "Memory": on its tab.
  [[nodiscard]] virtual QString title() const = 0;

  /// Called on the window's thread when the page is seen, for each plan once; nullptr: there is none.
  virtual void show_plan(SharedPlan plan) = 0;

  /// False while another thread computes what is to be shown.
  [[nodiscard]] virtual bool is_complete() const { return true; }
  /// What is exported as PNG or SVG: a widget that paints itself with QPainter alone; nullptr: nothing.
  [[nodiscard]] virtual QWidget* picture() { return nullptr; }
  /// What is exported as CSV.
  [[nodiscard]] virtual std::vector<NamedTable> tables() const { return {}; }
};

}  // namespace plumbline::gui
