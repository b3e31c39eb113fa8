// The kernels of libplumbline-cuda.so on the first GPU, as shares of what the same run measures as ceilings: the
// largest matrix product for FLOPs, the largest copy for bytes. Sizes are those of Llama-3.2-1B: hidden 2048, 32 heads
// of 64 over 8 key heads, ffn 8192; 8192 tokens.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "runtime/device/device_kernels.h"
#include "runtime/device/device_module.h"

namespace plumbline {
namespace {

constexpr std::int64_t tokens = 8192;
constexpr std::int64_t hidden = 2048;
constexpr std::int64_t ffn = 8192;
constexpr NumberFormat half = NumberFormat::bf16;

ComputeDevice& device() {
  static const std::unique_ptr<ComputeDevice> made = [] {
    const DeviceModule& module = load_cuda_module();
    module.require_device();
    return module.make_device(0);
  }();
  return *made;
}

/// A dense tensor of ones, in the device's memory.
class Tensor {
 public:
  Tensor(std::int64_t rows, std::int64_t columns, NumberFormat format = half)
      : memory_(device().reserve(storage(rows * columns, format))),
        view_(dense_view(static_cast<void*>(memory_.get()), format, rows, columns)) {
    device().kernels().fill({view_, 1.0F});
  }
  operator TensorView() const { return view_; }
  operator ConstTensorView() const { return view_; }
  [[nodiscard]] float* floats() const { return static_cast<float*>(view_.data); }

