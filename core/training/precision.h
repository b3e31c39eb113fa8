#pragma once
/// \file precision.h: what each precision recipe stores and multiplies in, component by component.
///
/// Model: a recipe names one format per component; bytes per parameter follow. Mixed recipes keep an fp32 master copy
/// of the weights and fp32 optimizer state; pure 16-bit ("true low precision") keeps everything in 16 bits.
/// Source: Micikevicius et al., arXiv:1710.03740 (mixed precision); ZeRO, arXiv:1910.02054, section 3.1 (16 bytes);
/// the fp8 recipes keep bf16 weights and differ in which numbers share a scale: a tensor (Transformer Engine), a row
/// (torchao), a block (DeepSeek-V3, arXiv:2412.19437, section 3.3), or 32 numbers (OCP Microscaling Formats, version
/// 1.0). NVFP4 (arXiv:2509.25149) runs all three products of a linear layer in fp4, with a scale for every 16 numbers.
/// Not modelled: the memory of scales and of the loss scale's state; layers that a recipe keeps in 16 bits.

#include <array>
#include <optional>
#include <string_view>

#include "core/quantity/number_format.h"

namespace plumbline {

/// fp8 alone scales each tensor by its own largest magnitude (current scaling).
enum class PrecisionRecipe : std::uint8_t {
  fp32,
  tf32,
  fp16,
  bf16,
  bf16_pure,
  fp16_pure,
  fp8,
  fp8_delayed,
  fp8_row,
  fp8_block,
  mxfp8,
  nvfp4
};

inline constexpr std::array all_precision_recipes{
    PrecisionRecipe::fp32,      PrecisionRecipe::tf32,      PrecisionRecipe::fp16,  PrecisionRecipe::bf16,
    PrecisionRecipe::bf16_pure, PrecisionRecipe::fp16_pure, PrecisionRecipe::fp8,   PrecisionRecipe::fp8_delayed,
    PrecisionRecipe::fp8_row,   PrecisionRecipe::fp8_block, PrecisionRecipe::mxfp8, PrecisionRecipe::nvfp4};

/// What operands in few bits have one scale for.
enum class OperandScaling : std::uint8_t {
  tensor,          ///< a tensor, by its own largest magnitude
  tensor_delayed,  ///< a tensor, by those of the steps before
  row,             ///< each row or column, whichever the product does not sum over
  block,           ///< 128 numbers of an activation, 128 x 128 of a weight
  microscaled      ///< 16 or 32 numbers, which tensor cores scale themselves
};

struct PrecisionFormats {
  NumberFormat matmul;                 ///< inputs of matrix products
  NumberFormat activation;             ///< what flows between operators, and attention
  NumberFormat weight;                 ///< weights as used by forward and backward
  NumberFormat gradient;               ///< accumulated weight gradients
  std::optional<NumberFormat> master;  ///< the copy that the optimizer updates, when it is another than `weight`
  NumberFormat optimizer_state;        ///< each moment
  NumberFormat reduction;              ///< gradients as sent between data-parallel ranks
  OperandScaling scaling = OperandScaling::tensor;  ///< of inputs of matrix products in few bits
};

/// `gradient` overrides the recipe's gradient (and reduction) format: bf16 mixed with fp32 gradients is 18 bytes per
/// parameter under Adam instead of 16. `optimizer_state` overrides that of the moments: 12 bytes instead of 16 in bf16
/// (Megatron-Core's precision-aware optimizer).
[[nodiscard]] PrecisionFormats precision_formats(PrecisionRecipe recipe, std::optional<NumberFormat> gradient = {},
                                                 std::optional<NumberFormat> optimizer_state = {});

/// Whether products are in fp8, however their operands are scaled.
/// Whether its gradients need a loss scale (Micikevicius et al., section 3.2).
[[nodiscard]] constexpr bool scales_loss(PrecisionRecipe recipe) {
  return recipe == PrecisionRecipe::fp16 || recipe == PrecisionRecipe::fp16_pure;
}

[[nodiscard]] constexpr bool is_fp8(PrecisionRecipe recipe) {
  return recipe >= PrecisionRecipe::fp8 && recipe <= PrecisionRecipe::mxfp8;
}
[[nodiscard]] std::string_view to_text(PrecisionRecipe recipe);
[[nodiscard]] std::optional<PrecisionRecipe> precision_recipe_from_text(std::string_view text);

}  // namespace plumbline
