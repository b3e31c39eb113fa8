#pragma once
/// \file captures.h: streams whose work is captured into a graph instead of run, and what breaks a capture. Not for
/// tests or kernels.
///
/// Model: a capture begins on one stream; another one joins it when it waits for an event that was recorded in it. What
/// a stream is given becomes a node behind the stream's last ones. An invalid call returns its error and invalidates
/// the capture: all that follows fails, until cudaStreamEndCapture returns an error and no graph. Source: CUDA C++
/// Programming Guide 13.0, "Creating a Graph Using Stream Capture"; CUDA Runtime API 13.0, cudaStreamBeginCapture,
/// cudaStreamEndCapture, cudaThreadExchangeStreamCaptureMode, cudaError_t 900 to 908. Which calls are "potentially
/// unsafe" CUDA does not list: here all that allocate, free, wait or ask. Not modelled: waits for external events;
/// inside a capture, launches of other graphs and collectives in several parts (cudaErrorStreamCaptureUnsupported).
/// Checked against: tests/cuda_on_cpu/graphs_test.cpp.

#include <cuda_runtime_api.h>

#include <memory>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/cuda_on_cpu/entry.h"

namespace cuda_on_cpu {

struct GraphNode {
  Entry entry;
  std::set<std::size_t> needs;  ///< nodes before it
};

/// One capture, open or ended.
struct Capture {
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool is_open = true;
  bool is_valid = true;
  std::vector<GraphNode> nodes;
};

class Captures {
 public:
  cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode);
  /// Its nodes, where there is no error.
  cudaError_t end(cudaStream_t stream, std::vector<GraphNode>& nodes);
  /// Of a stream that is capturing.
  cudaError_t add(cudaStream_t stream, Entry entry);
  /// Of any stream and event, one of which has to do with a capture.
  cudaError_t record(cudaStream_t stream, CUevent_st& event);
  cudaError_t wait(cudaStream_t stream, CUevent_st& event);
  /// What keeps this thread from a call of this name; invalidates what it would break.
  cudaError_t obstacle(std::string_view call);
  /// The same of a call that waits for the stream, or asks it.
  cudaError_t require_not_capturing(cudaStream_t stream);
  /// The same of the event.
  static cudaError_t require_not_captured(const CUevent_st& event);
  void forget(cudaStream_t stream);
  void reset() { open_.clear(); }

 private:
  static cudaError_t broken(Capture& capture, cudaError_t error);
  void detach(const std::shared_ptr<Capture>& capture);

  std::vector<std::shared_ptr<Capture>> open_;
};

}  // namespace cuda_on_cpu
