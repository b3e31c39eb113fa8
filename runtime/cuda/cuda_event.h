#pragma once
/// \file cuda_event.h: an event of CUDA's, held until its last holder lets go.
///
/// Checked against: tests/cuda/cuda_device_test.cpp.

#include <cstdint>
#include <memory>

#include "runtime/cuda/cuda_call.h"

namespace plumbline {

enum class EventTiming : std::uint8_t { off, on };

class CudaEvent {
 public:
  explicit CudaEvent(EventTiming timing = EventTiming::off) {
    require(cudaEventCreateWithFlags(&event_, timing == EventTiming::on ? cudaEventDefault : cudaEventDisableTiming),
            "cudaEventCreateWithFlags");
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() { (void)cudaEventDestroy(event_); }

  void record(cudaStream_t stream) { require(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  /// In a stream that is captured: at each launch of the graph.
  void record_in_graph(cudaStream_t stream) {
    require(cudaEventRecordWithFlags(event_, stream, cudaEventRecordExternal), "cudaEventRecordWithFlags");
  }
  /// What `stream` is given from here on runs once the event is passed.
  void hold_back(cudaStream_t stream) const { require(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }
  void synchronize() const { require(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  /// Whether all before its record has run. An error of the device is one of this call too.
  [[nodiscard]] bool is_passed() const {
    const cudaError_t error = cudaEventQuery(event_);
    if (error != cudaErrorNotReady) require(error, "cudaEventQuery");
    return error == cudaSuccess;
  }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace plumbline
