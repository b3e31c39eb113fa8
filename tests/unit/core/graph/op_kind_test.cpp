#include "core/graph/op_kind.h"

#include "core/base/errors.h"
#include "core/graph/token_ops.h"
#include "tests/catch.h"

namespace plumbline::op_kind_test {

TEST_CASE("a norm of tokens is found by what it does with the mean, and by its published name") {
  CHECK(token_norm(NormMean::kept) == OpKind::rms_norm);
  CHECK(token_norm(NormMean::subtracted) == OpKind::layer_norm);
  CHECK(token_norm_called("RMSNorm") == OpKind::rms_norm);
  CHECK(token_norm_called("LayerNorm") == OpKind::layer_norm);
  CHECK(token_norm_called("rmsnorm") == OpKind::rms_norm);
  CHECK(token_norm_called("layernorm") == OpKind::layer_norm);
  CHECK(!token_norm_called("GroupNorm"));
  CHECK(!token_norm_called(""));  // of operators that are no norms
}

TEST_CASE("a norm has the parameters that its row says, and nothing else is written as one") {
  BlockBuilder builder("layer", BlockKind::layer);
  const TensorId x = builder.input("hidden", {batch_dimension, sequence_dimension, fixed_dimension(64)});
  CHECK_THROWS_AS(ops::norm(builder, "linear", OpKind::linear, x), InternalError);
  const TensorId y = ops::norm(builder, "layer_norm", OpKind::layer_norm, x);
  builder.output(ops::norm(builder, "rms_norm", OpKind::rms_norm, y));
  const Block block = builder.build();
  REQUIRE(block.ops().size() == 2);
  CHECK(block.ops()[0].kind == OpKind::layer_norm);
  CHECK(block.ops()[0].parameters.size() == 2);
  CHECK(block.ops()[1].kind == OpKind::rms_norm);
  CHECK(block.ops()[1].parameters.size() == 1);
}

}  // namespace plumbline::op_kind_test
