#pragma once
/// \file live_bytes.h: bytes that a rank's tensors hold, class by class, counted as they are bound and released.
///
/// Answers: what is live now; the most of each class while an action runs; the action at which their sum was largest.
/// Model: counts what is told to it and reads no plan. Each class has an arena of its own, so an action needs the most
/// of every class, whether or not those moments coincide; a replay and the backward that it serves count as one.
/// Source: issue of the runtime; PyTorch's allocator statistics.
/// Not modelled: scratch of kernels (a line of its own), alignment.
/// Checked against: tests/runtime/execution/live_bytes_test.cpp.

#include <algorithm>

#include "core/base/errors.h"
#include "core/plan/estimate.h"

namespace plumbline {

class LiveBytes {
 public:
  void bind(MemoryClass c, Bytes bytes) {
    live_[c] += bytes;
    most_[c] = std::max(most_[c], live_[c]);
  }
  void release(MemoryClass c, Bytes bytes) {
    live_[c] -= bytes;
    check(live_[c] >= Bytes(0), "what is released was bound");
  }

  /// The most of each class is counted from here.
  void begin_action() { most_ = live_; }
  void end_action(std::int32_t action) {
    if (most_.device_total() <= peak_.device_total()) return;
    peak_ = most_;
    peak_action_ = action;
  }

  [[nodiscard]] const MemoryBreakdown& live() const { return live_; }
  /// Since the action began.
  [[nodiscard]] const MemoryBreakdown& most() const { return most_; }
  [[nodiscard]] const MemoryBreakdown& peak() const { return peak_; }
  /// The first at which the peak was.
  [[nodiscard]] std::int32_t peak_action() const { return peak_action_; }

 private:
  MemoryBreakdown live_;
  MemoryBreakdown most_;
  MemoryBreakdown peak_;
  std::int32_t peak_action_ = -1;
};

}  // namespace plumbline
