// A blocked loop in plain C++: panels of b are packed, so that the innermost loop runs over consecutive columns.
#include <algorithm>
#include <cstdint>

#include "kernels/reference/sgemm.h"

namespace plumbline::reference {
namespace {

constexpr std::int64_t column_block = 64;
constexpr std::int64_t inner_block = 128;
constexpr std::int64_t row_block = 4;

struct Packed {
  alignas(64) float values[inner_block][column_block];
};

float a_at(const Sgemm& p, std::int64_t row, std::int64_t inner) {
  return p.transpose_a == Transpose::no ? p.a[row * p.lda + inner] : p.a[inner * p.lda + row];
}

/// Columns beyond the matrix are packed as zeros, so that the inner loop has a fixed length.
void pack(const Sgemm& p, std::int64_t inner, std::int64_t depth, std::int64_t column, std::int64_t width,
          Packed& packed) {
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t j = 0; j < column_block; ++j) {
      const std::int64_t at =
          p.transpose_b == Transpose::no ? (inner + k) * p.ldb + column + j : (column + j) * p.ldb + inner + k;
      packed.values[k][j] = j < width ? p.b[at] : 0.0F;
    }
}

void multiply_rows(const Sgemm& p, std::int64_t row, std::int64_t rows, std::int64_t inner, std::int64_t depth,
                   std::int64_t column, std::int64_t width, const Packed& packed) {
  alignas(64) float sums[row_block][column_block] = {};
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t r = 0; r < rows; ++r) {
      const float a = a_at(p, row + r, inner + k);
      for (std::int64_t j = 0; j < column_block; ++j) sums[r][j] += a * packed.values[k][j];
    }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < width; ++j) p.c[(row + r) * p.ldc + column + j] += p.alpha * sums[r][j];
}

void scale_c(const Sgemm& p) {
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      float& c = p.c[i * p.ldc + j];
      c = p.beta == 0.0F ? 0.0F : p.beta * c;
    }
}

}  // namespace

void naive_sgemm(const Sgemm& p) {
  scale_c(p);
  Packed packed;
  for (std::int64_t column = 0; column < p.n; column += column_block) {
    const std::int64_t width = std::min(column_block, p.n - column);
    for (std::int64_t inner = 0; inner < p.k; inner += inner_block) {
      const std::int64_t depth = std::min(inner_block, p.k - inner);
      pack(p, inner, depth, column, width, packed);
      for (std::int64_t row = 0; row < p.m; row += row_block)
        multiply_rows(p, row, std::min(row_block, p.m - row), inner, depth, column, width, packed);
    }
  }
}

}  // namespace plumbline::reference
