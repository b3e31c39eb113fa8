// The CPU kernels at the sizes of a nano Llama: hidden 256, 8 heads of 32, ffn 704, 1024 tokens, 4096 vocabulary
// entries.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/gated_activation.h"
#include "kernels/gelu.h"
#include "kernels/linear.h"
#include "kernels/reductions.h"
#include "kernels/reference/sgemm.h"
#include "kernels/rms_norm.h"
#include "kernels/rotary.h"

namespace plumbline {
namespace {

constexpr std::int64_t tokens = 1024;
constexpr std::int64_t hidden = 256;
constexpr std::int64_t ffn = 704;
constexpr std::int64_t vocabulary = 4096;

/// A dense tensor of numbers that vary, in a format.
class Tensor {
 public:
  Tensor(std::int64_t rows, std::int64_t columns, NumberFormat format = NumberFormat::fp32)
      : rows_(rows),
        columns_(columns),
        format_(format),
        bytes_(static_cast<std::size_t>(storage(rows * columns, format).value())) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7919) % 2003) / 1001.5F - 1.0F;
    reference::cast({dense_view(static_cast<const void*>(values.data()), NumberFormat::fp32, rows, columns), *this});
  }
  operator TensorView() { return dense_view(bytes_.data(), format_, rows_, columns_); }
  operator ConstTensorView() const { return dense_view(bytes_.data(), format_, rows_, columns_); }
  float* data() { return reinterpret_cast<float*>(bytes_.data()); }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  NumberFormat format_;
  std::vector<std::byte> bytes_;
};

