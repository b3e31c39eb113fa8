#pragma once
/// \file device_memory.h: what one rank took of its device's memory, by part.
///
/// Answers: bytes that sum to what this rank holds of the device. Model: the device is asked how much is free when its
/// context is made, before and after every call that takes memory, and after the last step; what no call of ours took
/// is CUDA's own. Context and modules are the process's: of ranks that share a device each has the whole of both. Not
/// modelled: memory that other programs take of the same device, which is in `context`, or, if they take it later, in
/// `modules`. Checked against: tests/cuda/device_memory_test.cpp (sizes that a test sets), tests/unit/core/io.

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "core/quantity/quantity.h"

namespace plumbline {

enum class DevicePart : std::uint8_t {
  context,        ///< CUDA's when it was made
  modules,        ///< kernels that were loaded later, and whatever else CUDA took by itself
  libraries,      ///< handles of cuBLASLt and cuDNN, and the scratch of kernels that they share with ours
  communication,  ///< NCCL's buffers and its scratch; copies of messages
  arena,          ///< tensors, as the record's arena counts them
  other,          ///< token ids, casts, scalars, and what cudaMalloc takes beyond what it was asked for
};
inline constexpr std::size_t device_part_count = 6;
[[nodiscard]] std::string_view to_text(DevicePart part);

struct DeviceMemoryRecord {
  std::array<Bytes, device_part_count> by_part{};
  Bytes device_peak{0};    ///< the most that all ranks on the device held at once, without trials of products
  Bytes trials{0};         ///< what those trials took beyond that in the first step, before they gave it back
  std::int32_t ranks = 1;  ///< that share the device

  [[nodiscard]] Bytes& operator[](DevicePart part) { return by_part[static_cast<std::size_t>(part)]; }
  [[nodiscard]] Bytes operator[](DevicePart part) const { return by_part[static_cast<std::size_t>(part)]; }
  /// `device_peak` where the rank has a device of its own.
  [[nodiscard]] Bytes total() const { return std::accumulate(by_part.begin(), by_part.end(), Bytes(0)); }
  bool operator==(const DeviceMemoryRecord&) const = default;
};

}  // namespace plumbline
