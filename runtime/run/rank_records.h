#pragma once
/// \file rank_records.h: what ranks recorded, brought together.
///
/// Model: messages after the last step, which no record counts, in a group that exists already: the devices might have
/// no room for another one. Checked against: tests/integration/mpi_run_test.py (the record of processes is that of
/// threads), measured_trace_test.py (one clock).

#include "core/measurement/run_record.h"
#include "runtime/communication/communicator.h"

namespace plumbline {

/// How much later than the first rank's a step began on this one; `begin_ns` is of a clock that all ranks share.
[[nodiscard]] std::int64_t nanoseconds_behind(Communicator& everyone, std::int64_t begin_ns);
/// At rank 0 the records of all ranks, by rank; nothing at the others.
[[nodiscard]] std::vector<RankRecord> gathered(Communicator& everyone, const RankRecord& own);

}  // namespace plumbline
