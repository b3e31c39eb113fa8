#pragma once
/// \file collective.h: the kinds of collective, and the bytes that each puts on the wire.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/quantity/quantity.h"

namespace plumbline {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
  barrier  ///< carries no bytes
};

/// What one of n ranks sends of the bytes that a collective is about.
enum class WireVolume : std::uint8_t { nothing, all, all_but_own_part, all_but_own_part_twice };

struct CollectiveRecord {
  Collective kind;
  std::string_view name;
  WireVolume volume;
  std::string_view timed_by;  ///< the program of nccl-tests
};
inline constexpr std::array collective_records = std::to_array<CollectiveRecord>(
    {{Collective::all_reduce, "all-reduce", WireVolume::all_but_own_part_twice, "all_reduce_perf"},
     {Collective::all_gather, "all-gather", WireVolume::all_but_own_part, "all_gather_perf"},
     {Collective::reduce_scatter, "reduce-scatter", WireVolume::all_but_own_part, "reduce_scatter_perf"},
     {Collective::all_to_all, "all-to-all", WireVolume::all_but_own_part, "alltoall_perf"},
     {Collective::broadcast, "broadcast", WireVolume::all, "broadcast_perf"},
     {Collective::send_receive, "send-receive", WireVolume::all, "sendrecv_perf"},
     {Collective::barrier, "barrier", WireVolume::nothing, ""}});
static_assert(
    [] {
      for (std::size_t i = 0; i < collective_records.size(); ++i)
        if (collective_records[i].kind != static_cast<Collective>(i)) return false;
      return collective_records.back().kind == Collective::barrier;
    }(),
    "every kind has its record, in their order, and the barrier is the last");

/// Those that carry bytes.
inline constexpr std::array all_collectives = [] {
  std::array<Collective, collective_records.size() - 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = collective_records[i].kind;
  return all;
}();
[[nodiscard]] constexpr const CollectiveRecord& record_of(Collective kind) {
  return collective_records[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr std::string_view to_text(Collective kind) { return record_of(kind).name; }

enum class Reduction : std::uint8_t { sum, maximum };

/// Bytes that one rank sends, rounded up: all-reduce 2 (n - 1) / n, all-gather, reduce-scatter and all-to-all
/// (n - 1) / n of `bytes`, broadcast and send/receive all of them; nothing among one rank. Ring volumes: in-switch
/// reduction sends less. `bytes` as in collective_cost; sizes below 0 count as 0.
/// Source: nccl-tests, doc/PERFORMANCE.md (factors of bus bandwidth).
[[nodiscard]] Bytes wire_bytes(Collective kind, Bytes bytes, std::int32_t ranks);

}  // namespace plumbline
