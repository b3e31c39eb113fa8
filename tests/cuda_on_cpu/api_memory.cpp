// Memory and copies of the API.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tests/cuda_on_cpu/api_call.h"

using cuda_on_cpu::api_call;
using cuda_on_cpu::Entry;
using cuda_on_cpu::streams;
using cuda_on_cpu::Streams;

namespace cuda_on_cpu {
namespace {

/// Page-locked memory of the host: bytes by address.
std::map<const std::byte*, std::size_t>& locked_memory() {
  static auto* only = new std::map<const std::byte*, std::size_t>;
  return *only;
}

bool is_locked(const void* pointer, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(pointer);
  auto after = locked_memory().upper_bound(begin);
  if (after == locked_memory().begin()) return false;
  --after;
  return begin + bytes <= after->first + after->second;
}

cudaError_t allocate_locked(const char* name, void** pointer, std::size_t bytes) {
  return api_call(name, [&](Streams::Lock&) {
    constexpr std::size_t alignment = 256;
    *pointer = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
    if (*pointer == nullptr) return cudaErrorMemoryAllocation;
    locked_memory()[static_cast<const std::byte*>(*pointer)] = bytes;
    return cudaSuccess;
  });
}

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

/// Whether each end lies where the kind of copy says.
bool is_consistent(const Copy& copy, cudaMemcpyKind kind) {
  const bool is_to_device = streams().memory.holds(copy.to, copy.bytes);
  const bool is_from_device = streams().memory.holds(copy.from, copy.bytes);
  if (kind == cudaMemcpyDefault) return true;
  return is_to_device == (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
         is_from_device == (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
}

/// Copies from pageable memory take its bytes now; copies to pageable memory are done on return. In a graph both are
/// of the memory as it is when the graph runs.
cudaError_t enqueue_copy(Streams::Lock& lock, const Copy& copy, cudaStream_t stream) {
  if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
  const bool is_from_host = !streams().memory.holds(copy.from, copy.bytes);
  const bool is_to_host = !streams().memory.holds(copy.to, copy.bytes);
  const bool is_captured = stream->capture != nullptr;
  Entry entry;
  if (is_from_host && !is_captured && !is_locked(copy.from, copy.bytes)) {
    const auto* begin = static_cast<const std::byte*>(copy.from);
    auto kept = std::make_shared<std::vector<std::byte>>(begin, begin + copy.bytes);
    entry.run = [copy, kept] { std::memcpy(copy.to, kept->data(), copy.bytes); };
  } else {
    entry.run = [copy] { std::memmove(copy.to, copy.from, copy.bytes); };
  }
  const cudaError_t error = streams().push(stream, std::move(entry));
  if (error == cudaSuccess && is_to_host && !is_captured && !is_locked(copy.to, copy.bytes))
    return streams().run_until(lock, [&] { return stream->is_idle(); });
  return error;
}

}  // namespace
}  // namespace cuda_on_cpu

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return api_call("cudaMalloc", [&](Streams::Lock&) {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    *pointer = streams().memory.allocate(bytes);
    return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

cudaError_t cudaFree(void* pointer) {
  using Freed = cuda_on_cpu::DeviceMemory::Freed;
  return api_call("cudaFree", [&](Streams::Lock& lock) {
    if (pointer == nullptr) return cudaSuccess;
    // As CUDA: it waits for the device.
    const cudaError_t error = streams().run_until(lock, [] { return streams().all_idle(); });
    if (error != cudaSuccess) return error;
    const Freed freed = streams().memory.release(pointer);
    if (freed == Freed::was_overrun) streams().fail(cudaErrorIllegalAddress, "bytes behind an allocation were written");
    if (freed == Freed::unknown_address) return cudaErrorInvalidValue;
    return streams().failure;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cuda_on_cpu::allocate_locked("cudaMallocHost", pointer, bytes);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return cuda_on_cpu::allocate_locked("cudaHostAlloc", pointer, bytes);
}

cudaError_t cudaFreeHost(void* pointer) {
  return api_call("cudaFreeHost", [&](Streams::Lock& lock) {
    if (pointer == nullptr) return cudaSuccess;
    const cudaError_t error = streams().run_until(lock, [] { return streams().all_idle(); });
    if (cuda_on_cpu::locked_memory().erase(static_cast<const std::byte*>(pointer)) == 0) return cudaErrorInvalidValue;
    std::free(pointer);
    return error;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return api_call("cudaMemGetInfo", [&](Streams::Lock&) {
    const int device = cuda_on_cpu::current_device();
    streams().memory.make_context(device);
    *total = streams().memory.capacity;
    *free = *total - std::min(*total, streams().memory.used(device));
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return api_call("cudaMemcpyAsync", [&](Streams::Lock& lock) {
    const cuda_on_cpu::Copy copy{to, from, bytes};
    if (bytes == 0) return cudaSuccess;
    if (!cuda_on_cpu::is_consistent(copy, kind)) return cudaErrorInvalidValue;
    return cuda_on_cpu::enqueue_copy(lock, copy, stream);
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return api_call("cudaMemcpy", [&](Streams::Lock& lock) {
    if (bytes == 0) return cudaSuccess;
    if (!cuda_on_cpu::is_consistent({to, from, bytes}, kind)) return cudaErrorInvalidValue;
    const cudaStream_t stream = streams().create(cudaStreamNonBlocking);
    Entry entry;
    entry.run = [to, from, bytes] { std::memmove(to, from, bytes); };
    (void)streams().push(stream, std::move(entry));
    const cudaError_t error = streams().run_until(lock, [&] { return stream->is_idle(); });
    streams().destroy(stream);
    return error;
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return api_call("cudaMemsetAsync", [&](Streams::Lock&) {
    if (bytes == 0) return cudaSuccess;
    if (!streams().memory.holds(pointer, bytes)) return cudaErrorInvalidValue;
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    Entry entry;
    entry.run = [pointer, value, bytes] { std::memset(pointer, value, bytes); };
    return streams().push(stream, std::move(entry));
  });
}
}
