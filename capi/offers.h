#pragma once
/// \file offers.h: what would make a plan fit: of a plan that `fit` priced by itself ("changes"), and in its answer.

#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

/// Of `Inputs::source.plan`. Throws InputError where `fit` did not answer with it.
[[nodiscard]] session::UseCase changes_use_case();

/// The same work, whose JSON is then that of `plan fit --json`, with offers.
[[nodiscard]] session::Work with_offers(session::Work fit);

}  // namespace plumbline::capi
