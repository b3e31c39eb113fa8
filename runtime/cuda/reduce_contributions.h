#pragma once
/// \file reduce_contributions.h: one sum or maximum over the contributions of several ranks, in their order, on the
/// GPU.
///
/// Answers: the bits of runtime/communication/reduce.h. Model: one thread for each element adds the ranks' values in
/// fp32 and rounds once. Not modelled: more than 64 contributions in one call (their maximum is checked).
/// Checked against: tests/cuda/device_messages_test.cpp (bit for bit against reduce_in_order).

#include <cuda_runtime_api.h>

#include <span>

#include "runtime/communication/communicator.h"

namespace plumbline {

void reduce_contributions(std::span<const std::span<const std::byte>> contributions, std::span<std::byte> result,
                          ElementFormat format, Reduction reduction, cudaStream_t stream);

}  // namespace plumbline
