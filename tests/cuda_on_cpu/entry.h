#pragma once
/// \file entry.h: entries of streams, events, and streams themselves. Not for tests or kernels.
///
/// Checked against: tests/cuda_on_cpu/streams_test.cpp.

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <set>

#include "tests/cuda_on_cpu/control.h"

namespace cuda_on_cpu {
struct Capture;
struct GraphRun;
}  // namespace cuda_on_cpu

struct CUevent_st {
  bool is_timed = true;
  std::uint64_t recorded = 0;
  std::uint64_t reached = 0;
  std::chrono::steady_clock::time_point when;
  std::shared_ptr<cuda_on_cpu::Capture> capture;  ///< in which it was recorded last
  std::set<std::size_t> nodes;                    ///< of it, that come before the record
};

namespace cuda_on_cpu {

/// An entry of a stream. `record_node`: of a graph, an event's record each time that it runs.
struct Entry {
  enum class Kind : std::uint8_t { work, host_function, record, wait, collective, graph, record_node };
  Kind kind = Kind::work;
  std::function<void()> run;
  std::shared_ptr<CUevent_st> event;  ///< outlives cudaEventDestroy, as under CUDA
  std::uint64_t version = 0;          ///< which of the event's records
  CollectivePart part;
  std::shared_ptr<GraphRun> graph;
};

}  // namespace cuda_on_cpu

struct CUstream_st {
  std::deque<cuda_on_cpu::Entry> entries;
  bool is_busy = false;  ///< a host function of it runs
  int device = 0;
  bool is_blocking = false;                       ///< waits for the legacy stream, and is waited for
  std::shared_ptr<cuda_on_cpu::Capture> capture;  ///< that takes its work
  std::set<std::size_t> last;                     ///< nodes that come before its next one
  [[nodiscard]] bool is_idle() const { return entries.empty() && !is_busy; }
};
