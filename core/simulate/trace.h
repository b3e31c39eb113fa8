#pragma once
/// \file trace.h: a simulated program as the events of a Chrome trace: slices on threads, counters.
///
/// Answers: what to draw, in microseconds from the step's begin; core/io/trace_json.h writes it.
/// Model: one process per representative rank, one thread for compute and one for each communicator, or more where
/// messages travel at one time; messages lie on the sender's pipeline thread; waiting leaves gaps. A flow leads from
/// each message, or from what made it, to what it was for. Memory is a counter by class, in MiB; it changes when the
/// action that it belongs to starts or ends. What was left out of a long program (steady_state.h) is one slice on each
/// rank's compute thread, its memory is not drawn. Source: "Trace Event Format", Google, 2016 (phases X, C, M, s, f).
/// Perfetto's JSON importer reads them all; it binds a flow that says so ("bp": "e") to the slice that is open on its
/// thread. Not modelled: what a barrier waits for; it has no arrows. Checked against:
/// tests/unit/core/simulate/trace_test.cpp; tests/integration/simulate_test.py (the whole format).

#include <string>

#include "core/simulate/simulation.h"

namespace plumbline {

struct TraceSlice {
  std::int32_t rank = 0;
  Stream stream = Stream::compute;
  std::int32_t lane = 0;  ///< of several threads of the stream: slices of one thread never cross
  std::string name;
  std::string kind;
  Span span;
  std::int32_t micro_batch = -1;
  Bytes bytes{0};
};

/// An arrow between two slices, by their indices.
struct TraceFlow {
  std::size_t from = 0;
  std::size_t to = 0;
};

struct TraceCounter {
  std::int32_t rank = 0;
  Picoseconds at{0};
  MemoryBreakdown memory;
};

struct Trace {
  std::int32_t ranks = 0;
  std::vector<std::string> names;  ///< of the ranks; empty: "pipeline rank 0", ...
  std::vector<TraceSlice> slices;
  std::vector<TraceFlow> flows;
  std::vector<TraceCounter> counters;
};

[[nodiscard]] Trace trace(const Program& program, const Simulation& simulation);
/// Gives slices of a stream that overlap lanes of their own.
void part_crossing_slices(std::vector<TraceSlice>& slices);

}  // namespace plumbline
