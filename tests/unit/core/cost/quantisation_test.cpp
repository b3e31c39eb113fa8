// What casts to few bits read and write, counted by hand from the kernels that Transformer Engine and torchao launch.

#include "core/cost/quantisation.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

using Catch::Approx;
constexpr NumberFormat fp8 = NumberFormat::fp8_e4m3;
constexpr auto hopper = OperandLayouts::summed_first;
constexpr auto blackwell = OperandLayouts::any;

/// Of all three tensors of a product, forward and backward.
double all_bytes(OperandScaling scaling, ProductInputs kept, OperandLayouts layouts) {
  const CastBytes b = cast_bytes(fp8, scaling, kept, layouts);
  return b.input_forward + b.input_backward + b.weight_forward + b.weight_backward + b.gradient;
}

TEST_CASE("Transformer Engine casts a tensor into both orientations from one read") {
  constexpr auto kept = ProductInputs::as_multiplied;
  // Delayed: 2 bytes read, 1 + 1 written. By its own values: 2 more to find the largest.
  CHECK(cast_bytes(fp8, OperandScaling::tensor_delayed, kept, hopper).input_forward == Approx(2 + 1 + 1));
  CHECK(cast_bytes(fp8, OperandScaling::tensor, kept, hopper).input_forward == Approx(2 + 2 + 1 + 1));
  CHECK(cast_bytes(fp8, OperandScaling::tensor, kept, hopper).gradient == Approx(2 + 2 + 1 + 1));
  // Blackwell multiplies in any layout: one copy.
  CHECK(cast_bytes(fp8, OperandScaling::tensor_delayed, kept, blackwell).input_forward == Approx(2 + 1));
  // A 32-bit scale for 128 numbers, an 8-bit one for 32.
  CHECK(cast_bytes(fp8, OperandScaling::block, kept, hopper).gradient == Approx(2 + 2 * (1 + 4.0 / 128)));
  CHECK(cast_bytes(fp8, OperandScaling::microscaled, kept, blackwell).gradient == Approx(2 + 2 * (1 + 1.0 / 32)));
  // NVFP4's scale of a tensor is found first; half a byte and a sixteenth of a scale, twice.
  CHECK(cast_bytes(NumberFormat::fp4, OperandScaling::microscaled, kept, blackwell).gradient ==
        Approx(2 + 2 + 2 * (0.5 + 1.0 / 16)));
  // Weights are cast once a step, not with a micro-batch, and what is kept is not cast again.
  const CastBytes block = cast_bytes(fp8, OperandScaling::block, kept, hopper);
  CHECK(block.weight_forward + block.weight_backward + block.input_backward == 0);
}

TEST_CASE("torchao casts what a product read again in its backward, and weights where a tensor has several scales") {
  constexpr auto kept = ProductInputs::as_read;
  const CastBytes tensor = cast_bytes(fp8, OperandScaling::tensor, kept, hopper);
  CHECK(tensor.input_forward == Approx(2 + 2 + 1));
  CHECK(tensor.input_backward == Approx(2 + 1));  // its largest is known
  CHECK(tensor.weight_forward + tensor.weight_backward == 0);
  // A row's largest is found as the row is read, that of a column in a pass of its own.
  const CastBytes row = cast_bytes(fp8, OperandScaling::row, kept, hopper);
  CHECK(row.input_forward == Approx(2 + 1));
  CHECK(row.input_backward == Approx(2 + 2 + 1));
  CHECK(row.weight_forward == row.input_forward);
  CHECK(row.gradient == Approx(2 + 1 + 2 + 2 + 1));
}

TEST_CASE("finer scales cost more launches with torchao and none with Transformer Engine") {
  CHECK(cast_kernels(fp8, OperandScaling::tensor, ProductInputs::as_multiplied).forward == 1);
  CHECK(cast_kernels(fp8, OperandScaling::block, ProductInputs::as_multiplied).backward == 1);
  CHECK(cast_kernels(fp8, OperandScaling::row, ProductInputs::as_read).backward >
        cast_kernels(fp8, OperandScaling::tensor, ProductInputs::as_read).backward);
}

TEST_CASE("what is not cast moves nothing") {
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp32}) {
    const CastBytes none = cast_bytes(format, OperandScaling::row, ProductInputs::as_read, hopper);
    CHECK(none.input_forward + none.input_backward + none.weight_forward + none.weight_backward + none.gradient == 0);
    CHECK(cast_kernels(format, OperandScaling::row, ProductInputs::as_read).forward == 0);
  }
}

TEST_CASE("one scale a tensor that is known before moves least") {
  for (const ProductInputs kept : {ProductInputs::as_multiplied, ProductInputs::as_read}) {
    const double least = all_bytes(OperandScaling::tensor_delayed, kept, hopper);
    for (const OperandScaling scaling :
         {OperandScaling::tensor, OperandScaling::row, OperandScaling::block, OperandScaling::microscaled})
      CHECK(all_bytes(scaling, kept, hopper) > least);
  }
}

}  // namespace
}  // namespace plumbline
