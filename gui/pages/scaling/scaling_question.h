#pragma once
/// \file scaling_question.h: the question of a plan, asked again over numbers of GPUs.
///
/// Answers what `plan size` is asked: the plan's model, machine and recipe, strong and weak, on a quarter, a half, one,
/// two and four times its GPUs, in whole nodes, against
/// the limits of the run. Without a budget of tokens: 20 for each parameter that is trained.
/// Source of that: Hoffmann et al., "Training compute-optimal large language models", arXiv:2203.15556, table 3.
/// Checked against: tests/gui/pages/scaling/scaling_question_test.cpp.

#include <string>

#include "planner/session/estimate.h"
#include "planner/session/size.h"

namespace plumbline::gui {

struct ScalingQuestion {
  session::SizeRequest request;
  std::string remark;  ///< on a budget that the question does not say; or empty
};
[[nodiscard]] ScalingQuestion scaling_question(const session::PricedQuestion& asked,
                                               const session::RunLimits& limits = {});

}  // namespace plumbline::gui
