#pragma once
/// \file slot.h: the place of a tensor or an operator in a vector by its id.

#include <cstddef>

#include "core/graph/op.h"

namespace plumbline {

[[nodiscard]] constexpr std::size_t slot(TensorId id) { return static_cast<std::size_t>(id.index()); }
[[nodiscard]] constexpr std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }

}  // namespace plumbline
