#include "runtime/communication/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/errors.h"
#include "kernels/number_conversion.h"

namespace plumbline {
namespace {

/// Elements that are summed before the next ones are looked at: small enough for the first cache.
constexpr std::size_t block = 1024;
using Block = std::array<float, block>;

template <class Stored, class Widen>
void load(std::span<const std::byte> from, std::size_t first, std::size_t count, Block& values, Widen widen) {
  std::array<Stored, block> stored;  // the bytes may have any alignment
  std::memcpy(stored.data(), from.data() + first * sizeof(Stored), count * sizeof(Stored));
  for (std::size_t i = 0; i < count; ++i) values[i] = widen(stored[i]);
}

template <class Stored, class Narrow>
void store(const Block& values, std::span<std::byte> to, std::size_t first, std::size_t count, Narrow narrow) {
  std::array<Stored, block> stored;
  for (std::size_t i = 0; i < count; ++i) stored[i] = narrow(values[i]);
  std::memcpy(to.data() + first * sizeof(Stored), stored.data(), count * sizeof(Stored));
}

void combine(Block& total, const Block& values, std::size_t count, Reduction reduction) {
  if (reduction == Reduction::sum) {
    for (std::size_t i = 0; i < count; ++i) total[i] += values[i];
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (std::isnan(values[i]) || values[i] > total[i]) total[i] = values[i];  // a NaN in `total` is never below
}

template <class Stored, class Widen, class Narrow>
void reduce_stored(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                   Reduction reduction, Widen widen, Narrow narrow) {
  const std::size_t elements = result.size() / sizeof(Stored);
  Block total;
  Block values;
  for (std::size_t first = 0; first < elements; first += block) {
    const std::size_t count = std::min(block, elements - first);
    load<Stored>(contributions[0], first, count, total, widen);
    for (const auto& contribution : contributions.subspan(1)) {
      load<Stored>(contribution, first, count, values, widen);
      combine(total, values, count, reduction);
    }
    store<Stored>(total, result, first, count, narrow);
  }
}

}  // namespace

void reduce_in_order(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                     ElementFormat format, Reduction reduction) {
  check(!contributions.empty(), "somebody contributes to a reduction");
  for (const auto& contribution : contributions)
    check(contribution.size() == result.size(), "contributions to a reduction have the size of its result");
  const auto same = [](float value) { return value; };
  switch (format) {
    case ElementFormat::fp32: return reduce_stored<float>(contributions, result, reduction, same, same);
    case ElementFormat::bf16: return reduce_stored<Bf16Bits>(contributions, result, reduction, from_bf16, to_bf16);
    case ElementFormat::fp16: return reduce_stored<Fp16Bits>(contributions, result, reduction, from_fp16, to_fp16);
    case ElementFormat::bytes: check(false, "plain bytes are moved, never summed");
  }
}

}  // namespace plumbline
