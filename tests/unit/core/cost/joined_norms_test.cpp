// Which operators of residual networks run in the kernels of a batch norm, and what stacks that join them launch.

#include "core/cost/joined_norms.h"

#include <string>

#include "core/graph/block_builder.h"
#include "core/graph/image_ops.h"
#include "core/graph/token_ops.h"
#include "planner/pricing/evaluate.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::joined_norms_test {
namespace {

/// A bottleneck of 56 x 56 images whose input is added: three convolutions with norms, two activations between.
Block bottleneck() {
  BlockBuilder b("bottleneck", BlockKind::layer);
  const Shape shape{batch_dimension, fixed_dimension(256), fixed_dimension(56), fixed_dimension(56)};
  const TensorId x = b.input("images", shape, ElementKind::compute, Partition::replicated);
  const TensorId first = ops::activation(
      b, "activation1", ops::batch_norm(b, "norm1", ops::convolution(b, "conv1", x, {256, 64, 1, 1, 1, 0, 1})));
  const TensorId second = ops::activation(
      b, "activation2", ops::batch_norm(b, "norm2", ops::convolution(b, "conv2", first, {64, 64, 3, 3, 1, 1, 1})));
  const TensorId third = ops::batch_norm(b, "norm3", ops::convolution(b, "conv3", second, {64, 256, 1, 1, 1, 0, 1}));
  b.output(ops::activation(b, "activation", ops::add(b, "residual", third, x)));
  return b.build();
}

PassCounts joined(const Block& block, const std::string& name) {
  for (const Op& op : block.ops())
    if (op.name == name) return passes_in_norm(block, op).value_or(PassCounts{-1, -1});
  return {-2, -2};
}

bool same(PassCounts a, PassCounts b) { return a.forward == b.forward && a.backward == b.backward; }

double compute_s(const char* stack) {
  QuestionText text = question_text("resnet-50", "dgx-h100", 1, 1, 64);
  text.stack = stack;
  const Question question(text);
  PartialStrategy s;
  s.strategy.micro_batch = 64;
  return to_seconds(evaluate(question, completed(s, question)).prediction.time[TimeCause::compute]).value();
}

}  // namespace

// An activation moves nothing more. The addition reads the block's input; its gradient is written for that input too
// and read by the product that adds to it.
TEST_CASE("activations and the addition behind a batch norm run in its kernels") {
  const Block block = bottleneck();
  CHECK(same(joined(block, "activation1"), {0, 0}));
  CHECK(same(joined(block, "activation2"), {0, 0}));
  CHECK(same(joined(block, "residual"), {1, 2}));
  CHECK(same(joined(block, "activation"), {0, 0}));
  for (const char* own : {"conv1", "norm1", "conv3", "norm3"}) CHECK(same(joined(block, own), {-1, -1}));
}

TEST_CASE("an activation without a batch norm before it is a kernel of its own") {
  BlockBuilder b("plain", BlockKind::layer);
  const Shape shape{batch_dimension, fixed_dimension(64), fixed_dimension(56), fixed_dimension(56)};
  const TensorId x = b.input("images", shape, ElementKind::compute, Partition::replicated);
  const TensorId y = ops::activation(b, "activation", ops::convolution(b, "conv", x, {64, 64, 3, 3, 1, 1, 1}));
  b.output(ops::activation(b, "second", ops::add(b, "residual", y, x)));
  const Block block = b.build();
  for (const char* own : {"activation", "residual", "second"}) CHECK(same(joined(block, own), {-1, -1}));
}

TEST_CASE("a stack that joins them takes less time on the device") {
  CHECK(compute_s("mxnet-ngc-2023") < 0.85 * compute_s("mxnet-ngc-2023+batch_norms=alone"));
}

}  // namespace plumbline::joined_norms_test
