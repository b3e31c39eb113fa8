#include "runtime/cuda/reduce_contributions.h"

#include <cuda_runtime.h>

#include "kernels/number_conversion.h"
#include "runtime/cuda/cuda_call.h"

namespace plumbline {
namespace {

constexpr std::size_t most_contributions = 64;  // ranks of one computer (models/this_computer.h)
constexpr unsigned threads_per_block = 256;
constexpr std::size_t most_blocks = 4096;

struct Contributions {
  const void* of_rank[most_contributions];
  int count;
};

struct Fp32 {
  using Stored = float;
  static __device__ float widen(float value) { return value; }
  static __device__ float narrow(float value) { return value; }
};
struct Bf16 {
  using Stored = Bf16Bits;
  static __device__ float widen(Bf16Bits value) { return from_bf16(value); }
  static __device__ Bf16Bits narrow(float value) { return to_bf16(value); }
};
struct Fp16 {
  using Stored = Fp16Bits;
  static __device__ float widen(Fp16Bits value) { return from_fp16(value); }
  static __device__ Fp16Bits narrow(float value) { return to_fp16(value); }
};

/// A maximum is a NaN where any rank has one: a NaN that is there already is never below.
__device__ float combined(float total, float value, bool is_sum) {
  if (is_sum) return total + value;
  return value != value || value > total ? value : total;
}

template <class Format>
__global__ void reduce_elements(Contributions from, typename Format::Stored* to, std::size_t elements, bool is_sum) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += step) {
    const auto value = [&](int rank) {
      return Format::widen(static_cast<const typename Format::Stored*>(from.of_rank[rank])[i]);
    };
    float total = value(0);
    for (int rank = 1; rank < from.count; ++rank) total = combined(total, value(rank), is_sum);
    to[i] = Format::narrow(total);
  }
}

template <class Format>
void launch(const Contributions& from, std::span<std::byte> result, bool is_sum, cudaStream_t stream) {
  using Stored = typename Format::Stored;
  const std::size_t elements = result.size() / sizeof(Stored);
  cudaLaunchConfig_t config{};
  const std::size_t blocks = (elements + threads_per_block - 1) / threads_per_block;
  config.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
  config.blockDim = dim3(threads_per_block);
  config.stream = stream;
  require(cudaLaunchKernelEx(&config, reduce_elements<Format>, from, reinterpret_cast<Stored*>(result.data()), elements,
                             is_sum),
          "launch of reduce_elements");
}

}  // namespace

void reduce_contributions(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                          ElementFormat format, Reduction reduction, cudaStream_t stream) {
  check(!contributions.empty() && contributions.size() <= most_contributions,
        "a reduction has between 1 and 64 contributions");
  Contributions from{};
  from.count = static_cast<int>(contributions.size());
  for (std::size_t rank = 0; rank < contributions.size(); ++rank) {
    check(contributions[rank].size() == result.size(), "contributions to a reduction have the size of its result");
    from.of_rank[rank] = contributions[rank].data();
  }
  const bool is_sum = reduction == Reduction::sum;
  switch (format) {
    case ElementFormat::fp32: return launch<Fp32>(from, result, is_sum, stream);
    case ElementFormat::bf16: return launch<Bf16>(from, result, is_sum, stream);
    case ElementFormat::fp16: return launch<Fp16>(from, result, is_sum, stream);
    case ElementFormat::bytes: check(false, "plain bytes are moved, never summed");
  }
}

}  // namespace plumbline
