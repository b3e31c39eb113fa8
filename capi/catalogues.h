#pragma once
/// \file catalogues.h: the models, machines and software stacks that this program knows, as use-cases.
///
/// "--name": one of the entries or a file, whose table is "one"; without it all of them, whose table is "all".

#include "planner/session/use_case/use_case.h"

namespace plumbline::capi {

[[nodiscard]] session::UseCase models_use_case();
[[nodiscard]] session::UseCase machines_use_case();
[[nodiscard]] session::UseCase stacks_use_case();

}  // namespace plumbline::capi
