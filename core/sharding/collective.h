#pragma once
/// \file collective.h: the kinds of collective, and the bytes that each puts on the wire.

#include <array>
#include <cstdint>
#include <string_view>

#include "core/quantity/quantity.h"

namespace plumbline {

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_receive };
inline constexpr std::array all_collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                            Collective::all_to_all, Collective::broadcast,  Collective::send_receive};
[[nodiscard]] std::string_view to_text(Collective kind);

enum class Reduction : std::uint8_t { sum, maximum };

/// Bytes that one rank sends, rounded up: all-reduce 2 (n - 1) / n, all-gather, reduce-scatter and all-to-all
/// (n - 1) / n of `bytes`, broadcast and send/receive all of them; nothing among one rank. Ring volumes: in-switch
/// reduction sends less. `bytes` as in collective_cost; sizes below 0 count as 0.
/// Source: nccl-tests, doc/PERFORMANCE.md (factors of bus bandwidth).
[[nodiscard]] Bytes wire_bytes(Collective kind, Bytes bytes, std::int32_t ranks);

}  // namespace plumbline
