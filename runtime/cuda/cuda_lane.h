#pragma once
/// \file cuda_lane.h: one lane of a device: a stream, and the marks that were put on it.
///
/// Model: each mark is an event; events of marks that are passed are used again. Streams do not wait for CUDA's default
/// stream. Source: CUDA C++ Programming Guide, "Streams", "Events". Not modelled: priorities.
/// Checked against: tests/cuda/cuda_device_test.cpp.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "core/program/program.h"
#include "runtime/cuda/cuda_event.h"

namespace plumbline {

class CudaLane {
 public:
  CudaLane() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;
  ~CudaLane();

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// A number that grows with each mark.
  [[nodiscard]] std::int64_t mark();
  /// `stream` is held back until this lane has passed the mark.
  void hold_back(cudaStream_t stream, std::int64_t mark) const;
  /// Returns once the lane has passed it.
  void finish(std::int64_t mark) const;
  /// Without asking the device.
  [[nodiscard]] bool is_known_passed(std::int64_t mark) const { return event_of(mark) == nullptr; }
  void finish() const { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  /// Marks are of a graph from here on, and nobody may ask whether they are passed. All before are.
  void begin_recording();
  /// All marks so far count as passed: whoever launches the graph waits for it.
  void end_recording();

 private:
  struct Marked {
    std::int64_t number = 0;
    std::unique_ptr<CudaEvent> event;
  };
  /// None: the mark is passed.
  [[nodiscard]] const CudaEvent* event_of(std::int64_t mark) const;
  void forget_passed();

  cudaStream_t stream_ = nullptr;
  std::int64_t marks_ = 0;
  std::deque<Marked> open_;  ///< in order; those before the first are passed
  std::deque<std::unique_ptr<CudaEvent>> unused_;
  bool is_recording_ = false;
};

/// Of a device.
class CudaLanes {
 public:
  CudaLanes() {
    for (auto& lane : lanes_) lane = std::make_unique<CudaLane>();
  }
  [[nodiscard]] CudaLane& operator[](Stream lane) const { return *lanes_[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] auto begin() const { return lanes_.begin(); }
  [[nodiscard]] auto end() const { return lanes_.end(); }

 private:
  std::array<std::unique_ptr<CudaLane>, stream_count> lanes_;
};

}  // namespace plumbline
