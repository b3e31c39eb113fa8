#pragma once
/// \file shape_rules.h: what the shapes around an operator must satisfy.

#include <optional>

#include "core/base/errors.h"
#include "core/graph/block.h"

namespace plumbline {

/// The first thing that is wrong with a block, naming op and tensor: an id out of range, a tensor written twice or
/// never, a parameter that flows, shapes that an operator cannot accept. Nothing when the block is sound.
[[nodiscard]] std::optional<InputProblem> find_problem(const Block::Parts& parts);

}  // namespace plumbline
