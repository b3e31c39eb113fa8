#pragma once
/// \file sgemm.h: the one product of fp32 matrices below all others; CMake chooses which .cpp provides it.
///
/// Row-major: c [m, n] = alpha op(a) op(b) + beta c, leading dimensions in elements, with beta 0 not reading c.
/// One thread: the calling one. Same inputs, same addresses modulo 64, same machine: same bits.

#include <cstdint>
#include <string_view>

#include "kernels/matmul.h"

namespace plumbline::reference {

struct Sgemm {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1.0F;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  float beta = 0.0F;
  float* c = nullptr;
  std::int64_t ldc = 0;
};

void sgemm(const Sgemm& product);
[[nodiscard]] std::string_view sgemm_library();

/// Our own loops, there with every library: what the others are compared with.
void naive_sgemm(const Sgemm& product);

}  // namespace plumbline::reference
