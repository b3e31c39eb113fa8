#include "core/training/precision.h"

#include "core/base/found_by_name.h"

namespace plumbline {
namespace {

OperandScaling scaling(PrecisionRecipe recipe) {
  switch (recipe) {
    case PrecisionRecipe::fp8_delayed: return OperandScaling::tensor_delayed;
    case PrecisionRecipe::fp8_row: return OperandScaling::row;
    case PrecisionRecipe::fp8_block: return OperandScaling::block;
    case PrecisionRecipe::mxfp8:
    case PrecisionRecipe::nvfp4: return OperandScaling::microscaled;
    default: return OperandScaling::tensor;
  }
}

}  // namespace

PrecisionFormats precision_formats(PrecisionRecipe recipe, std::optional<NumberFormat> gradient,
                                   std::optional<NumberFormat> optimizer_state) {
  using F = NumberFormat;
  PrecisionFormats formats{};
  switch (recipe) {
    case PrecisionRecipe::fp32: formats = {F::fp32, F::fp32, F::fp32, F::fp32, {}, F::fp32, F::fp32}; break;
    case PrecisionRecipe::tf32: formats = {F::tf32, F::fp32, F::fp32, F::fp32, {}, F::fp32, F::fp32}; break;
    case PrecisionRecipe::fp16: formats = {F::fp16, F::fp16, F::fp16, F::fp16, F::fp32, F::fp32, F::fp16}; break;
    case PrecisionRecipe::bf16: formats = {F::bf16, F::bf16, F::bf16, F::bf16, F::fp32, F::fp32, F::bf16}; break;
    case PrecisionRecipe::bf16_pure: formats = {F::bf16, F::bf16, F::bf16, F::bf16, {}, F::bf16, F::bf16}; break;
    case PrecisionRecipe::fp16_pure: formats = {F::fp16, F::fp16, F::fp16, F::fp16, {}, F::fp16, F::fp16}; break;
    case PrecisionRecipe::fp8:
    case PrecisionRecipe::fp8_delayed:
    case PrecisionRecipe::fp8_row:
    case PrecisionRecipe::fp8_block:
    case PrecisionRecipe::mxfp8: formats = {F::fp8_e4m3, F::bf16, F::bf16, F::bf16, F::fp32, F::fp32, F::bf16}; break;
    case PrecisionRecipe::nvfp4: formats = {F::fp4, F::bf16, F::bf16, F::bf16, F::fp32, F::fp32, F::bf16}; break;
  }
  formats.scaling = scaling(recipe);
  if (gradient) formats.gradient = formats.reduction = *gradient;
  if (optimizer_state) formats.optimizer_state = *optimizer_state;
  return formats;
}

std::string_view to_text(PrecisionRecipe recipe) {
  switch (recipe) {
    case PrecisionRecipe::fp32: return "fp32";
    case PrecisionRecipe::tf32: return "tf32";
    case PrecisionRecipe::fp16: return "fp16";
    case PrecisionRecipe::bf16: return "bf16";
    case PrecisionRecipe::bf16_pure: return "bf16-pure";
    case PrecisionRecipe::fp16_pure: return "fp16-pure";
    case PrecisionRecipe::fp8: return "fp8";
    case PrecisionRecipe::fp8_delayed: return "fp8-delayed";
    case PrecisionRecipe::fp8_row: return "fp8-row";
    case PrecisionRecipe::fp8_block: return "fp8-block";
    case PrecisionRecipe::mxfp8: return "mxfp8";
    case PrecisionRecipe::nvfp4: return "nvfp4";
  }
  return "";
}

std::optional<PrecisionRecipe> precision_recipe_from_text(std::string_view text) {
  return value_named(all_precision_recipes, text);
}

}  // namespace plumbline
