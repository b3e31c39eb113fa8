#pragma once
/// \file plan_export.h: a plan as the file that `plan search --out` and `plan estimate --out` write.
///
/// Not modelled: the recipe of a run (learning rate, steps); one that the plan was read with is kept.
/// Checked against: tests/gui/export/export_test.cpp (read back by session::read_plan_request).

#include <string>

#include "gui/page.h"

namespace plumbline::gui {

[[nodiscard]] std::string plan_text(const PricedPlan& plan);

}  // namespace plumbline::gui
