#pragma once
/// \file quantisation.h: what casting the operands of a product to few bits moves through memory.
///
/// Answers bytes per element of the input, of the weight and of the output's gradient, forward and backward.
/// Model: a cast reads 16 bits and writes one copy for each of the two products that a tensor takes part in, because
/// they sum over different dimensions; where tensor cores take fp8 in any layout, one copy of a tensor with one scale
/// serves both. A scale for a whole tensor needs a pass over it that finds the largest magnitude, unless the scale is
/// that of earlier steps; so does NVFP4's scale per tensor. A row's largest magnitude is found while the row is read, a
/// column's in a separate pass. Blocks are scaled in the tile that casts them and write their scales: 4 bytes for 128
/// numbers, 1 byte for 32 (MX) or 16 (NVFP4). Transformer Engine makes both copies in one read and keeps the one for
/// the backward; torchao keeps the 16-bit tensor and casts it again. torchao also casts weights in every pass, except
/// with one scale per tensor, where each rank casts its own shard.
/// Source: TransformerEngine, common/cast and NVFP4Quantizer::quantize_impl; torchao, float8/float8_linear.py,
/// prototype/mx_formats; DeepSeek-V3, arXiv:2412.19437, section 3.3. Not modelled: weights that are cast once per step;
/// casts fused into neighbouring kernels, which `quantisation_factor` takes off.
/// Checked against: tests/unit/core/cost/quantisation_test.cpp (kernels counted by hand).

#include "core/sharding/kept_forms.h"
#include "core/training/precision.h"

namespace plumbline {

/// Bytes per element.
struct CastBytes {
  double input_forward = 0;
  double input_backward = 0;
  double weight_forward = 0;
  double weight_backward = 0;
  double gradient = 0;  ///< of the output, backward
};

/// How tensor cores take operands in fp8: with the summed dimension contiguous, or in any order.
enum class OperandLayouts : std::uint8_t { summed_first, any };

/// Kernels that the host launches for them, forward and backward.
struct CastKernels {
  double forward = 0;
  double backward = 0;
};

/// Of a product with one kernel for each result. What finds a tensor's scale is launched by the cast's own call, which
/// takes the host about as long as one kernel alone.
[[nodiscard]] CastKernels cast_kernels(NumberFormat format, OperandScaling scaling, ProductInputs kept);

/// Whether one scale serves a whole tensor.
[[nodiscard]] constexpr bool scales_tensors(OperandScaling scaling) {
  return scaling == OperandScaling::tensor || scaling == OperandScaling::tensor_delayed;
}

/// Whether products read an operand in both orientations: one scale serves both, but the summed dimension comes first;
/// or scales follow an orientation.
[[nodiscard]] constexpr bool needs_turned_copies(OperandScaling scaling, OperandLayouts layouts) {
  return !scales_tensors(scaling) || layouts != OperandLayouts::any;
}

/// `kept`: what the product's input is kept as. Nothing for a format that is not cast to with scales.
[[nodiscard]] CastBytes cast_bytes(NumberFormat format, OperandScaling scaling, ProductInputs kept,
                                   OperandLayouts layouts);

}  // namespace plumbline
