#pragma once
/// \file exponentials.h: how the softmax of fused attention slows down small heads.
///
/// Answers the time of attention relative to heads of 128 with as many FLOPs; attention's efficiency is calibrated for
/// heads of 128. Model: a score takes 4 x head FLOPs of products and one exponential, so the smaller the head, the
/// larger the share of time that exponentials take; on Hopper and Blackwell, where exponentials have not become faster
/// with the tensor cores, the two are taken to run one after the other. A multiprocessor evaluates 16 exponentials per
/// clock (32 on Blackwell Ultra) and 4096 (Hopper) or 8192 (Blackwell) FLOPs of 16-bit products. A backward pass runs
/// 2.5 times the products and the exponentials once more. Elsewhere the factor is 1: several tiles share a
/// multiprocessor, and llm-foundry's A100 runs are predicted worse with a factor (decision 0080).
/// Source: CUDA C++ Programming Guide, throughput of arithmetic instructions; FlashAttention-3, arXiv:2407.08608,
/// section 3.1 (with heads of 128, exponentials take half as long as the products); NVIDIA, "Inside NVIDIA Blackwell
/// Ultra". Not modelled: exponentials evaluated as polynomials (FlashAttention 4). Too small for cuDNN 9.19 on an H200,
/// which takes 1.55 times as long forward and 1.51 backward where this answers 1.33 and 1.17.
/// Checked against: tests/unit/core/cost/exponentials_test.cpp.

#include "core/machine/device.h"

namespace plumbline {

/// `head`: the mean of the sizes of keys and values.
[[nodiscard]] double softmax_factor_forward(const Device& device, double head);
[[nodiscard]] double softmax_factor_backward(const Device& device, double head);

}  // namespace plumbline
