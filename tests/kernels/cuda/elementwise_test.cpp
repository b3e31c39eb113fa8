#include "kernels/elementwise.h"

#include "kernels/quantize.h"
#include "kernels/reductions.h"
#include "tests/cuda_on_cpu/control.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

constexpr NumberFormat all_formats[] = {NumberFormat::fp32, NumberFormat::tf32,     NumberFormat::bf16,
                                        NumberFormat::fp16, NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2};

void check_add(cudaStream_t stream, const Size& size, NumberFormat format) {
  BothTensor a = random_both(size.rows, size.columns, 1, format, 3);
  BothTensor b = random_both(size.rows, size.columns, 2, NumberFormat::fp32);
  BothTensor c = random_both(size.rows, size.columns, 3, format, 1);
  reference::add({a.host(), b.host(), c.host()});
  cuda::add({a.device(), b.device(), c.device()}, stream);
  finish(stream);
  CHECK(c.is_same());
  reference::add({a.host(), b.host(), a.host()});
  cuda::add({a.device(), b.device(), a.device()}, stream);
  reference::scale({a.host(), c.host(), 0.37F});
  cuda::scale({a.device(), c.device(), 0.37F}, stream);
  finish(stream);
  CHECK(a.is_same());
  CHECK(c.is_same());
}

TEST_CASE("sums and multiples are the CPU's bit for bit, in every format and order of threads") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : all_formats) check_add(stream, size, format);
  });
}

void check_casts(cudaStream_t stream, const Size& size, NumberFormat from, NumberFormat to) {
  BothTensor input = random_both(size.rows, size.columns, 4, from, 2);
  BothTensor output = random_both(size.rows, size.columns, 5, to, 5);
  BothTensor transposed = random_both(size.columns, size.rows, 6, to, 1);
  BothArray<float> scale(1, 0.125F);
  output.set_scales(scale);
  reference::cast({input.host(), output.host()});
  cuda::cast({input.device(), output.device()}, stream);
  reference::transpose({output.host(), transposed.host()});
  cuda::transpose({output.device(), transposed.device()}, stream);
  finish(stream);
  CHECK(output.is_same());
  CHECK(transposed.is_same());
}

TEST_CASE("casts and transposing casts are the CPU's bit for bit, fp8 with its tensor's scale") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat from : {NumberFormat::fp32, NumberFormat::fp8_e4m3})
        for (const NumberFormat to : all_formats) check_casts(stream, size, from, to);
  });
}

TEST_CASE("all elements are filled, and nothing between the rows") {
  on_both([](cudaStream_t stream) {
    for (const NumberFormat format : all_formats) {
      BothTensor x = random_both(5, 67, 7, format, 3);
      reference::fill({x.host(), 1.5F});
      cuda::fill({x.device(), 1.5F}, stream);
      finish(stream);
      CHECK(x.is_same());
    }
  });
}

TEST_CASE("the health of gradients is added up on the device") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const bool is_bad : {false, true}) {
        std::vector<float> values = random_values(size.rows * size.columns, 8);
        if (is_bad) values.back() = std::numeric_limits<float>::infinity();
        BothTensor x(size.rows, size.columns, NumberFormat::bf16, values, 1);
        BothArray<TensorHealth> health(std::vector<TensorHealth>{{.sum_of_squares = 3.0, .has_non_finite = 0}});
        reference::add_health({x.host(), health.host()});
        cuda::add_health({x.device(), health.device()}, stream);
        finish(stream);
        const TensorHealth got = health.on_device().front();
        CHECK(got.has_non_finite == (is_bad ? 1 : 0));
        if (!is_bad) CHECK(got.sum_of_squares == Approx(health.host()->sum_of_squares).epsilon(1e-12));
      }
  });
}

/// Several blocks in both directions, with rows that are and are not taken by eights.
constexpr Size health_sizes[] = {{1, 20'000}, {3, 9'001}, {700, 41}, {300, 64}};

TEST_CASE("the health of a large gradient is summed by many blocks, the same bits in whichever order they run",
          "[counted]") {
  for (const Size& size : health_sizes) {
    std::vector<TensorHealth> sums;
    on_both([&](cudaStream_t stream) {
      BothTensor x = random_both(size.rows, size.columns, 8, NumberFormat::bf16);
      BothArray<TensorHealth> health(std::vector<TensorHealth>{{.sum_of_squares = 3.0, .has_non_finite = 0}});
      HealthSum args{x.device(), health.device()};
      args.workspace = device_workspace(cuda::health_workspace(args));
      REQUIRE(args.workspace.size > Bytes(0));
      const int before = cuda_on_cpu::blocks_launched();
      reference::add_health({x.host(), health.host()});
      cuda::add_health(args, stream);
      finish(stream);
      CHECK(cuda_on_cpu::blocks_launched() - before > 2);
      sums.push_back(health.on_device().front());
      CHECK(sums.back().sum_of_squares == Approx(health.host()->sum_of_squares).epsilon(1e-12));
      CHECK(sums.back().sum_of_squares == sums.front().sum_of_squares);
    });
  }
}

