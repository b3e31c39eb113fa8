#pragma once
/// \file rank_records.h: what ranks recorded, brought together.
///
/// Model: messages of groups that no record counts. Checked against: tests/integration/mpi_run_test.py (the record of
/// processes is that of threads), measured_trace_test.py (one clock).

#include "core/measurement/run_record.h"
#include "runtime/communication/world.h"

namespace plumbline {

/// How much later than the first rank's a step began on this one; `begin_ns` is of a clock that all ranks share.
[[nodiscard]] std::int64_t nanoseconds_behind(World& world, std::int64_t begin_ns);
/// At rank 0 the records of all ranks, by rank; nothing at the others.
[[nodiscard]] std::vector<RankRecord> gathered(World& world, const RankRecord& own);

}  // namespace plumbline
