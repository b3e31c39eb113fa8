#pragma once
/// \file timed_collectives.h: how long collectives took, from the output of nccl-tests or from JSON.
///
/// nccl-tests (all_reduce_perf and its siblings): what the program prints, from "# nThread" or "# Collective test
/// starting" on; ranks and nodes are counted in its "# Rank" lines, the time is the out-of-place column, sizes of zero
/// are left out. Lines that are not its own (debug output) are passed over. Releases that do not print which collective
/// was tested need to be told. Several outputs in one text are read one after the other.
/// JSON: {"format": "plumbline.collectives/1", "timings": [{"collective": "all-reduce", "ranks": 8, "nodes": 1,
///        "bytes": 1073741824, "time_s": 0.0041 or "bus_bandwidth_gbps": 473}, ...]}; "nodes" may be absent (1).
/// Source: outputs of 2021 (NVIDIA/nccl-tests issue 68) to 2026 (issue 389, release 2.19.6); doc/PERFORMANCE.md (sizes
/// and bus bandwidth).
/// Not read: in-place times, groups of ranks (NCCL_TESTS_SPLIT), prefixes that a launcher puts before lines.
/// Checked against: tests/unit/core/io/timed_collectives_test.cpp, tests/error/timed_collectives_test.cpp.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sharding/collective.h"

namespace plumbline {

/// `bytes` as collective_cost takes them (core/cost/collective_time.h), which is how nccl-tests counts sizes.
struct TimedCollective {
  Collective kind = Collective::all_reduce;
  Bytes bytes{0};
  std::int32_t ranks = 0;
  std::int32_t nodes = 1;
  Seconds time{0};
  bool operator==(const TimedCollective&) const = default;
};

/// `source` names the text in messages; `kind`: what was tested where the text does not say. Throws InputError (where:
/// "file:line" or "file:/pointer") for text that holds no timing, a kind that contradicts the text, a line of numbers
/// that is cut off, more than a million ranks, a rank of another group.
[[nodiscard]] std::vector<TimedCollective> read_timed_collectives(std::string_view text, std::string_view source,
                                                                  std::optional<Collective> kind);

}  // namespace plumbline
