#pragma once
/// \file cuda_graph.h: a CUDA graph of what a device's lanes are given.
///
/// Answers: runtime/device/work_graph.h on CUDA. Model: the compute lane's stream is captured; the other lanes fork
/// from it at the begin and join it at the end, and in between events order them as they do otherwise. Timed marks are
/// nodes that record their events at each launch. The capture is of this thread alone: other threads may do what they
/// like. Errors: CudaError names the call. Source: CUDA C++ Programming Guide 13.0, "Creating a Graph Using Stream
/// Capture"; CUDA Runtime API 13.0, cudaEventRecordWithFlags. Not modelled: streams of NCCL, updates of an instantiated
/// graph. Checked against: tests/cuda/graph_training_test.cpp, graph_failures_test.cpp.

#include "runtime/cuda/cuda_lane.h"
#include "runtime/cuda/timed_events.h"
#include "runtime/device/work_graph.h"

namespace plumbline {

class CudaGraph : public WorkGraph {
 public:
  /// Of a device, which outlives it.
  CudaGraph(CudaLanes& lanes, TimedEvents& times) : lanes_(lanes), times_(times) {}
  ~CudaGraph() override;

  void begin() override;
  void end() override;
  void launch() override;

 private:
  [[nodiscard]] cudaStream_t origin() const { return lanes_[Stream::compute].stream(); }
  /// Lanes and times are as they were before.
  void stop_recording();
  void forget();

  CudaLanes& lanes_;
  TimedEvents& times_;
  CudaEvent fork_;
  std::size_t timed_ = 0;  ///< events that were recorded
  bool is_recording_ = false;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace plumbline
