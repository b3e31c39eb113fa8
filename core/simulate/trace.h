#pragma once
/// \file trace.h: a played program as the events of a Chrome trace: slices on threads, counters.
///
/// Answers: what to draw, in microseconds from the step's begin; core/io/trace_json.h writes it.
/// Model: one process per representative rank, one thread for compute and one for each communicator; messages lie on
/// the sender's pipeline thread while they travel; waiting leaves gaps. Memory is a counter by class, in MiB.
/// Source: "Trace Event Format", Google, 2016 (phases X, C, M), which Perfetto reads.
/// Not modelled: flows from send to receive. A counter changes when the action it belongs to starts or ends.
/// Checked against: tests/unit/core/simulate/trace_test.cpp.

#include <string>

#include "core/simulate/simulation.h"

namespace plumbline {

struct TraceSlice {
  std::int32_t rank = 0;
  Stream stream = Stream::compute;
  std::string name;
  std::string kind;
  Span span;
  std::int32_t micro_batch = -1;
  Bytes bytes{0};
};

struct TraceCounter {
  std::int32_t rank = 0;
  Picoseconds at{0};
  MemoryBreakdown memory;
};

struct Trace {
  std::int32_t ranks = 0;
  std::vector<TraceSlice> slices;
  std::vector<TraceCounter> counters;
};

[[nodiscard]] Trace trace(const Program& program, const Simulation& simulation);

}  // namespace plumbline
