// Bytes and kernels of casts, counted by hand: a read is 2 bytes, a copy in fp8 one.
#include "core/cost/quantisation.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr auto kept = ProductInputs::as_multiplied;  // Transformer Engine
constexpr auto again = ProductInputs::as_read;       // torchao
constexpr auto fp8 = NumberFormat::fp8_e4m3;

CastBytes hopper(OperandScaling scaling, ProductInputs inputs) {
  return cast_bytes(fp8, scaling, inputs, OperandLayouts::summed_first);
}

}  // namespace

// Read, copy, transposed copy; current scaling reads all of it once more before.
TEST_CASE("a scale of a whole tensor by its own values costs a pass more than one of the steps before") {
  CHECK(hopper(OperandScaling::tensor_delayed, kept).input_forward == 4);
  CHECK(hopper(OperandScaling::tensor, kept).input_forward == 6);
  CHECK(hopper(OperandScaling::tensor, kept).gradient == 6);
  CHECK(hopper(OperandScaling::tensor, kept).input_backward == 0);
}

TEST_CASE("tensor cores that take any layout need no transposed copy, unless scales differ by orientation") {
  CHECK(cast_bytes(fp8, OperandScaling::tensor, kept, OperandLayouts::any).input_forward == 5);
  CHECK(cast_bytes(fp8, OperandScaling::microscaled, kept, OperandLayouts::any).input_forward ==
        hopper(OperandScaling::microscaled, kept).input_forward);
}

// Two copies with a scale of 4 bytes for 128 numbers, or of one for 32; NVFP4 reads twice and halves the numbers.
TEST_CASE("blocks are scaled as they are cast, and write their scales") {
  CHECK(hopper(OperandScaling::block, kept).gradient == 2 + 2 * (1 + 4.0 / 128));
  CHECK(hopper(OperandScaling::microscaled, kept).gradient == 2 + 2 * (1 + 1.0 / 32));
  CHECK(cast_bytes(NumberFormat::fp4, OperandScaling::microscaled, kept, OperandLayouts::any).gradient ==
        2 + 2 + 2 * (0.5 + 1.0 / 16));
}

// A row's largest magnitude is found as it is read (3); a column's in a pass of its own (5). Weights are cast in every
// pass, as their scales are no tensor's.
TEST_CASE("torchao casts inputs again backward, and weights with scales of rows each time") {
  const CastBytes rows = hopper(OperandScaling::row, again);
  CHECK(rows.input_forward == 3);
  CHECK(rows.weight_forward == 3);
  CHECK(rows.input_backward == 5);
  CHECK(rows.weight_backward == 5);
  CHECK(rows.gradient == 8);
  const CastBytes tensors = hopper(OperandScaling::tensor, again);
  CHECK(tensors.input_forward == 5);
  CHECK(tensors.input_backward == 3);
  CHECK(tensors.weight_forward == 0);
  CHECK(tensors.gradient == 6);
}

TEST_CASE("what is not cast costs nothing, and every cast is a kernel") {
  CHECK(cast_bytes(NumberFormat::bf16, OperandScaling::tensor, kept, OperandLayouts::any).gradient == 0);
  CHECK(cast_kernels(NumberFormat::bf16, OperandScaling::tensor, kept).forward == 0);
  CHECK(cast_kernels(fp8, OperandScaling::tensor, kept).backward == 1);
  CHECK(cast_kernels(fp8, OperandScaling::row, again).forward == 2);   // input, weight
  CHECK(cast_kernels(fp8, OperandScaling::row, again).backward == 4);  // input, weight, gradient by row and by column
}

}  // namespace plumbline
