#include "runtime/device/host_memory_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <vector>

#include "core/base/errors.h"
#include "runtime/device/cpu_kernels.h"

namespace plumbline {
namespace {

/// What a device promises (compute_device.h).
constexpr std::align_val_t alignment{256};

std::size_t size_of(Bytes bytes) { return static_cast<std::size_t>(bytes.value()); }

}  // namespace

const DeviceKernels& HostMemoryDevice::kernels() const { return cpu_kernels(); }

DeviceMemory HostMemoryDevice::reserve(Bytes bytes) {
  void* const memory = ::operator new(std::max<std::size_t>(1, size_of(bytes)), alignment);
  return {static_cast<std::byte*>(memory), [](std::byte* held) { ::operator delete(held, alignment); }};
}

Mark HostMemoryDevice::timed_mark(Stream lane) {
  std::int64_t& time = times_.emplace_back(0);
  enqueue(lane, [&time] { time = std::chrono::steady_clock::now().time_since_epoch().count(); });
  Mark passed = mark(lane);
  passed.time = std::ssize(times_) - 1;
  return passed;
}

std::int64_t HostMemoryDevice::elapsed_ns(const Mark& from, const Mark& to) const {
  const auto time = [&](const Mark& mark) {
    check(mark.time >= 0 && mark.time < std::ssize(times_), "a timed mark is not forgotten");
    const std::int64_t passed = times_[static_cast<std::size_t>(mark.time)];
    check(passed != 0, "a mark whose time is asked for was passed");
    return std::chrono::steady_clock::duration(passed);
  };
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time(to) - time(from)).count();
}

void HostMemoryDevice::copy(Stream lane, void* to, const void* from, Bytes bytes) {
  if (bytes.value() > 0) enqueue(lane, [=] { std::memcpy(to, from, size_of(bytes)); });
}

void HostMemoryDevice::fill(Stream lane, void* to, std::byte value, Bytes bytes) {
  if (bytes.value() > 0) enqueue(lane, [=] { std::memset(to, std::to_integer<int>(value), size_of(bytes)); });
}

void HostMemoryDevice::upload(Stream lane, void* to, const void* from, Bytes bytes) {
  if (bytes.value() == 0) return;
  const auto* const first = static_cast<const std::byte*>(from);
  enqueue(lane, [to, kept = std::vector<std::byte>(first, first + bytes.value())] {
    std::memcpy(to, kept.data(), kept.size());
  });
}

}  // namespace plumbline
