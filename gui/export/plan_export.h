#pragma once
/// \file plan_export.h: a plan as the file that `plan search --out` and `plan estimate --out` write.
///
/// Not modelled: the recipe of a run (learning rate, steps); one that the plan was read with is kept.
/// Checked against: tests/gui/export/export_test.cpp (read back by session::read_plan_request).

#include <string>

#include "gui/page.h"
#include "planner/question/task.h"

namespace plumbline::gui {

[[nodiscard]] std::string plan_text(const PricedPlan& plan);
/// Its simulated step as a Chrome trace, which Perfetto opens: what `plan simulate --trace` writes. Empty where it was
/// stopped first.
[[nodiscard]] std::string simulated_trace_text(const PricedPlan& plan, const Task& task = {});

}  // namespace plumbline::gui
