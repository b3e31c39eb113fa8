#include "tests/cuda_on_cpu/tensor_core.h"

#include "kernels/number_conversion.h"
#include "tests/cuda_on_cpu/test_device.h"

namespace cuda_on_cpu {
namespace {

/// What lane `lane` holds of a 16x8 result, as PTX lays it out: rows lane / 4 and 8 more, columns 2 (lane % 4) and 1
/// more.
struct Cell {
  unsigned row;
  unsigned column;
};
Cell cell_of(unsigned lane, unsigned i) { return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2}; }

/// a [16, 16] and b [8, 16] by rows from shared memory (b is the second operand's transpose), d [16, 8].
__global__ void product(const std::uint16_t* a, const std::uint16_t* b, float* d, bool is_bf16) {
  __shared__ __align__(16) std::uint16_t rows[24 * 16];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < 24 * 16; i += 32) rows[i] = i < 256 ? a[i] : b[i - 256];
  __syncwarp();
  std::uint32_t of_a[4];
  std::uint32_t of_b[4];
  load_matrix_x4(false, of_a, rows + lane % 16 * 16 + lane / 16 * 8, Here::current());
  // Matrices 0 and 1: k 0..7 and 8..15 of b's eight rows; 2 and 3 repeat them.
  load_matrix_x4(false, of_b, rows + (16 + lane % 8) * 16 + lane / 8 % 2 * 8, Here::current());
  const std::uint32_t first[2] = {of_b[0], of_b[1]};
  float sums[4] = {0, 0, 0, 0};
  mma_m16n8k16(is_bf16 ? Half::bf16 : Half::fp16, sums, of_a, first, Here::current());
  for (unsigned i = 0; i < 4; ++i) d[cell_of(lane, i).row * 8 + cell_of(lane, i).column] = sums[i];
}

__global__ void transpose_by_loading(const std::uint16_t* from, std::uint16_t* to) {
  __shared__ __align__(16) std::uint16_t rows[32 * 8];
  const unsigned lane = threadIdx.x;
  for (unsigned i = 0; i < 8; ++i) rows[lane * 8 + i] = from[lane * 8 + i];
  __syncwarp();
  std::uint32_t pairs[4];
  load_matrix_x4(true, pairs, rows + lane * 8, Here::current());
  for (unsigned m = 0; m < 4; ++m)
    for (unsigned which = 0; which < 2; ++which)
      to[m * 64 + lane / 4 * 8 + lane % 4 * 2 + which] = static_cast<std::uint16_t>(pairs[m] >> (16 * which));
}

__global__ void misaligned_load(std::uint32_t* to) {
  __shared__ __align__(16) std::uint16_t rows[32 * 8 + 8];
  std::uint32_t pairs[4];
  load_matrix_x4(false, pairs, rows + threadIdx.x * 8 + 1, Here::current());
  to[threadIdx.x] = pairs[0];
}

float value(unsigned i) { return static_cast<float>(static_cast<int>(i * 7 % 13) - 6) * 0.25F; }

TEST_CASE("mma.sync of 16x8x16 is a product of matrices, in both 16-bit formats and every order of lanes") {
  for (const ThreadOrder order : all_thread_orders)
    for (const bool is_bf16 : {false, true}) {
      const TestDevice device;
      set_thread_order(order);
      const TestStream stream;
      const auto word = [&](float v) { return is_bf16 ? plumbline::to_bf16(v) : plumbline::to_fp16(v); };
      std::vector<std::uint16_t> a(256);
      std::vector<std::uint16_t> b(128);
      for (unsigned i = 0; i < 256; ++i) a[i] = word(value(i));
      for (unsigned i = 0; i < 128; ++i) b[i] = word(value(i + 5));
      const DeviceArray<std::uint16_t> on_device_a(a);
      const DeviceArray<std::uint16_t> on_device_b(b);
      const DeviceArray<float> d(128);
      require(launch_on(stream, 1, 32, product, on_device_a.data, on_device_b.data, d.data, is_bf16));
      require(cudaStreamSynchronize(stream));
      std::vector<float> expected(128, 0.0F);
      for (unsigned m = 0; m < 16; ++m)
        for (unsigned n = 0; n < 8; ++n)
          for (unsigned k = 0; k < 16; ++k) expected[m * 8 + n] += value(m * 16 + k) * value(n * 16 + k + 5);
      CHECK(d.values() == expected);
    }
}

TEST_CASE("ldmatrix with trans loads the transposes of four 8x8 matrices") {
  const TestDevice device;
  const TestStream stream;
  std::vector<std::uint16_t> from(256);
  for (std::uint16_t i = 0; i < 256; ++i) from[i] = i;
  const DeviceArray<std::uint16_t> x(from);
  const DeviceArray<std::uint16_t> y(256);
  require(launch_on(stream, 1, 32, transpose_by_loading, x.data, y.data));
  require(cudaStreamSynchronize(stream));
  const std::vector<std::uint16_t> loaded = y.values();
  for (unsigned m = 0; m < 4; ++m)
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned c = 0; c < 8; ++c) CHECK(loaded[m * 64 + r * 8 + c] == from[m * 64 + c * 8 + r]);
}

TEST_CASE("ldmatrix from an address that is no multiple of 16 is reported") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<std::uint32_t> y(32);
  require(launch_on(stream, 1, 32, misaligned_load, y.data));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
  CHECK_THAT(last_problem(), Catch::Matchers::ContainsSubstring("not aligned to 16 bytes"));
}

}  // namespace
}  // namespace cuda_on_cpu
