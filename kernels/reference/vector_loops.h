#pragma once
/// \file vector_loops.h: the loops that decide the speed of the reference kernels, compiled for several vector lengths.
///
/// With GCC on x86-64 each is compiled for the baseline and for AVX2, and the processor's own is chosen at start. The
/// bits are the same: sums run in a fixed number of lanes, and no multiply-add is fused.
/// Measured (one core of an EPYC, AVX2 against the baseline): see docs/decisions/0011-kernel-interface.md.

#include <cstdint>

#include "kernels/number_conversion.h"
#include "kernels/philox.h"

namespace plumbline::reference {

/// out[i] = e^(x[i] - shift); out may be x. Answers the sum.
float exp_and_sum(const float* x, std::int64_t count, float shift, float* out);
/// The largest of start and x; NaNs are passed over.
[[nodiscard]] float maximum_of(const float* x, std::int64_t count, float start);
[[nodiscard]] double sum_of_squares_of(const float* x, std::int64_t count);

/// y[i] = x[i] / (1 + e^-x[i]): SiLU.
void silu_of(const float* x, std::int64_t count, float* y);

/// y[i] = GELU of x[i] (gelu_forms.h); dx[i] = dy[i] times its slope at x[i]. Outputs may be inputs.
void gelu_tanh_of(const float* x, std::int64_t count, float* y);
void gelu_erf_of(const float* x, std::int64_t count, float* y);
void gelu_tanh_gradient_of(const float* dy, const float* x, std::int64_t count, float* dx);
void gelu_erf_gradient_of(const float* dy, const float* x, std::int64_t count, float* dx);

/// words[4 i .. 4 i + 3] = the random words of quad first_quad + i, for `dropout_batch` quads.
inline constexpr std::int64_t dropout_batch = 32;
void dropout_words_of(const DropoutKey& key, std::uint64_t first_quad, std::uint32_t* words);

void widen_bf16(const Bf16Bits* x, std::int64_t count, float* y);
void widen_fp16(const Fp16Bits* x, std::int64_t count, float* y);
void narrow_bf16(const float* x, std::int64_t count, Bf16Bits* y);
void narrow_fp16(const float* x, std::int64_t count, Fp16Bits* y);

}  // namespace plumbline::reference
