#pragma once
/// \file memory_meter.h: how much of a device's memory each rank takes, and for what, from the device's free memory.
///
/// Answers: device_use.h. Model: cudaMemGetInfo is read before and after each cudaMalloc, under one lock for all
/// ranks on the device, so that its rounding is known; before and after groups, handles and graphs of libraries are
/// made; and when a rank asks. What is taken when the first rank makes its device is the context; whatever is taken
/// later and not counted is the process's modules. Source: CUDA Runtime API 13.0, "Memory Management".
/// Not modelled: what other programs, or kernels that load in another thread meanwhile, take between the two questions.
/// Checked against: tests/cuda/device_memory_test.cpp.

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/device/device_use.h"

namespace plumbline {

/// `trials`: given back at once, and left out where the device has no room.
enum class MemoryUse : std::uint8_t { tensors, libraries, communication, trials };

/// Of one device: what the ranks of this process on it took together.
class MemoryMeter;

/// Of one rank, whose thread makes it on its device.
class MemoryAccount {
 public:
  MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;
  ~MemoryAccount();

  /// Runs `take`, which takes `asked` or a little more. Returns the bytes beyond: what the device rounds up to.
  [[nodiscard]] Bytes taken(MemoryUse use, Bytes asked, const std::function<void()>& take);
  /// Runs `give`; `beyond`: what `taken` returned.
  void given_back(MemoryUse use, Bytes asked, Bytes beyond, const std::function<void()>& give);
  [[nodiscard]] DeviceUse use() const;

 private:
  friend class MeasuredUse;
  /// Under the meter's lock.
  void count(MemoryUse use, Bytes asked, Bytes beyond);

  std::shared_ptr<MemoryMeter> meter_;
  std::array<Bytes, 4> by_use_{};  ///< as asked; under the meter's lock
  Bytes rounding_{0};
};

/// The account of the thread's device; null without one.
[[nodiscard]] const std::shared_ptr<MemoryAccount>& thread_account();
void set_thread_account(std::shared_ptr<MemoryAccount> account);

/// Counts for `use`, on the thread's account, what the device loses while this lives and no allocation of ours takes.
class MeasuredUse {
 public:
  explicit MeasuredUse(MemoryUse use);
  MeasuredUse(const MeasuredUse&) = delete;
  MeasuredUse& operator=(const MeasuredUse&) = delete;
  ~MeasuredUse();

 private:
  std::shared_ptr<MemoryAccount> account_;
  MemoryUse use_;
  std::optional<Bytes> before_;
};

}  // namespace plumbline
