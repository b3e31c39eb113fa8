#pragma once
/// \file exponentials.h: what a fused attention kernel's softmax adds to its products, by the size of heads.
///
/// Answers a factor over the time of heads of 128, for which attention's efficiency is calibrated. Model: each score is
/// multiplied with `head` numbers twice and asks for one exponential whatever heads there are, so that small heads wait
/// for exponentials; since Hopper's kernels take a multiprocessor for one tile, the two hardly overlap. It makes 16
/// exponentials a clock (32 on Blackwell Ultra) and 4096 (Hopper) or 8192 (Blackwell) operations of 16-bit products. A
/// backward pass makes five products for two and the exponentials again. Before Hopper, and on devices of other makers,
/// several tiles share a multiprocessor and hide them: the factor is 1 (FlashAttention-2, arXiv:2307.08691, section
/// 4.1: heads of 64 are within about a tenth of those of 128 on A100). Source: CUDA C++ Programming Guide, arithmetic
/// instructions; FlashAttention-3, arXiv:2407.08608, sections 3.1 and 4.1 (heads of 64 reach about three quarters of
/// what those of 128 do on H100, here 0.75); NVIDIA, "Inside NVIDIA Blackwell Ultra". Not modelled: exponentials by
/// polynomials (FlashAttention 4). Checked against: tests/unit/core/cost/exponentials_test.cpp.

#include "core/machine/device.h"

namespace plumbline {

/// `head`: the mean of the sizes of keys and values.
[[nodiscard]] double softmax_factor_forward(const Device& device, double head);
[[nodiscard]] double softmax_factor_backward(const Device& device, double head);

}  // namespace plumbline
