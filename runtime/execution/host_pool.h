#pragma once
/// \file host_pool.h: memory of the host for what a rank copies there, kept for the next copy of its size.
///
/// Answers: addresses; bytes that were reserved. Model: what was given back serves the next one of its size; the lane
/// of copies works in order, so what is written again was read before. Not modelled: pages of several ranks that one
/// host shares. Checked against: tests/runtime/execution/offload_test.cpp.

#include <map>
#include <vector>

#include "runtime/device/compute_device.h"

namespace plumbline {

class HostPool {
 public:
  explicit HostPool(ComputeDevice& device) : device_(device) {}

  [[nodiscard]] std::byte* take(Bytes bytes);
  void give_back(std::byte* memory, Bytes bytes) { sizes_[bytes].idle.push_back(memory); }
  /// Reserves as many of each size as another pool needed. Nothing is taken.
  void prepare_as(const HostPool& other);
  [[nodiscard]] Bytes reserved() const { return reserved_; }

 private:
  struct OfSize {
    std::vector<DeviceMemory> owned;
    std::vector<std::byte*> idle;
  };
  void reserve(Bytes bytes, OfSize& of_size);

  ComputeDevice& device_;
  std::map<Bytes, OfSize> sizes_;
  Bytes reserved_{0};
};

}  // namespace plumbline
