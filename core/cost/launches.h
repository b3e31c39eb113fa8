#pragma once
/// \file launches.h: how many kernels the host launches for one operator, forward and backward.
///
/// Answers counts per micro-batch and rank. Model: a product is one kernel per result; experts are one kernel, or one
/// each where the stack has no grouped kernel; attention is one kernel when fused; everything else is as many kernels
/// as a fused implementation launches, times `kernels_per_operator` of the stack: more where operators are composed of
/// primitive ones (eager), fewer where a compiler merges neighbours. The router, dispatch and combine have a factor of
/// their own, `kernels_per_routing`. Products in few bits cast their operands first (quantisation.h).
/// Source: kernels per call in PyTorch's autograd formulas and in Transformer Engine's modules, counted by operator.
/// Not modelled: views, which launch nothing but cost host time all the same: part of the time per kernel.
/// Checked against: tests/unit/core/cost/launches_test.cpp (a GPT layer and a mixture's routing counted by hand).

#include "core/cost/calibration.h"
#include "core/cost/quantisation.h"
#include "core/sharding/op_work.h"

namespace plumbline {

struct Launches {
  double forward = 0;
  double backward = 0;
  double backward_weight = 0;  ///< of backward: products that make weight gradients, which a schedule may put off
  Launches& operator+=(const Launches& other) {
    forward += other.forward;
    backward += other.backward;
    backward_weight += other.backward_weight;
    return *this;
  }
};

/// `work`: of `op`. `casts`: with one product. `flash`: fused attention or not.
[[nodiscard]] Launches launches(const Op& op, const OpWork& work, const CastKernels& casts, FlashAttention flash,
                                const StackCalibration& stack);

}  // namespace plumbline