 private:
  DeviceMemory memory_;
  TensorView view_;
};

/// Seconds of one run of many that follow each other.
template <class Run>
double seconds_of(Run run) {
  constexpr int runs = 10;
  constexpr double nanosecond = 1e-9;
  run();  // plans are made and timed
  const Mark begin = device().timed_mark(Stream::compute);
  for (int i = 0; i < runs; ++i) run();
  const Mark end = device().timed_mark(Stream::compute);
  const double seconds = static_cast<double>(device().elapsed_ns(begin, end)) * nanosecond / runs;
  device().forget_times();
  return seconds;
}

template <class Arguments>
double seconds_of(const ScratchKernel<Arguments>& kernel, Arguments args) {
  const Bytes size = kernel.workspace(args);
  const DeviceMemory scratch = device().reserve(size);
  args.workspace = {scratch.get(), size};
  return seconds_of([&] { kernel.run(args); });
}

double product_seconds(std::int64_t m, std::int64_t n, std::int64_t k, NumberFormat format) {
  const Tensor a(m, k, format == NumberFormat::tf32 ? NumberFormat::fp32 : format);
  const Tensor b(n, k, format == NumberFormat::tf32 ? NumberFormat::fp32 : format);
  const Tensor c(m, n, bits(format) == 32 ? NumberFormat::fp32 : half);
  Matmul args{.a = a, .b = b, .c = c, .transpose_b = Transpose::yes};
  args.a.format = args.b.format = format;
  return seconds_of(device().kernels().matmul, args);
}

double product_flops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

/// FLOP/s of a product of 8192 cubed in bf16.
double flops_ceiling() {
  constexpr std::int64_t side = 8192;
  static const double rate = product_flops(side, side, side) / product_seconds(side, side, side, half);
  return rate;
}

/// Bytes read and written each second by a copy of 1 GiB.
double bytes_ceiling() {
  static const double rate = [] {
    const Bytes size(std::int64_t{1} << 30);
    const DeviceMemory from = device().reserve(size);
    const DeviceMemory to = device().reserve(size);
    return 2.0 * static_cast<double>(size.value()) /
           seconds_of([&] { device().copy(Stream::compute, to.get(), from.get(), size); });
  }();
  return rate;
}

/// Each iteration is what `seconds` measures; `work` over it is told as a share of `ceiling`.
template <class Seconds>
void report(benchmark::State& state, const char* unit, double work, double (*ceiling)(), Seconds seconds) {
  try {
    double last = 0;
    for ([[maybe_unused]] const auto _ : state) state.SetIterationTime(last = seconds());
    state.counters[unit] = work / last;
    state.counters["of_ceiling"] = work / last / ceiling();
  } catch (const EnvironmentError& error) {
    state.SkipWithError(error.what());
  }
}

void product(benchmark::State& state, NumberFormat format) {
  report(state, "FLOP/s", product_flops(tokens, ffn, hidden), flops_ceiling,
         [&] { return product_seconds(tokens, ffn, hidden, format); });
}
BENCHMARK_CAPTURE(product, bf16, NumberFormat::bf16)->UseManualTime();
BENCHMARK_CAPTURE(product, fp16, NumberFormat::fp16)->UseManualTime();
BENCHMARK_CAPTURE(product, tf32, NumberFormat::tf32)->UseManualTime();
BENCHMARK_CAPTURE(product, fp8, NumberFormat::fp8_e4m3)->UseManualTime();

AttentionShape causal(std::int64_t width) {
  const std::int64_t heads = hidden / width;
  return {.heads = heads,
          .kv_heads = heads / 4,
          .queries = tokens,
          .keys = tokens,
          .qk_head_dim = width,
          .v_head_dim = width,
          .scale = 1.0F / std::sqrt(static_cast<float>(width))};
}

/// Of two products of half of the scores; backward has five.
double attention_flops() { return 2.0 * product_flops(tokens, tokens, hidden) / 2.0; }

void attention_forward(benchmark::State& state) {
  report(state, "FLOP/s", attention_flops(), flops_ceiling, [&] {
    const AttentionShape s = causal(state.range(0));
    const Tensor q(tokens, hidden), k(tokens, hidden / 4), v(tokens, hidden / 4), y(tokens, hidden);
    const Tensor log_sum_exp(s.heads, tokens, NumberFormat::fp32);
    return seconds_of(device().kernels().attention_forward, AttentionForward{s, q, k, v, y, log_sum_exp.floats()});
  });
}
BENCHMARK(attention_forward)->Arg(64)->Arg(128)->UseManualTime();

void attention_backward(benchmark::State& state) {
  report(state, "FLOP/s", 2.5 * attention_flops(), flops_ceiling, [&] {
    const AttentionShape s = causal(state.range(0));
    const Tensor q(tokens, hidden), k(tokens, hidden / 4), v(tokens, hidden / 4), y(tokens, hidden), dy(tokens, hidden);
    const Tensor dq(tokens, hidden), dk(tokens, hidden / 4), dv(tokens, hidden / 4);
    const Tensor log_sum_exp(s.heads, tokens, NumberFormat::fp32);
    return seconds_of(device().kernels().attention_backward,
                      AttentionBackward{s, dy, q, k, v, y, log_sum_exp.floats(), dq, dk, dv});
  });
}
BENCHMARK(attention_backward)->Arg(64)->Arg(128)->UseManualTime();

constexpr double half_bytes = 2;
constexpr double elements = static_cast<double>(tokens) * static_cast<double>(ffn);

void swiglu(benchmark::State& state) {
  report(state, "B/s", 3 * elements * half_bytes, bytes_ceiling, [] {
    const Tensor gate(tokens, ffn), up(tokens, ffn), y(tokens, ffn);
    return seconds_of([&] { device().kernels().swiglu_forward({gate, up, y}); });
  });
}
BENCHMARK(swiglu)->UseManualTime();

void rms_norm(benchmark::State& state) {
  report(state, "B/s", 2 * elements * half_bytes, bytes_ceiling, [] {
    const Tensor x(tokens, ffn), weight(1, ffn), y(tokens, ffn), root(1, tokens, NumberFormat::fp32);
    return seconds_of([&] { device().kernels().rms_norm_forward({x, weight, y, root.floats(), 1e-5F}); });
  });
}
BENCHMARK(rms_norm)->UseManualTime();

/// bf16 weights and gradients, fp32 master weights and moments: 4 bytes read or written once or twice of each.
void adamw(benchmark::State& state) {
  constexpr double bytes = 2 + 2 + 3 * 8;
  report(state, "B/s", elements * bytes, bytes_ceiling, [] {
    const Tensor weight(1, tokens * ffn), gradient(1, tokens * ffn);
    const Tensor master(1, tokens * ffn, NumberFormat::fp32), first(1, tokens * ffn, NumberFormat::fp32);
    const Tensor second(1, tokens * ffn, NumberFormat::fp32);
    const OptimizedParameter parameter{
        .parameter = weight, .master = master, .gradient = gradient, .learning_rate = 1e-3F};
    return seconds_of([&] {
      device().kernels().adamw_step({.parameter = parameter, .first_moment = first, .second_moment = second});
    });
  });
}
BENCHMARK(adamw)->UseManualTime();

}  // namespace
}  // namespace plumbline
