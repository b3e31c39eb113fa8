#include "runtime/cuda/device_memory.h"

#include <algorithm>

#include "core/quantity/text.h"
#include "runtime/cuda/cuda_call.h"

namespace plumbline {
namespace {

std::string free_text() {
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return "";
  const auto text = [](std::size_t bytes) { return to_text(Bytes(static_cast<std::int64_t>(bytes))); };
  return ", and " + text(free) + " of " + text(total) + " are free";
}

std::byte* allocated(Bytes bytes) {
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes.value()));
  const cudaError_t error = cudaMalloc(&memory, size);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // it would be taken for one of a later launch
    throw CudaOutOfMemory("cudaMalloc: " + to_text(bytes) + " were asked of the device" + free_text());
  }
  require(error, "cudaMalloc of " + to_text(bytes));
  return static_cast<std::byte*>(memory);
}

}  // namespace

DeviceMemory reserve_device_memory(Bytes bytes, MemoryUse use) {
  const std::shared_ptr<MemoryAccount> account = thread_account();
  if (account == nullptr) return {allocated(bytes), [](std::byte* held) { (void)cudaFree(held); }};
  std::byte* memory = nullptr;
  const Bytes beyond = account->taken(use, bytes, [&] { memory = allocated(bytes); });
  return {memory, [=](std::byte* held) { account->given_back(use, bytes, beyond, [held] { (void)cudaFree(held); }); }};
}

}  // namespace plumbline
