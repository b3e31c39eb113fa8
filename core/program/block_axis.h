#pragma once
/// \file block_axis.h: the kinds of group in which blocks communicate.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/plan/axis.h"

namespace plumbline {

/// `expert`: groups of experts' tensor parallelism too.
enum class BlockAxis : std::uint8_t { tensor, context, expert };
inline constexpr std::array block_axes{BlockAxis::tensor, BlockAxis::context, BlockAxis::expert};
inline constexpr std::size_t block_axis_count = block_axes.size();
/// Of a group in which blocks communicate.
[[nodiscard]] constexpr BlockAxis block_axis(Axis axis) {
  if (axis == Axis::tensor) return BlockAxis::tensor;
  return axis == Axis::context ? BlockAxis::context : BlockAxis::expert;
}

}  // namespace plumbline
