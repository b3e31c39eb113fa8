#include "core/graph/shape_rules.h"

#include "core/graph/expert_ops.h"
#include "core/graph/image_ops.h"
#include "tests/catch.h"

namespace plumbline::shape_rules_test {
namespace {

using Catch::Matchers::ContainsSubstring;

const Shape hidden_shape = {batch_dimension, sequence_dimension, fixed_dimension(64)};

/// What is wrong with the block, or "sound".
std::string problem_of(BlockBuilder& builder) {
  try {
    (void)builder.build();
  } catch (const InputError& error) {
    return error.what();
  }
  return "sound";
}

Block::Parts sound_parts() {
  BlockBuilder builder("layer", BlockKind::layer);
  const TensorId x = builder.input("hidden", hidden_shape);
  builder.output(ops::add(builder, "residual", x, ops::norm(builder, "norm", OpKind::rms_norm, x)));
  return builder.build().parts();
}

std::string problem_of(const Block::Parts& parts) {
  const auto problem = find_problem(parts);
  return problem ? to_text(*problem) : "sound";
}

}  // namespace

TEST_CASE("The check names block, operator and shapes that do not fit") {
  BlockBuilder builder("layer", BlockKind::layer);
  const TensorId x = builder.input("hidden", hidden_shape);
  const TensorId y = ops::linear(builder, "up", x, 128, {});
  builder.output(ops::add(builder, "residual", x, y));
  CHECK(problem_of(builder) ==
        "block layer, add residual: input up [batch, sequence, 128] differs from output [batch, sequence, 64]; "
        "expected equal shapes");
}

TEST_CASE("Attention refuses heads that its keys do not divide, and widths that are not heads") {
  BlockBuilder uneven("layer", BlockKind::layer);
  const TensorId x = uneven.input("hidden", hidden_shape);
  uneven.output(ops::attention(uneven, "core", x, x, x, {8, 3, 8, 8}));
  CHECK(problem_of(uneven) == "block layer, attention core: 8 heads over 3 kv heads; expected a multiple");
  BlockBuilder wide("layer", BlockKind::layer);
  const TensorId z = wide.input("hidden", hidden_shape);
  wide.output(ops::attention(wide, "core", z, z, z, {8, 8, 16, 8}));
  CHECK_THAT(problem_of(wide),
             ContainsSubstring("attention core: query [batch, sequence, 64]; expected heads * qk_head_dim"));
}

TEST_CASE("Products, convolutions and experts refuse what does not multiply") {
  BlockBuilder product("p", BlockKind::layer);
  const TensorId a = product.input("a", hidden_shape);
  product.output(ops::batched_matmul(product, "scores", a, a));
  CHECK_THAT(problem_of(product), ContainsSubstring("batched_matmul scores"));
  BlockBuilder image("c", BlockKind::layer);
  const TensorId pixels = image.constant(
      "images", {batch_dimension, fixed_dimension(3), fixed_dimension(8), fixed_dimension(8)}, ElementKind::compute);
  image.output(ops::convolution(image, "conv", pixels, {4, 8, 3, 3, 1, 1, 1}));
  CHECK_THAT(problem_of(image),
             ContainsSubstring("convolution conv: input [batch, 3, 8, 8]; expected [batch, 4, height, width]"));
  BlockBuilder experts("e", BlockKind::layer);
  const TensorId x = experts.input("x", hidden_shape);
  experts.output(ops::grouped_linear(experts, "down", x, 64, {4, 5, WeightPartition::row, Bias::no}));
  CHECK_THAT(problem_of(experts), ContainsSubstring("grouped_linear down: 5 of 4 experts; expected 1 to all experts"));
}

TEST_CASE("Wiring: ids out of range, values written twice or never, parameters that flow") {
  REQUIRE(problem_of(sound_parts()) == "sound");
  Block::Parts parts = sound_parts();
  parts.ops[0].inputs[0] = TensorId(99);
  CHECK_THAT(problem_of(parts), ContainsSubstring("block layer, norm: names a tensor that does not exist"));
  parts = sound_parts();
  parts.ops[1].outputs = parts.ops[0].outputs;
  CHECK_THAT(problem_of(parts), ContainsSubstring("is written 2 times; expected 1"));
  parts = sound_parts();
  parts.ops[1].inputs[1] = parts.ops[0].parameters[0];
  CHECK_THAT(problem_of(parts), ContainsSubstring("residual: reads a parameter as input"));
  parts = sound_parts();
  parts.tensors[0].shape[2].factor = 0;
  CHECK_THAT(problem_of(parts), ContainsSubstring("tensor hidden: has a dimension of 0"));
  parts = sound_parts();
  parts.outputs.push_back(TensorId());
  CHECK_THAT(problem_of(parts), ContainsSubstring("boundary: names a tensor that does not exist"));
}

TEST_CASE("Operators in a cycle are no block") {
  Block::Parts parts = sound_parts();
  // The norm reads the sum that needs the norm.
  parts.ops[0].inputs[0] = parts.ops[1].outputs[0];
  CHECK_THROWS_WITH(Block(parts), ContainsSubstring("its operators form a cycle"));
}

}  // namespace plumbline::shape_rules_test
