#pragma once
/// \file rank_records.h: what a rank sent and copied as its record has it, and what ranks recorded, brought together.
///
/// Model: brought together by messages after the last step, which no record counts, in a group that exists already: the
/// devices might have no room for another one. Checked against: tests/integration/mpi_run_test.py (the record of
/// processes is that of threads), measured_trace_test.py (one clock).

#include "core/measurement/run_record.h"
#include "core/program/host_copies.h"
#include "runtime/communication/communicator.h"

namespace plumbline {

/// Adds what each of `steps` sent in a group.
void add_sent(RankRecord& record, const std::string& name, const SentByKind& sent, std::int64_t steps);
/// Adds what each of `steps` copied to the host and back.
void add_copies(RankRecord& record, const HostCopies& copied, std::int64_t steps);
/// How much later than the first rank's a step began on this one; `begin_ns` is of a clock that all ranks share.
[[nodiscard]] std::int64_t nanoseconds_behind(Communicator& everyone, std::int64_t begin_ns);
/// At rank 0 the records of all ranks, by rank; nothing at the others.
[[nodiscard]] std::vector<RankRecord> gathered(Communicator& everyone, const RankRecord& own);

}  // namespace plumbline
