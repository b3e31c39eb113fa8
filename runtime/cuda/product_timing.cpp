#include "runtime/cuda/product_timing.h"

#include <limits>
#include <map>
#include <mutex>

#include "runtime/cuda/cuda_event.h"
#include "runtime/cuda/cuda_lane.h"
#include "runtime/cuda/device_memory.h"

namespace plumbline {
namespace {

constexpr int timed_runs = 3;

/// Milliseconds of some runs; infinity: it cannot be run.
float time_of(ProductPlan& plan, cublasLtHandle_t handle, const ProductCall& call, void* into, std::size_t candidate,
              const CudaLane& lane) {
  CudaEvent begin(EventTiming::on);
  CudaEvent end(EventTiming::on);
  for (int run = 0; run <= timed_runs; ++run) {  // one more, to load the kernel
    if (run == 1) begin.record(lane.stream());
    if (plan.run(handle, call, into, candidate, lane.stream()) != CUBLAS_STATUS_SUCCESS)
      return std::numeric_limits<float>::infinity();
  }
  end.record(lane.stream());
  end.synchronize();
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds;
}

struct Choices {
  std::mutex mutex;
  std::map<std::pair<std::string, ProductShape>, std::size_t> of_shape;
};
Choices& choices() {
  static Choices all;
  return all;
}

}  // namespace

std::size_t fastest_candidate(ProductPlan& plan, cublasLtHandle_t handle, const ProductCall& call) {
  const TensorView& c = call.matmul.c;
  const std::int64_t elements = (c.rows - 1) * c.stride + c.columns;
  ProductCall timed = call;
  try {
    const DeviceMemory into = reserve_device_memory(storage(elements, c.format), MemoryUse::trials);
    const DeviceMemory scratch = reserve_device_memory(call.matmul.workspace.size, MemoryUse::trials);
    timed.matmul.workspace.data = scratch.get();
    const DeviceMemory sums = call.row_sums.is_there()
                                  ? reserve_device_memory(storage(c.rows, call.row_sums.format), MemoryUse::trials)
                                  : nullptr;
    if (sums != nullptr) timed.row_sums.data = sums.get();
    const CudaLane lane;
    std::size_t fastest = 0;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t candidate = 0; candidate < plan.candidates(); ++candidate) {
      const float milliseconds = time_of(plan, handle, timed, into.get(), candidate, lane);
      if (milliseconds >= least) continue;
      least = milliseconds;
      fastest = candidate;
    }
    lane.finish();
    return fastest;
  } catch (const CudaOutOfMemory&) {
    return 0;
  }
}

std::optional<std::size_t> shared_choice(const std::string& device, const ProductShape& shape) {
  const std::lock_guard lock(choices().mutex);
  const auto found = choices().of_shape.find({device, shape});
  if (found == choices().of_shape.end()) return std::nullopt;
  return found->second;
}

std::size_t share_choice(const std::string& device, const ProductShape& shape, std::size_t mine) {
  const std::lock_guard lock(choices().mutex);
  return choices().of_shape.try_emplace({device, shape}, mine).first->second;
}

}  // namespace plumbline
