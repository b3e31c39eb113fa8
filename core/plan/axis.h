#pragma once
/// \file axis.h: the kinds of group that ranks form; which ranks those are is core/plan/rank_group.h's.

#include <array>
#include <cstdint>
#include <string_view>

namespace plumbline {

enum class Axis : std::uint8_t {
  tensor,
  context,
  data,
  gradient,
  shard,
  replicate,
  pipeline,
  expert,
  expert_tensor,
  expert_gradient,
  secondary_shard
};
inline constexpr std::array all_axes{Axis::tensor,        Axis::context,         Axis::data,           Axis::gradient,
                                     Axis::shard,         Axis::replicate,       Axis::pipeline,       Axis::expert,
                                     Axis::expert_tensor, Axis::expert_gradient, Axis::secondary_shard};
[[nodiscard]] std::string_view to_text(Axis axis);

}  // namespace plumbline
