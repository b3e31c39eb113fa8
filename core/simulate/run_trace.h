#pragma once
/// \file run_trace.h: the traced step of an executed run as the same events that a simulated step has (trace.h).
///
/// Answers: what to draw, so that measured and simulated step open side by side.
/// Model: one process per rank, whose name begins as that of its simulated pipeline rank; the same threads. Source:
/// core/measurement/run_record.h. Not modelled: memory counters and arrows of messages, which a record does not keep.
/// Checked against: tests/unit/core/simulate/run_trace_test.cpp.

#include "core/measurement/run_record.h"
#include "core/simulate/trace.h"

namespace plumbline {

[[nodiscard]] Trace trace(const RunRecord& record);

}  // namespace plumbline
