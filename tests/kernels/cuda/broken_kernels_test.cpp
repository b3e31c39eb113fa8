// The kernels' ways of doing things, broken on purpose: what the tests beside this one would say of such a kernel.
#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline::cuda {
namespace {

/// As block_sum, with or without the barrier between writing and reading the warps' sums.
template <bool HasBarrier>
static float sum_of_block(float value) {
  __shared__ float of_warp[lanes];
  value = warp_sum(value);
  const unsigned lane = threadIdx.x % lanes;
  if (lane == 0) of_warp[threadIdx.x / lanes] = value;
  if (HasBarrier) __syncthreads();
  return warp_sum(lane < blockDim.x / lanes ? of_warp[lane] : 0.0F);
}

template <bool HasBarrier>
__global__ void normalise(TensorView x) {
  const std::int64_t row = blockIdx.x;
  float squares = 0;
  for_each_column(x.columns, [&](std::int64_t column) {
    const float value = load(x, row, column);
    squares += value * value;
  });
  const float r = 1.0F / std::sqrt(sum_of_block<HasBarrier>(squares));
  for_each_column(x.columns, [&](std::int64_t column) { store(x, row, column, load(x, row, column) * r); });
}

/// Rows are rounded up to whole blocks, and the last ones are not left out.
__global__ void scale_all(TensorView x, float factor, bool stays_inside) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (!stays_inside || column < x.columns) store(x, 0, column, load(x, 0, column) * factor);
}

/// Adds over blocks in the order in which they come.
__global__ void sum_by_atomics(ConstTensorView x, float* sum) { atomicAdd(sum, load(x, 0, blockIdx.x)); }

template <bool HasBarrier>
std::vector<bool> rows_have_length_one() {
  std::vector<bool> result;
  on_both([&](cudaStream_t stream) {
    BothTensor x = random_both(2, 300, 1);
    launch("normalise", row_shape(2), stream, normalise<HasBarrier>, x.device());
    finish(stream);
    std::vector<float> values(600);
    std::memcpy(values.data(), x.on_device().data(), 2400);
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
    result.push_back(std::abs(squares - 2.0) < 1e-5);
  });
  return result;
}

TEST_CASE("a sum over a block without its barrier is wrong in an order of threads, with it right in all") {
  CHECK(rows_have_length_one<true>() == std::vector<bool>(3, true));
  CHECK(rows_have_length_one<false>() != std::vector<bool>(3, true));
}

TEST_CASE("a kernel that writes behind the end of a tensor is stopped there") {
  for (const bool stays_inside : {true, false}) {
    const cuda_on_cpu::TestDevice device;
    const cuda_on_cpu::TestStream stream;
    cuda_on_cpu::set_alignment(16);
    BothTensor x = random_both(1, 300, 1);
    launch("scale_all", element_shape(1, 300), stream, scale_all, x.device(), 2.0F, stays_inside);
    CHECK(cudaStreamSynchronize(stream) == (stays_inside ? cudaSuccess : cudaErrorIllegalAddress));
  }
}

TEST_CASE("a sum whose order is that of the blocks has other bits in another order") {
  std::set<float> sums;
  on_both([&](cudaStream_t stream) {
    BothTensor x = random_both(1, 300, 1);
    BothArray<float> sum(1, 0.0F);
    launch("sum_by_atomics", row_shape(300), stream, sum_by_atomics, ConstTensorView(x.device()), sum.device());
    finish(stream);
    sums.insert(sum.on_device().front());
  });
  CHECK(sums.size() > 1);
}

}  // namespace
}  // namespace plumbline::cuda