TEST_CASE("one element that is not finite is found in any block's part of a large gradient") {
  on_both([](cudaStream_t stream) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{8191}, std::size_t{8192}, std::size_t{19'999}}) {
      std::vector<float> values = random_values(20'000, 8);
      values[bad] = -std::numeric_limits<float>::infinity();
      BothTensor x(1, 20'000, NumberFormat::bf16, values);
      BothArray<TensorHealth> health(std::vector<TensorHealth>{{}});
      HealthSum args{x.device(), health.device()};
      args.workspace = device_workspace(cuda::health_workspace(args));
      cuda::add_health(args, stream);
      finish(stream);
      CHECK(health.on_device().front().has_non_finite == 1);
    }
  });
}

TEST_CASE("the scale of a large fp8 tensor takes one atomic operation of a block", "[counted]") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : health_sizes) {
      std::vector<float> values = random_values(size.rows * size.columns, 8);
      values[values.size() - 2] = -17.0F;
      BothTensor x(size.rows, size.columns, NumberFormat::bf16, values);
      BothArray<float> scale(1, -1.0F);
      const int before = cuda_on_cpu::blocks_launched();
      const int atomics = cuda_on_cpu::atomic_operations();
      reference::fp8_scale({x.host(), NumberFormat::fp8_e4m3, scale.host()});
      cuda::fp8_scale({x.device(), NumberFormat::fp8_e4m3, scale.device()}, stream);
      finish(stream);
      CHECK(scale.is_same());
      CHECK(cuda_on_cpu::atomic_operations() - atomics < cuda_on_cpu::blocks_launched() - before);
    }
  });
}

TEST_CASE("the scale of an fp8 tensor is the CPU's, and 1 where the largest magnitude is 0 or no number") {
  on_both([](cudaStream_t stream) {
    for (const NumberFormat format : {NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2})
      for (const float special : {1.0F, 0.0F, std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> values = random_values(5 * 67, 9, special == 0.0F ? 0.0 : 1.0);
        values[70] *= special;
        BothTensor x(5, 67, NumberFormat::fp32, values, 2);
        BothArray<float> scale(1, -7.0F);
        reference::fp8_scale(Fp8Scale{x.host(), format, scale.host()});
        cuda::fp8_scale({x.device(), format, scale.device()}, stream);
        finish(stream);
        CHECK(scale.is_same());
      }
  });
}

/// Sizes by eights, by single elements, with gaps, beyond a block's threads and rows; a row of zeros, a NaN.
TEST_CASE("scales of rows and columns are the CPU's, and so are casts by them and back, bit for bit") {
  on_both([](cudaStream_t stream) {
    for (const auto& [rows, columns, gap] :
         {std::array<std::int64_t, 3>{5, 67, 2}, {70, 64, 0}, {3, 1200, 8}, {1, 1, 0}})
      for (const ScaleOf of : {ScaleOf::row, ScaleOf::column})
        for (const NumberFormat format : {NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2}) {
          std::vector<float> values = random_values(rows * columns, 9);
          std::fill_n(values.end() - columns, columns, 0.0F);
          values.front() = std::numeric_limits<float>::quiet_NaN();
          BothTensor x(rows, columns, NumberFormat::bf16, values, gap);
          BothArray<float> scales(scale_count(of, rows, columns), -7.0F);
          reference::fp8_scale({x.host(), format, scales.host(), of});
          cuda::fp8_scale({x.device(), format, scales.device(), of}, stream);
          finish(stream);
          CHECK(scales.is_same());
          std::fill_n(values.begin(), 1, 1.0F);
          BothTensor finite(rows, columns, NumberFormat::bf16, values, gap);
          BothTensor codes(rows, columns, format, values, gap);
          BothTensor back(rows, columns, NumberFormat::bf16, values, gap);
          codes.set_scales(scales, of);
          reference::cast({finite.host(), codes.host()});
          cuda::cast({finite.device(), codes.device()}, stream);
          reference::cast({codes.host(), back.host()});
          cuda::cast({codes.device(), back.device()}, stream);
          finish(stream);
          CHECK(codes.is_same());
          CHECK(back.is_same());
        }
  });
}

TEST_CASE("a tensor without rows is no work, and a launch that CUDA refuses names its kernel", "[counted]") {
  const cuda_on_cpu::TestDevice device;
  const cuda_on_cpu::TestStream stream;
  BothTensor x = random_both(3, 5, 1);
  CombineBackward nothing{};
  nothing.output_gradient = nothing.rows = nothing.row_gradient = x.device().rows_from(0, 0);
  cuda::combine_backward(nothing, stream);
  CHECK(cuda_on_cpu::calls_made()["cudaLaunchKernelEx"] == 0);
  cuda_on_cpu::fail_call("cudaLaunchKernelEx", 1, cudaErrorLaunchOutOfResources);
  CHECK_THROWS_WITH(cuda::fill({x.device(), 1.0F}, stream),
                    "launch of fill: too many resources requested for launch (error 701)");
}

}  // namespace
}  // namespace plumbline