NumberFormat format_of(const benchmark::State& state, int at) {
  return state.range(at) == 16 ? NumberFormat::bf16 : NumberFormat::fp32;
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flops * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
void count_bytes(benchmark::State& state, std::int64_t bytes) { state.SetBytesProcessed(state.iterations() * bytes); }

using Multiply = void (*)(const reference::Sgemm&);

void sgemm(benchmark::State& state, Multiply multiply) {
  const std::int64_t n = state.range(0);
  Tensor a(n, n);
  Tensor b(n, n);
  Tensor c(n, n);
  for ([[maybe_unused]] const auto _ : state)
    multiply({Transpose::no, Transpose::yes, n, n, n, 1.0F, a.data(), n, b.data(), n, 0.0F, c.data(), n});
  state.SetLabel(std::string(multiply == reference::naive_sgemm ? "own loops" : reference::sgemm_library()));
  count_flops(state, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
}
BENCHMARK_CAPTURE(sgemm, library, reference::sgemm)->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(sgemm, own, reference::naive_sgemm)->Arg(64)->Arg(256)->Arg(1024);

void linear(benchmark::State& state) {
  const NumberFormat format = format_of(state, 0);
  Tensor x(tokens, hidden, format);
  Tensor w(ffn, hidden, format);
  Tensor y(tokens, ffn, format);
  LinearForward args{x, w, {}, y};
  std::vector<std::byte> memory(static_cast<std::size_t>(reference::linear_workspace(args).value()));
  args.workspace = {memory.data(), Bytes(static_cast<std::int64_t>(memory.size()))};
  for ([[maybe_unused]] const auto _ : state) reference::linear_forward(args);
  count_flops(state, 2.0 * static_cast<double>(tokens * hidden * ffn));
}
BENCHMARK(linear)->Arg(32)->Arg(16);

AttentionShape nano_attention() {
  AttentionShape s;
  s.heads = 8;
  s.kv_heads = 4;
  s.queries = tokens;
  s.keys = tokens;
  s.qk_head_dim = 32;
  s.v_head_dim = 32;
  s.scale = 1.0F / std::sqrt(32.0F);
  return s;
}

/// Two products of heads * tokens^2 / 2 scores (causal) of 32 multiply-adds each.
double attention_flops() { return 2.0 * 2.0 * static_cast<double>(8 * tokens * tokens * 32) / 2.0; }

void attention_forward(benchmark::State& state) {
  const NumberFormat format = format_of(state, 0);
  const AttentionShape s = nano_attention();
  Tensor q(tokens, 256, format);
  Tensor k(tokens, 128, format);
  Tensor v(tokens, 128, format);
  Tensor y(tokens, 256, format);
  Tensor log_sum_exp(8, tokens);
  AttentionForward args{s, q, k, v, y, log_sum_exp.data()};
  std::vector<std::byte> memory(static_cast<std::size_t>(reference::attention_workspace(args).value()));
  args.workspace = {memory.data(), Bytes(static_cast<std::int64_t>(memory.size()))};
  for ([[maybe_unused]] const auto _ : state) reference::attention_forward(args);
  count_flops(state, attention_flops());
}
BENCHMARK(attention_forward)->Arg(32)->Arg(16);

void attention_backward(benchmark::State& state) {
  const NumberFormat format = format_of(state, 0);
  const AttentionShape s = nano_attention();
  Tensor q(tokens, 256, format);
  Tensor k(tokens, 128, format);
  Tensor v(tokens, 128, format);
  Tensor y(tokens, 256, format);
  Tensor dq = q;
  Tensor dk = k;
  Tensor dv = v;
  Tensor log_sum_exp(8, tokens);
  AttentionBackward args{s, y, q, k, v, y, log_sum_exp.data(), dq, dk, dv};
  std::vector<std::byte> memory(static_cast<std::size_t>(reference::attention_workspace(args).value()));
  args.workspace = {memory.data(), Bytes(static_cast<std::int64_t>(memory.size()))};
  for ([[maybe_unused]] const auto _ : state) reference::attention_backward(args);
  count_flops(state, 2.5 * attention_flops());
}
BENCHMARK(attention_backward)->Arg(32)->Arg(16);

void rms_norm_forward(benchmark::State& state) {
  Tensor x(tokens, hidden, format_of(state, 0));
  Tensor w(1, hidden, format_of(state, 0));
  Tensor y = x;
  std::vector<float> inverse_root(tokens);
  for ([[maybe_unused]] const auto _ : state) reference::rms_norm_forward({x, w, y, inverse_root.data()});
  count_bytes(state, 2 * x.bytes());
}
BENCHMARK(rms_norm_forward)->Arg(32)->Arg(16);

void rms_norm_backward(benchmark::State& state) {
  Tensor x(tokens, hidden, format_of(state, 0));
  Tensor w(1, hidden, format_of(state, 0));
  Tensor dx = x;
  Tensor dw(1, hidden);
  std::vector<float> inverse_root(tokens, 1.0F);
  for ([[maybe_unused]] const auto _ : state) reference::rms_norm_backward({x, x, w, inverse_root.data(), dx, dw});
  count_bytes(state, 3 * x.bytes());
}
BENCHMARK(rms_norm_backward)->Arg(32)->Arg(16);

void swiglu_forward(benchmark::State& state) {
  Tensor gate(tokens, ffn, format_of(state, 0));
  Tensor y = gate;
  for ([[maybe_unused]] const auto _ : state) reference::swiglu_forward({gate, gate, y});
  count_bytes(state, 3 * gate.bytes());
}
BENCHMARK(swiglu_forward)->Arg(32)->Arg(16);

void gelu_forward(benchmark::State& state) {
  Tensor x(tokens, ffn);
  Tensor y = x;
  const Gelu form = state.range(0) == 0 ? Gelu::tanh : Gelu::erf;
  for ([[maybe_unused]] const auto _ : state) reference::gelu_forward({x, y, form});
  count_bytes(state, 2 * x.bytes());
}
BENCHMARK(gelu_forward)->Arg(0)->Arg(1);

void gelu_backward(benchmark::State& state) {
  Tensor x(tokens, ffn);
  Tensor y = x;
  const Gelu form = state.range(0) == 0 ? Gelu::tanh : Gelu::erf;
  for ([[maybe_unused]] const auto _ : state) reference::gelu_backward({x, x, y, form});
  count_bytes(state, 3 * x.bytes());
}
BENCHMARK(gelu_backward)->Arg(0)->Arg(1);

void rotary(benchmark::State& state) {
  Tensor x(tokens, hidden, format_of(state, 0));
  std::vector<float> frequencies(16);
  rotary_frequencies(10000.0, 32, frequencies.data());
  for ([[maybe_unused]] const auto _ : state)
    reference::rotary({x, x, frequencies.data(), 32, 32, {tokens, 0, tokens}});
  count_bytes(state, 2 * x.bytes());
}
BENCHMARK(rotary)->Arg(32)->Arg(16);

void add(benchmark::State& state) {
  Tensor x(tokens, hidden, format_of(state, 0));
  Tensor y = x;
  for ([[maybe_unused]] const auto _ : state) reference::add({x, y, y});
  count_bytes(state, 3 * x.bytes());
}
BENCHMARK(add)->Arg(32)->Arg(16);

void dropout(benchmark::State& state) {
  Tensor x(tokens, hidden);
  Tensor y = x;
  for ([[maybe_unused]] const auto _ : state)
    reference::dropout_forward({x, y, nullptr, {0.1F, {1, 2, 3}}, {{tokens, 0, tokens}, 0, hidden}});
  count_bytes(state, 2 * x.bytes());
}
BENCHMARK(dropout);

void cross_entropy(benchmark::State& state) {
  const std::int64_t rows = 256;
  Tensor x(rows, vocabulary, format_of(state, 0));
  Tensor dx = x;
  std::vector<float> values(3 * rows);
  const std::vector<std::int32_t> targets(rows, 17);
  for ([[maybe_unused]] const auto _ : state)
    benchmark::DoNotOptimize(reference::cross_entropy(
        {x, targets.data(), values.data(), values.data() + rows, values.data() + 2 * rows, dx}));
  count_bytes(state, 4 * x.bytes());
}
BENCHMARK(cross_entropy)->Arg(32)->Arg(16);

void adamw(benchmark::State& state) {
  Tensor w(1, 1 << 18, format_of(state, 0));
  Tensor master(1, 1 << 18);
  Tensor m = master;
  Tensor v(1, 1 << 18);
  reference::fill({v, 0.0F});
  const OptimizedParameter p{w, master, w, 1.0F, 1e-4F, 0.1F};
  for ([[maybe_unused]] const auto _ : state) reference::adamw_step({p, m, v});
  count_bytes(state, 2 * w.bytes() + 6 * master.bytes());
}
BENCHMARK(adamw)->Arg(32)->Arg(16);

void sum_of_squares(benchmark::State& state) {
  Tensor x(1, 1 << 18, format_of(state, 0));
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(reference::sum_of_squares(x));
  count_bytes(state, x.bytes());
}
BENCHMARK(sum_of_squares)->Arg(32)->Arg(16);

}  // namespace
}  // namespace plumbline
