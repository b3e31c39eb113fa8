#include "runtime/device/idle_device.h"

#include <sys/mman.h>

#include <new>

namespace plumbline {
namespace {

template <class... Arguments>
void idle(void (*&kernel)(Arguments...)) {
  kernel = [](Arguments...) {};
}
template <class Arguments>
void idle(ScratchKernel<Arguments>& kernel) {
  idle(kernel.run);
}

}  // namespace

IdleDevice::IdleDevice(const DeviceKernels& table) : kernels_(table) {
  for_each_kernel([this]<auto kernel>() { idle(kernels_.*kernel); });
  if (kernels_.combined == nullptr) return;
  combined_ = *kernels_.combined;
  for_each_combined_kernel([this]<auto kernel>() { idle(combined_.*kernel); });
  kernels_.combined = &combined_;
}

/// Pages of the system that nobody touches cost nothing; memory of the heap might be touched to be zero.
DeviceMemory IdleDevice::reserve(Bytes bytes) {
  if (memory_ != nullptr && bytes <= size_) return memory_;
  const std::size_t size = static_cast<std::size_t>(bytes.value()) + 1;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = DeviceMemory(static_cast<std::byte*>(memory), [size](std::byte* held) { (void)::munmap(held, size); });
  size_ = bytes;
  return memory_;
}

}  // namespace plumbline
