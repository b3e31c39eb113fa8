#pragma once
/// \file reduce.h: one sum or maximum over the contributions of several ranks, in their order, rounded once.
///
/// Answers: result[i] = ((c[0][i] + c[1][i]) + ...) in fp32, rounded to nearest even when the format has 16 bits.
/// Source: kernels/number_conversion.h (rounding). Not modelled: other orders of summation.
/// Checked against: tests/runtime/communication/reduce_test.cpp (sums whose value depends on order and on rounding
/// once).

#include <span>

#include "runtime/communication/communicator.h"

namespace plumbline {

/// Contributions have the size of `result`, which may be one of them. InternalError for `bytes`.
void reduce_in_order(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                     ElementFormat format, Reduction reduction);

}  // namespace plumbline
