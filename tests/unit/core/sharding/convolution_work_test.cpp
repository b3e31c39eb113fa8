// What convolutions and batch norms compute and move, counted by hand.

#include <cstdint>

#include "core/graph/block_builder.h"
#include "core/graph/image_ops.h"
#include "core/sharding/op_work.h"
#include "tests/catch.h"

namespace plumbline::convolution_work_test {
namespace {

constexpr std::int64_t images = 5;
constexpr std::int64_t edge = 56;

/// The first operator of a block: a convolution of images of 56 x 56, and a batch norm behind it.
Block convolved(ConvolutionAttributes a) {
  BlockBuilder b("convolved", BlockKind::layer);
  const Shape shape{batch_dimension, fixed_dimension(a.in_channels), fixed_dimension(edge), fixed_dimension(edge)};
  const TensorId x = b.input("images", shape, ElementKind::compute, Partition::replicated);
  b.output(ops::batch_norm(b, "norm", ops::convolution(b, "convolution", x, a)));
  return b.build();
}

OpWork work_of(const Block& block, std::size_t op) {
  Shard shard;
  shard.lengths = {images, 1};
  return op_work(block, block.ops()[op], shard);
}

}  // namespace

// Patches of nine elements overlap: of each channel 56 x 56 elements are read, not nine times as many.
TEST_CASE("a convolution reads its input once, however many patches cover an element") {
  const OpWork work = work_of(convolved({64, 128, 3, 3, 1, 1, 1}), 0);
  REQUIRE(work.convolution);
  CHECK(work.convolution->covered == images * edge * edge * 64);
  CHECK(work.convolution->input == images * edge * edge * 64);
  CHECK(work.convolution->weight == std::int64_t{9} * 64 * 128);
  CHECK(work.convolution->output == images * edge * edge * 128);
}

// Of four elements one lies in a patch.
TEST_CASE("a stride that is longer than the kernel leaves input unread, whose gradient is written all the same") {
  const OpWork work = work_of(convolved({64, 128, 1, 1, 2, 0, 1}), 0);
  REQUIRE(work.convolution);
  CHECK(work.convolution->covered == images * 28 * 28 * 64);
  CHECK(work.convolution->input == images * edge * edge * 64);
}

// Each input element gathers 9 elements of the kernel over 128 channels; at a stride of two 9 / 4 of them; of a
// pointwise product at a stride of two a quarter of the elements gather one.
TEST_CASE("an input gradient is summed over the output channels that reach an element") {
  const MatrixProduct whole = work_of(convolved({64, 128, 3, 3, 1, 1, 1}), 0).convolution->input_gradient;
  CHECK(whole.m == images * edge * edge);
  CHECK(whole.n == 64);
  CHECK(whole.k == std::int64_t{9} * 128);
  const MatrixProduct strided = work_of(convolved({64, 128, 3, 3, 2, 1, 1}), 0).convolution->input_gradient;
  CHECK(strided.m == images * edge * edge);
  CHECK(strided.k == std::int64_t{9} * 128 / 4);
  const MatrixProduct pointwise = work_of(convolved({64, 128, 1, 1, 2, 0, 1}), 0).convolution->input_gradient;
  CHECK(pointwise.m == images * 28 * 28);
  CHECK(pointwise.k == 128);
}

TEST_CASE("an input gradient has the FLOPs of its convolution") {
  for (const ConvolutionAttributes& a :
       {ConvolutionAttributes{64, 128, 3, 3, 1, 1, 1}, ConvolutionAttributes{64, 128, 3, 3, 2, 1, 1},
        ConvolutionAttributes{64, 128, 1, 1, 2, 0, 1}, ConvolutionAttributes{64, 128, 3, 3, 1, 1, 4}}) {
    const OpWork work = work_of(convolved(a), 0);
    CHECK(work.convolution->input_gradient.flops().value() == work.product->flops().value());
  }
}

// Statistics read the input, normalising reads and writes; two sums read input and output gradient, and the input
// gradient reads both again and is written.
TEST_CASE("a batch norm passes over memory three times forward and five times backward") {
  const OpWork norm = work_of(convolved({64, 128, 3, 3, 1, 1, 1}), 1);
  const Bytes once(2 * images * edge * edge * 128);
  CHECK(norm.forward_traffic == std::int64_t{3} * once);
  CHECK(norm.backward_traffic == std::int64_t{5} * once);
}

}  // namespace plumbline::convolution_work_test
