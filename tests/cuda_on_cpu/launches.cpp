#include "tests/cuda_on_cpu/launches.h"

#include <cuda_runtime.h>

#include <atomic>

#include "tests/cuda_on_cpu/api_call.h"
#include "tests/cuda_on_cpu/control.h"
#include "tests/cuda_on_cpu/shared_memory.h"

namespace cuda_on_cpu {
namespace {

/// Without a kernel's own limit. Source: CUDA C++ Programming Guide 13.0, section 20.7.3.
constexpr std::size_t usual_dynamic_shared = std::size_t{48} * 1024;

/// By kernel.
std::map<const void*, std::size_t>& limits() {
  static auto* only = new std::map<const void*, std::size_t>;
  return *only;
}

/// By the types of their arguments.
std::map<std::string, int>& launched() {
  static auto* only = new std::map<std::string, int>;
  return *only;
}

struct Counts {
  int blocks = 0;
  std::atomic<int> atomic_operations = 0;
};
Counts& counts() {
  static auto* only = new Counts;
  return *only;
}

bool is_valid(const cudaLaunchConfig_t& config) {
  const dim3& grid = config.gridDim;
  const dim3& block = config.blockDim;
  constexpr unsigned most_rows = 65535;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  return grid.x >= 1 && grid.x <= 0x7fffffffU && grid.y >= 1 && grid.y <= most_rows && grid.z >= 1 &&
         grid.z <= most_rows && threads >= 1 && threads <= 1024 && block.z <= 64;
}

}  // namespace

void forget_launches() {
  limits().clear();
  launched().clear();
  counts().blocks = 0;
  counts().atomic_operations = 0;
}

int blocks_launched() {
  const Streams::Lock lock(streams().mutex);
  return counts().blocks;
}

int atomic_operations() { return counts().atomic_operations; }
void count_atomic_operation() { ++counts().atomic_operations; }

int launches_with(const char* arguments) {
  const Streams::Lock lock(streams().mutex);
  const auto found = launched().find(arguments);
  return found == launched().end() ? 0 : found->second;
}

cudaError_t allow_dynamic_shared_memory(const void* kernel, int bytes) {
  return api_call("cudaFuncSetAttribute", [&](Streams::Lock&) {
    if (bytes < 0 || static_cast<std::size_t>(bytes) > most_dynamic_shared) return cudaErrorInvalidValue;
    limits()[kernel] = static_cast<std::size_t>(bytes);
    return cudaSuccess;
  });
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, const char* arguments,
                   std::function<void()> body) {
  return api_call("cudaLaunchKernelEx", [&](Streams::Lock&) {
    const auto own_limit = limits().find(kernel);
    const std::size_t limit = own_limit == limits().end() ? usual_dynamic_shared : own_limit->second;
    if (!streams().knows(config.stream)) return cudaErrorInvalidResourceHandle;
    if (!is_valid(config)) return cudaErrorInvalidConfiguration;
    if (config.dynamicSmemBytes > limit) return cudaErrorInvalidValue;
    Entry entry;
    entry.run = [config, run = std::move(body)] {
      const cudaError_t requested = requested_failure("kernel");
      if (requested != cudaSuccess) throw ExecutionError(requested, "a test asked for this kernel to fail");
      run_grid(config.gridDim, config.blockDim, config.dynamicSmemBytes, run);
    };
    streams().memory.load_kernel(config.stream->device, kernel);
    const cudaError_t error = streams().push(config.stream, std::move(entry));
    if (error != cudaSuccess) return error;
    ++launched()[arguments];
    counts().blocks += static_cast<int>(config.gridDim.x * config.gridDim.y * config.gridDim.z);
    return cudaSuccess;
  });
}

}  // namespace cuda_on_cpu
