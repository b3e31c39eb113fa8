#pragma once
/// \file eigen_sgemm.h: sgemm (sgemm.h) by Eigen, for each .cpp that provides it so.
///
/// Eigen runs on the calling thread only: who includes this is compiled without OpenMP. Without Eigen's headers there
/// is nothing here.

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

#include "kernels/reference/sgemm.h"

namespace plumbline::reference::by_eigen {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using Map = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

inline ConstMap map_of(const float* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                       Transpose transpose) {
  return transpose == Transpose::no ? ConstMap(data, rows, columns, Eigen::OuterStride<>(stride))
                                    : ConstMap(data, columns, rows, Eigen::OuterStride<>(stride));
}

template <class Left, class Right>
void multiply(Map& c, const Left& a, const Right& b, const Sgemm& p) {
  if (p.beta == 0.0F)
    c.setZero();
  else if (p.beta != 1.0F)
    c *= p.beta;
  c.noalias() += p.alpha * (a * b);
}

inline void sgemm(const Sgemm& p) {
  const ConstMap a = map_of(p.a, p.m, p.k, p.lda, p.transpose_a);
  const ConstMap b = map_of(p.b, p.k, p.n, p.ldb, p.transpose_b);
  Map c(p.c, p.m, p.n, Eigen::OuterStride<>(p.ldc));
  const bool is_a = p.transpose_a == Transpose::yes;
  const bool is_b = p.transpose_b == Transpose::yes;
  if (is_a && is_b) return multiply(c, a.transpose(), b.transpose(), p);
  if (is_a) return multiply(c, a.transpose(), b, p);
  if (is_b) return multiply(c, a, b.transpose(), p);
  multiply(c, a, b, p);
}

}  // namespace plumbline::reference::by_eigen
#endif
