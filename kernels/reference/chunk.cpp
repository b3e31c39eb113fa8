#include "kernels/reference/chunk.h"

#include <cstring>

#include "core/base/errors.h"
#include "kernels/number_conversion.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

template <class Stored, class Convert>
void widen(const void* source, std::int64_t count, float* __restrict target, Convert convert) {
  const auto* __restrict stored = static_cast<const Stored*>(source);
  for (std::int64_t i = 0; i < count; ++i) target[i] = convert(stored[i]);
}

template <class Stored, class Convert>
void narrow(const float* __restrict source, std::int64_t count, void* target, Convert convert) {
  auto* __restrict stored = static_cast<Stored*>(target);
  for (std::int64_t i = 0; i < count; ++i) stored[i] = convert(source[i]);
}

/// The scales of a part of a row of codes, each `step` behind the other.
struct Scales {
  const float* first;
  std::int64_t step;
};
Scales scales_of(const ConstTensorView& view, std::int64_t row, std::int64_t column) {
  static constexpr float none = 1;
  if (view.scale == nullptr) return {&none, 0};
  return {view.scale_from(row, column), view.scale_of == ScaleOf::column ? 1 : 0};
}

template <class Convert>
void widen_codes(const void* source, std::int64_t count, Scales scales, float* target, Convert convert) {
  if (scales.step != 0) {
    const auto* stored = static_cast<const Fp8Bits*>(source);
    for (std::int64_t i = 0; i < count; ++i) target[i] = convert(stored[i]) * scales.first[i];
    return;
  }
  widen<Fp8Bits>(source, count, target,
                 [scale = *scales.first, convert](Fp8Bits code) { return convert(code) * scale; });
}

template <class Convert>
void narrow_codes(const float* source, std::int64_t count, Scales scales, void* target, Convert convert) {
  if (scales.step != 0) {
    auto* stored = static_cast<Fp8Bits*>(target);
    for (std::int64_t i = 0; i < count; ++i) stored[i] = convert(source[i] / scales.first[i]);
    return;
  }
  narrow<Fp8Bits>(source, count, target, [scale = *scales.first, convert](float x) { return convert(x / scale); });
}

}  // namespace

void load_to(const ConstTensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, float* target) {
  const void* from = view.at(row, column);
  switch (view.format) {
    case NumberFormat::fp32: std::memcpy(target, from, static_cast<std::size_t>(count) * sizeof(float)); return;
    case NumberFormat::tf32: return widen<float>(from, count, target, round_to_tf32);
    case NumberFormat::bf16: return widen_bf16(static_cast<const Bf16Bits*>(from), count, target);
    case NumberFormat::fp16: return widen_fp16(static_cast<const Fp16Bits*>(from), count, target);
    case NumberFormat::fp8_e4m3:
      return widen_codes(from, count, scales_of(view, row, column), target,
                         [](Fp8Bits code) { return from_fp8_e4m3(code); });
    case NumberFormat::fp8_e5m2:
      return widen_codes(from, count, scales_of(view, row, column), target,
                         [](Fp8Bits code) { return from_fp8_e5m2(code); });
    default: check(false, "kernels read fp32, tf32, bf16, fp16 and fp8 only");
  }
}

const float* load(const ConstTensorView& view, std::int64_t row, std::int64_t column, std::int64_t count,
                  Chunk& chunk) {
  if (view.format == NumberFormat::fp32) return reinterpret_cast<const float*>(view.at(row, column));
  load_to(view, row, column, count, chunk.values);
  return chunk.values;
}

void store(const TensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, const float* values) {
  void* to = view.at(row, column);
  switch (view.format) {
    case NumberFormat::fp32:
    case NumberFormat::tf32: std::memmove(to, values, static_cast<std::size_t>(count) * sizeof(float)); return;
    case NumberFormat::bf16: return narrow_bf16(values, count, static_cast<Bf16Bits*>(to));
    case NumberFormat::fp16: return narrow_fp16(values, count, static_cast<Fp16Bits*>(to));
    case NumberFormat::fp8_e4m3:
      return narrow_codes(values, count, scales_of(view, row, column), to, [](float x) { return to_fp8_e4m3(x); });
    case NumberFormat::fp8_e5m2:
      return narrow_codes(values, count, scales_of(view, row, column), to, [](float x) { return to_fp8_e5m2(x); });
    default: check(false, "kernels write fp32, tf32, bf16, fp16 and fp8 only");
  }
}

void store(const TensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, const float* values,
           Write write) {
  if (write == Write::overwrite) return store(view, row, column, count, values);
  for_each_chunk(count, [&](std::int64_t begin, std::int64_t n) {
    Chunk held;
    Chunk sum;
    const float* old = load(view, row, column + begin, n, held);
    for (std::int64_t i = 0; i < n; ++i) sum.values[i] = old[i] + values[begin + i];
    store(view, row, column + begin, n, sum.values);
  });
}

float load_one(const ConstTensorView& view, std::int64_t row, std::int64_t column) {
  float value = 0;
  load_to(view, row, column, 1, &value);
  return value;
}

void store_one(const TensorView& view, std::int64_t row, std::int64_t column, float value) {
  store(view, row, column, 1, &value);
}

void check_same_shape(const ConstTensorView& a, const ConstTensorView& b) {
  check(a.is_there() && b.is_there() && a.rows == b.rows && a.columns == b.columns,
        "elementwise kernels need tensors of one shape");
}

}  // namespace plumbline::reference
