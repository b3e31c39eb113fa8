#include "kernels/reference/vector_loops.h"

#include <cstring>

#include "kernels/reference/elementary.h"
#include "kernels/reference/gelu_forms.h"
#include "kernels/reference/lanes.h"

// The choice at start needs the loader's help (ifunc), which sanitizers do not survive.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PLUMBLINE_VECTOR_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define PLUMBLINE_VECTOR_CLONES
#endif

// Where the output may be the input, element by element: GCC would test for overlap and then give up.
#if defined(__GNUC__) && !defined(__clang__)
#define PLUMBLINE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define PLUMBLINE_INDEPENDENT
#endif

namespace plumbline::reference {

namespace {

/// Four lanes spelled out, as every x86-64 and ARM processor has them: from comparisons of an array's elements GCC
/// makes scalar code with a jump each.
using Lanes [[gnu::vector_size(16)]] = float;
constexpr std::int64_t lanes_at_once = 4;
constexpr std::int64_t block = 4 * lanes_at_once;

struct Sum {
  template <class Value>
  void operator()(Value& into, const Value& value) const {
    into += value;
  }
};
struct Maximum {
  template <class Value>
  void operator()(Value& into, const Value& value) const {
    into = value > into ? value : into;
  }
};

/// Folds x into `start`: sixteen lanes, then the lanes in order, then what is left of x.
template <class Fold>
[[gnu::always_inline]] inline float fold_lanes(const float* x, std::int64_t count, float start, Fold fold) {
  Lanes lanes[4] = {Lanes{} + start, Lanes{} + start, Lanes{} + start, Lanes{} + start};
  std::int64_t i = 0;
  for (; i + block <= count; i += block) {
    Lanes next[4];
    std::memcpy(next, x + i, sizeof(next));
    fold(lanes[0], next[0]);
    fold(lanes[1], next[1]);
    fold(lanes[2], next[2]);
    fold(lanes[3], next[3]);
  }
  fold(lanes[0], lanes[2]);
  fold(lanes[1], lanes[3]);
  fold(lanes[0], lanes[1]);
  float values[lanes_at_once];
  std::memcpy(values, lanes, sizeof(values));
  for (std::int64_t lane = 1; lane < lanes_at_once; ++lane) fold(values[0], values[lane]);
  for (; i < count; ++i) fold(values[0], x[i]);
  return values[0];
}

}  // namespace

PLUMBLINE_VECTOR_CLONES
float exp_and_sum(const float* x, std::int64_t count, float shift, float* out) {
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = exp_of(x[i] - shift);
  return fold_lanes(out, count, 0.0F, Sum());
}

PLUMBLINE_VECTOR_CLONES
float maximum_of(const float* x, std::int64_t count, float start) { return fold_lanes(x, count, start, Maximum()); }

PLUMBLINE_VECTOR_CLONES
double sum_of_squares_of(const float* x, std::int64_t count) {
  return lane_sum<double>(count, [x](std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

PLUMBLINE_VECTOR_CLONES
void silu_of(const float* x, std::int64_t count, float* y) {
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] / (1.0F + exp_of(-x[i]));
}

PLUMBLINE_VECTOR_CLONES
void gelu_tanh_of(const float* x, std::int64_t count, float* y) {
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) y[i] = gelu_tanh(x[i]);
}

PLUMBLINE_VECTOR_CLONES
void gelu_erf_of(const float* x, std::int64_t count, float* y) {
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) y[i] = gelu_erf(x[i]);
}

PLUMBLINE_VECTOR_CLONES
void gelu_tanh_gradient_of(const float* dy, const float* x, std::int64_t count, float* dx) {
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) dx[i] = dy[i] * gelu_tanh_slope(x[i]);
}

PLUMBLINE_VECTOR_CLONES
void gelu_erf_gradient_of(const float* dy, const float* x, std::int64_t count, float* dx) {
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) dx[i] = dy[i] * gelu_erf_slope(x[i]);
}

// The rounds of philox.h with one counter per lane.
PLUMBLINE_VECTOR_CLONES
void dropout_words_of(const DropoutKey& key, std::uint64_t first_quad, std::uint32_t* words) {
  std::uint32_t counter[4][dropout_batch];
  for (std::int64_t i = 0; i < dropout_batch; ++i) {
    const std::uint64_t quad = first_quad + static_cast<std::uint64_t>(i);
    counter[0][i] = static_cast<std::uint32_t>(quad);
    counter[1][i] = static_cast<std::uint32_t>(quad >> 32);
    counter[2][i] = key.op;
    counter[3][i] = key.micro_batch;
  }
  PhiloxKey round_key = key.key();
  for (int round = 0; round < philox_rounds; ++round) {
    for (std::int64_t i = 0; i < dropout_batch; ++i) {
      const PhiloxCounter next = philox_round({counter[0][i], counter[1][i], counter[2][i], counter[3][i]}, round_key);
      for (std::size_t word = 0; word < 4; ++word) counter[word][i] = next[word];
    }
    round_key = next_philox_key(round_key);
  }
  for (std::int64_t i = 0; i < dropout_batch; ++i)
    for (std::size_t word = 0; word < 4; ++word) words[4 * i + static_cast<std::int64_t>(word)] = counter[word][i];
}

PLUMBLINE_VECTOR_CLONES
void widen_bf16(const Bf16Bits* __restrict x, std::int64_t count, float* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = from_bf16(x[i]);
}

PLUMBLINE_VECTOR_CLONES
void widen_fp16(const Fp16Bits* __restrict x, std::int64_t count, float* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = from_fp16(x[i]);
}

PLUMBLINE_VECTOR_CLONES
void narrow_bf16(const float* __restrict x, std::int64_t count, Bf16Bits* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = to_bf16(x[i]);
}

PLUMBLINE_VECTOR_CLONES
void narrow_fp16(const float* __restrict x, std::int64_t count, Fp16Bits* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = to_fp16(x[i]);
}

}  // namespace plumbline::reference
