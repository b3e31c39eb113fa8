#include "runtime/device/host_memory_device.h"

#include <cstring>
#include <vector>

#include "runtime/device/cpu_kernels.h"

namespace plumbline {
namespace {

std::size_t size_of(Bytes bytes) { return static_cast<std::size_t>(bytes.value()); }

}  // namespace

const DeviceKernels& HostMemoryDevice::kernels() const { return cpu_kernels(); }

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
