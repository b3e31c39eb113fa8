#pragma once
/// \file work_graph.h: work of a device's lanes that is recorded once and then given as a whole.
///
/// Model: what the thread gives its lanes between `begin` and `end` does not run; each `launch` runs all of it, in the
/// order that its marks leave open, with the arguments and addresses that it was recorded with. What changes from
/// launch to launch lies in memory. A recorded mark is passed, for whoever asks, once its launch has been waited for; a
/// timed one has the time of the last launch. While it is recorded nobody waits, asks for memory or uploads. Source:
/// CUDA C++ Programming Guide, "CUDA Graphs". Not modelled: changing what was recorded.
/// Checked against: tests/cuda/graph_training_test.cpp.

namespace plumbline {

class WorkGraph {
 public:
  WorkGraph() = default;
  WorkGraph(const WorkGraph&) = delete;
  WorkGraph& operator=(const WorkGraph&) = delete;
  virtual ~WorkGraph() = default;

  /// Waits for all lanes, and forgets what was recorded before.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Behind what the compute lane was given; no other lane has work.
  virtual void launch() = 0;
};

}  // namespace plumbline
