#pragma once
/// \file tensor_box.h: a box of a whole tensor, as a rank holds it, and a range of its elements.
///
/// Checked against: tests/runtime/execution (slices tile every tensor).

#include <array>
#include <cstdint>

namespace plumbline {

/// Elements [first, first + count).
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Of up to three dimensions, leading ones 1.
struct TensorBox {
  std::array<std::int64_t, 3> whole{1, 1, 1};
  std::array<std::int64_t, 3> begin{0, 0, 0};
  std::array<std::int64_t, 3> extent{1, 1, 1};

  [[nodiscard]] constexpr std::int64_t elements() const { return extent[0] * extent[1] * extent[2]; }
  /// Index in the whole tensor of an element of the box, both row-major.
  [[nodiscard]] constexpr std::int64_t whole_index(std::int64_t element) const {
    const std::int64_t k = element % extent[2];
    const std::int64_t j = element / extent[2] % extent[1];
    const std::int64_t i = element / extent[2] / extent[1];
    return ((begin[0] + i) * whole[1] + begin[1] + j) * whole[2] + begin[2] + k;
  }
};

}  // namespace plumbline
