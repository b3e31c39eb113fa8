#pragma once
/// \file control.h: what a test sets and asks of the device that runs on the CPU.
///
/// Everything is reset by cudaDeviceReset, except for the seed, the order of threads and the description of the device.
/// Checked against: tests/cuda_on_cpu/streams_test.cpp, tests/cuda_on_cpu/memory_test.cpp.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>

namespace cuda_on_cpu {

/// cudaDeviceReset, for tests that run on a GPU too (tests/kernels/gpu), which goes on as it is.
void renew_device();

/// In which order the threads of a block run between two barriers. `shuffled` also shuffles the blocks of a grid.
enum class ThreadOrder : std::uint8_t { forward, reverse, shuffled };
void set_thread_order(ThreadOrder order);

/// Of the order among streams, and of shuffled threads and blocks. Starts both anew.
void set_seed(unsigned seed);

/// Of each device's memory, in bytes; 1 GiB from the start.
void set_capacity(std::size_t bytes);

/// Of what cudaMalloc returns; 256 as CUDA's from the start. With less, an allocation ends nearer to its guard page.
void set_alignment(std::size_t bytes);

/// Of the device's memory, as cudaMemGetInfo counts it; all 0 from the start but for the granularity, 1.
struct MemoryTaken {
  std::size_t context = 0;      ///< by a device's context
  std::size_t kernel = 0;       ///< by each kernel, when it is first launched on a device
  std::size_t granularity = 1;  ///< cudaMalloc takes multiples of it
};
void set_memory_taken(const MemoryTaken& taken);
/// Takes bytes of this host thread's device as a library would, until the next reset.
void take_memory(std::size_t bytes);

struct DeviceDescription {
  int count = 1;  ///< 0: no device (cudaErrorNoDevice)
  std::string name = "CPU that runs CUDA";
  int major = 9;
  int minor = 0;
  int multiprocessors = 132;
  int driver_version = 13000;  ///< 0: no driver
};
void set_device(const DeviceDescription& device);

/// The call of this name that is the `nth` from now (1: the next) fails and does nothing. Names are those of the API;
/// "cudaLaunchKernelEx" is a launch, and "kernel" a kernel that fails while it runs.
void fail_call(const std::string& name, int nth, cudaError_t error);
/// How often each call was made since the last reset.
std::map<std::string, int> calls_made();

/// How many kernels that take these arguments were launched since the last reset.
int launches_with(const char* arguments);
template <class... Arguments>
int launches_with() {
  return launches_with(typeid(void(Arguments...)).name());
}

/// Blocks of kernels that were launched, and atomic operations that were carried out, since the last reset.
int blocks_launched();
int atomic_operations();

/// How often the host stood still for work that was not done, since the last reset. Calls that wait one behind the
/// other, with no work given between them, are one: what keeps a device without work is counted.
int host_waits();

/// The `nth` cudaStreamWaitEvent from now is left out, as if the product had forgotten it.
void leave_out_wait(int nth);

/// Why the last kernel or stream failed, in words; empty if none did. Asking clears it.
std::string last_problem();

/// Whether these bytes lie in one allocation of the device's memory.
bool is_device_memory(const void* pointer, std::size_t bytes);
/// Bytes allocated now, as cudaMalloc was asked for them.
std::size_t allocated_bytes();

/// Work of a stream that is no kernel, for stand-ins of libraries (matrix products): it may touch device memory.
cudaError_t enqueue_work(cudaStream_t stream, std::function<void()> work);

/// Parts of a collective in other processes.
class RemoteParts {
 public:
  RemoteParts() = default;
  RemoteParts(const RemoteParts&) = delete;
  RemoteParts& operator=(const RemoteParts&) = delete;
  virtual ~RemoteParts() = default;
  /// Asked once the own part is next in its stream, until it is so: hands the own part over at the first time.
  [[nodiscard]] virtual bool are_here() = 0;
};

/// A part of a collective: runs together with the other parts of `key` once all `parts` are next in their streams.
/// `arrive` of each runs first, then `together` of one of them.
struct CollectivePart {
  std::string key;
  int parts = 1;
  std::function<void()> arrive;
  std::function<void()> together;
  std::shared_ptr<const bool> is_given_up = {};  ///< then its stream goes on without it
  std::shared_ptr<RemoteParts> remote = {};      ///< that it waits for
};
cudaError_t enqueue_collective(cudaStream_t stream, CollectivePart part);

}  // namespace cuda_on_cpu
