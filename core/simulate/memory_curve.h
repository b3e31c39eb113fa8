#pragma once
/// \file memory_curve.h: bytes that each rank holds, class by class, as its actions come and go.
///
/// Answers: the peak over a rank's order of issue, with the action that reaches it and what is alive then; and the
/// curve, a point after every change.
/// Model: an allocator that works in order of issue: what an action allocates is there before it runs, what it releases
/// is gone when the next one is issued. What the allocator loses is a fraction of the live bytes at the peak.
/// Source: core/program/program.h (lifetimes). Not modelled: alignment of buffers, reuse across streams.
/// Checked against: tests/property/simulation_agreement_test.cpp (stage_memory.h of the same plans, to the byte).

#include "core/plan/estimate.h"
#include "core/program/program.h"

namespace plumbline {

struct MemoryPeak {
  MemoryBreakdown memory;    ///< with what the allocator loses
  std::int32_t action = -1;  ///< the first at which the peak is; -1: before the first
};

/// After the allocations of `action`, or after its releases.
enum class Moment : std::uint8_t { begin, end };
struct MemoryPoint {
  std::int32_t action = -1;
  Moment moment = Moment::begin;
  MemoryBreakdown memory;  ///< without what the allocator loses
};

[[nodiscard]] MemoryPeak memory_peak(const RankProgram& rank, double fragmentation_fraction);
[[nodiscard]] std::vector<MemoryPoint> memory_curve(const RankProgram& rank);

}  // namespace plumbline
