#pragma once
/// \file texts.h: parts of an answer as JSON, as plumbline.h documents them.

#include "core/io/json.h"
#include "planner/session/use_case/answer.h"

namespace plumbline::capi {

[[nodiscard]] Json table_json(const present::Table& table);
[[nodiscard]] Json details_json(const session::Answer& answer);
[[nodiscard]] Json details_json(const session::PricedPlan& plan);
/// What the command prints with --json: of a use-case that answers with one plan alone, the plan's.
[[nodiscard]] std::string answer_text(const session::Answer& answer);

}  // namespace plumbline::capi
