// What torch.autocast leaves in 32 bits of a Llama layer, and what it casts, counted by hand.

#include "core/cost/autocast.h"

#include "core/graph/block_builder.h"
#include "core/graph/image_ops.h"
#include "core/graph/token_ops.h"
#include "core/sharding/saved_tensors.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

constexpr std::int64_t sequence = 512;
constexpr std::int64_t hidden = 1024;
constexpr std::int64_t heads = 16;
constexpr std::int64_t kv_heads = 8;
constexpr std::int64_t head_dim = 64;
constexpr std::int64_t ffn = 2816;
const LlamaShape shape{2, hidden, heads, kv_heads, head_dim, ffn, 32000};

Shard shard(PrecisionRecipe recipe = PrecisionRecipe::bf16) {
  Training training;
  training.sequence_length = sequence;
  training.global_batch = 8;
  training.precision = recipe;
  Strategy s;
  s.flash_attention = FlashAttention::on;
  return shard_of(s, training);
}

StackFeatures with(MixedPrecision how) {
  StackFeatures features;
  features.mixed_precision = how;
  return features;
}

Bytes saved(const Block& block, const Shard& of) {
  return saved_bytes(saved_tensors(block, of), RecomputeMode::none, boundary_bytes(block, of));
}

struct Sums {
  std::int64_t norms_and_sums_forward = 0;
  std::int64_t norms_and_sums_backward = 0;
  std::int64_t casts_forward = 0;
  Launches launches;
};

Sums sums(MixedPrecision how) {
  const Shard of = shard();
  const StackFeatures features = with(how);
  const Graph graph = llama(shape);
  const Block block = as_run(first_layer(graph), of, features);
  Sums sum;
  for (const Op& op : block.ops()) {
    const OpWork work = op_work(block, op, of);
    if (op.kind == OpKind::rms_norm || op.kind == OpKind::add) {
      const Traffic traffic = OperatorPasses(features).memory_traffic(op, work, of.formats);
      sum.norms_and_sums_forward += traffic.forward.value();
      sum.norms_and_sums_backward += traffic.backward.value();
    }
    if (work.kind != WorkKind::product) continue;
    sum.casts_forward += weight_casts(work).forward.value();
    sum.launches += cast_launches(block, op, work, how);
  }
  return sum;
}

// Two norms read the residual stream: 2 bytes more a feature and token each.
TEST_CASE("under autocast norms keep the residual stream in 32 bits, and so does a recomputed layer") {
  const Graph graph = llama(shape);
  const Block& block = first_layer(graph);
  const Block run = as_run(block, shard(), with(MixedPrecision::by_autocast));
  CHECK(saved(run, shard()) - saved(block, shard()) == Bytes(std::int64_t{4} * sequence * hidden));
  CHECK(boundary_bytes(run, shard()) == std::int64_t{2} * boundary_bytes(block, shard()));
}

TEST_CASE("autocast says nothing of recipes without masters, nor of stacks with 16-bit weights") {
  const Graph graph = llama(shape);
  const Block& block = first_layer(graph);
  for (const PrecisionRecipe recipe : {PrecisionRecipe::bf16_pure, PrecisionRecipe::fp32, PrecisionRecipe::tf32})
    CHECK_FALSE(casts_itself(with(MixedPrecision::by_autocast), shard(recipe).formats));
  CHECK_FALSE(casts_itself({}, shard().formats));
  CHECK(saved(as_run(block, shard(), {}), shard()) == saved(block, shard()));
}

// Passes over a 16-bit tensor of the hidden features: two norms of 7 and 13, two sums of 5 and 9; joined 3 and 5, 5 and
// 6. Weights: query-key-value, output, gate-up, down.
TEST_CASE("norms, sums and weights are read and written as autocast casts them") {
  const Sums eager = sums(MixedPrecision::by_autocast);
  CHECK(eager.norms_and_sums_forward == 2 * sequence * hidden * 2 * (7 + 5));
  CHECK(eager.norms_and_sums_backward == 2 * sequence * hidden * 2 * (13 + 9));
  const Sums joined = sums(MixedPrecision::by_compiled_autocast);
  CHECK(joined.norms_and_sums_forward == 2 * sequence * hidden * 2 * (3 + 5));
  CHECK(joined.norms_and_sums_backward == 2 * sequence * hidden * 2 * (5 + 6));
  constexpr std::int64_t weights =
      hidden * (heads + 2 * kv_heads) * head_dim + heads * head_dim * hidden + 3 * hidden * ffn;
  CHECK(eager.casts_forward == (4 + 2) * weights);
}

// Four products cast a weight each; two of them read a norm.
TEST_CASE("casts are kernels of their own unless a compiler joins those of activations") {
  const Launches eager = sums(MixedPrecision::by_autocast).launches;
  CHECK(eager.forward == 4 + 2);
  CHECK(eager.backward == 4 + 2);
  CHECK(eager.backward_weight == 4);
  CHECK(sums(MixedPrecision::by_compiled_autocast).launches.forward == 4);
}

// A convolution's result and a batch norm's are in 16 bits, and so is their sum: 3 passes over it, 3 back.
TEST_CASE("under autocast residuals of images stay in 16 bits") {
  BlockBuilder b("layer", BlockKind::layer);
  const Shape images{batch_dimension, fixed_dimension(64), fixed_dimension(56), fixed_dimension(56)};
  const TensorId x = b.input("images", images, ElementKind::compute, Partition::replicated);
  const TensorId y = ops::batch_norm(b, "norm", ops::convolution(b, "convolution", x, {64, 64, 3, 3, 1, 1, 1}));
  b.output(ops::activation(b, "activation", ops::add(b, "sum", y, x)));
  const Block block = b.build();
  CHECK(has_image_residuals(block));
  const Block run = as_run(block, shard(), with(MixedPrecision::by_autocast));
  CHECK(boundary_bytes(run, shard()) == boundary_bytes(block, shard()));
  CHECK(saved(run, shard()) == saved(block, shard()));
  const Graph graph = llama(LlamaShape{2, hidden, heads, kv_heads, head_dim, ffn, 32000});
  CHECK_FALSE(has_image_residuals(first_layer(graph)));
}

}  // namespace
}  // namespace plumbline
