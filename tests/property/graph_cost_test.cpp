// Estimators take graphs and know no architecture: networks built by hand are priced, and laws hold for all of them.

#include "core/graph/image_ops.h"
#include "core/graph/parameter_count.h"
#include "models/builders/encoder_decoder.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline {
namespace {

constexpr ConvolutionAttributes three_by_three(std::int64_t in, std::int64_t out) { return {in, out, 3, 3, 1, 1, 1}; }

/// One level down and up again with a skip, four classes per pixel of 32 x 32 images.
Block u_net() {
  BlockBuilder b("u_net", BlockKind::layer);
  const TensorId images = b.constant(
      "images", {batch_dimension, fixed_dimension(3), fixed_dimension(32), fixed_dimension(32)}, ElementKind::compute);
  const TensorId skip =
      ops::activation(b, "down.activation",
                      ops::batch_norm(b, "down.norm", ops::convolution(b, "down", images, three_by_three(3, 16))));
  const TensorId pooled = ops::pooling(b, "pool", skip, {2, 2, 0});
  const TensorId bottom =
      ops::activation(b, "bottom.activation", ops::convolution(b, "bottom", pooled, three_by_three(16, 32)));
  const TensorId joined = ops::concatenate(b, "join", {skip, ops::upsample(b, "enlarge", bottom, 2)});
  const TensorId up = ops::activation(b, "up.activation", ops::convolution(b, "up", joined, three_by_three(48, 16)));
  const TensorId classes = ops::convolution(b, "classes", up, {16, 4, 1, 1, 1, 0, 1}, Bias::yes);
  const TensorId logits = ops::select(
      b, "logits", classes, {batch_dimension, fixed_dimension(1024), fixed_dimension(4)}, Partition::replicated);
  const TensorId labels = b.constant("labels", {batch_dimension, fixed_dimension(1024)}, ElementKind::index);
  b.output(ops::cross_entropy(b, "loss", logits, labels, 4));
  return b.build();
}

/// Pictures and captions into one space, each picture's score against each caption of the batch.
Block two_towers() {
  BlockBuilder b("two_towers", BlockKind::layer);
  constexpr LinearSpec plain{};
  const TensorId pictures = b.constant("pictures", {batch_dimension, fixed_dimension(768)}, ElementKind::compute);
  const TensorId ids = b.constant("ids", {batch_dimension, sequence_dimension}, ElementKind::index);
  const TensorId wide = ops::activation(b, "picture.activation", ops::linear(b, "picture.wide", pictures, 512, plain));
  const TensorId picture = ops::linear(b, "picture.narrow", wide, 256, plain);
  const TensorId words = ops::embedding(b, "words", ids, 1000, 128);
  const TensorId caption = ops::activation(b, "caption.activation", ops::linear(b, "caption", words, 256, plain));
  const TensorId last = ops::select(b, "caption.last", caption, {fixed_dimension(256), batch_dimension});
  const TensorId scores = ops::batched_matmul(b, "scores", picture, last);
  const TensorId labels = b.constant("labels", {batch_dimension}, ElementKind::index);
  b.output(ops::cross_entropy(b, "loss", scores, labels, 4));
  return b.build();
}

Graph only(Block block) { return Graph("by_hand", {std::move(block)}, {{BlockId(0), 1}}); }

Shard one_rank(std::int64_t batch, std::int64_t sequence) {
  Shard shard;
  shard.lengths = {batch, sequence};
  return shard;
}

Bytes all_saved(const Block& block, const Shard& shard) {
  return saved_bytes(saved_tensors(block, shard), RecomputeMode::none, Bytes(0));
}

// Forward per image: 2 x 1024 x 16 x 27 + 2 x 256 x 32 x 144 + 2 x 1024 x 16 x 432 + 2 x 1024 x 4 x 16. The images
// need no gradient, so the first convolution has one backward product and the others two.
TEST_CASE("a U-Net has the FLOPs of its convolutions") {
  constexpr double down = 2.0 * 1024 * 16 * 27;
  constexpr double rest = 2.0 * 256 * 32 * 144 + 2.0 * 1024 * 16 * 432 + 2.0 * 1024 * 4 * 16;
  const BlockFlops flops = graph_flops(only(u_net()), one_rank(3, 1));
  CHECK(flops.forward.value() == 3 * (down + rest));
  CHECK(flops.backward_input.value() == 3 * rest);
  CHECK(flops.backward_weight.value() == 3 * (down + rest));
}

// Elements per image: images 3 x 1024; convolution and norm results 16 x 1024 each; the skip 16 x 1024 (pooling);
// pooled 16 x 256; the bottom's result 32 x 256; joined 48 x 1024; the last results 16 x 1024 before and after the
// activation. Two bytes each; the norm keeps two fp32 values per channel.
TEST_CASE("a U-Net keeps what its gradients read, the skip once") {
  constexpr std::int64_t elements = (3 + 16 + 16 + 16 + 48 + 16 + 16) * 1024 + (16 + 32) * 256;
  CHECK(all_saved(u_net(), one_rank(3, 1)) == Bytes(3 * elements * 2 + 16 * 2 * 4));
}

// Weights: 16 x 27, 32 x 144, 16 x 432, 4 x 16 and 4 biases; the norm 2 x 16.
TEST_CASE("a U-Net has the parameters of its convolutions and its norm") {
  CHECK(parameter_count(u_net()) == 16 * 27 + 32 * 144 + 16 * 432 + 4 * 16 + 4 + 2 * 16);
}

// b 4, s 8. Pictures 768 -> 512 -> 256 on 4 rows, captions 128 -> 256 on 32 rows, scores 4 x 256 x 4. The pictures
// need no gradient; both sides of the scores do.
TEST_CASE("a two-tower network has the FLOPs of both towers and of the scores between them") {
  constexpr double first = 2.0 * 4 * 768 * 512;
  constexpr double rest = 2.0 * 4 * 512 * 256 + 2.0 * 32 * 128 * 256;
  constexpr double scores = 2.0 * 4 * 256 * 4;
  const BlockFlops flops = graph_flops(only(two_towers()), one_rank(4, 8));
  CHECK(flops.forward.value() == first + rest + scores);
  CHECK(flops.backward_input.value() == rest + 2 * scores);
  CHECK(flops.backward_weight.value() == first + rest);
}

// Pictures 4 x 768, both sides of their activation 4 x 512, word vectors 32 x 128, the caption's activation input
// 32 x 256, both operands of the scores 4 x 256.
TEST_CASE("a two-tower network keeps the operands of its products and activations") {
  constexpr std::int64_t elements = 4 * 768 + 2 * 4 * 512 + 32 * 128 + 32 * 256 + 2 * 4 * 256;
  CHECK(all_saved(two_towers(), one_rank(4, 8)) == Bytes(2 * elements));
}

TEST_CASE("networks that nobody named are priced to a step") {
  Training training;
  training.sequence_length = 8;
  training.global_batch = 32;
  Strategy s;
  s.data_parallel = 8;
  s.micro_batch = 4;
  for (Block block : {u_net(), two_towers()}) {
    const Pricing pricing(only(std::move(block)), training);
    CHECK(pricing.step(s).total() > Picoseconds(0));
    CHECK(pricing.memory(s).front()[MemoryClass::activations] > Bytes(0));
    CHECK(pricing.memory(s).front()[MemoryClass::logits_and_loss] > Bytes(0));
  }
}

LlamaShape mixture_shape() {
  LlamaShape shape{6, 256, 8, 2, 32, 768, 1024};
  shape.experts = 8;
  shape.chosen = 2;
  shape.expert_width = 128;
  shape.shared_width = 256;
  shape.dense_layers = 1;
  return shape;
}

Graph latent_attention_network() {
  TransformerDescription d;
  d.vocabulary = 1024;
  d.hidden = d.embedding_width = 256;
  AttentionDescription& a = d.layer.attention;
  a.heads = a.kv_heads = 8;
  a.qk_head_dim = 48;
  a.v_head_dim = 32;
  a.latent = LatentAttention{96, 64, 32, 16};
  d.layer.mlp = {512, true, Bias::no, false};
  d.layers.resize(4);
  return language_model("latent", d);
}

Graph encoder_decoder_network() {
  EncoderDecoderDescription d;
  d.vocabulary = 1024;
  d.hidden = 256;
  d.encoder_layers = d.decoder_layers = 3;
  d.layer.attention.heads = d.layer.attention.kv_heads = 8;
  d.layer.attention.qk_head_dim = d.layer.attention.v_head_dim = 32;
  d.layer.mlp = {512, false, Bias::no, false};
  return encoder_decoder_model("encoder_decoder", d);
}

std::vector<Graph> networks() {
  return {gpt({4, 256, 8, 1000, 64, Dropout::yes}),
          llama({5, 256, 8, 2, 32, 700, 1024}),
          llama(mixture_shape()),
          latent_attention_network(),
          encoder_decoder_network(),
          only(u_net()),
          only(two_towers())};
}

RankParameters rank_total(const Graph& graph, const Shard& shard) {
  RankParameters sum;
  for (const BlockId id : graph.sequence()) sum += rank_parameters(graph.block(id), shard);
  return sum;
}
Bytes saved_total(const Graph& graph, const Shard& shard) {
  Bytes sum(0);
  for (const BlockId id : graph.sequence()) sum += all_saved(graph.block(id), shard);
  return sum;
}

TEST_CASE("more tensor-parallel ranks never raise a rank's parameters or saved bytes") {
  for (const Graph& graph : networks()) {
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
      for (const SequenceParallel sequence : {SequenceParallel::off, SequenceParallel::on}) {
        Shard shard = one_rank(2, 64);
        shard.flash_attention = flash;
        std::int64_t parameters = rank_total(graph, shard).total();
        Bytes saved = saved_total(graph, shard);
        for (std::int32_t ranks = 2; ranks <= 16; ++ranks) {
          shard.tensor_parallel = ranks;
          shard.sequence_parallel = sequence;
          INFO(graph.name() << ", tp " << ranks);
          const std::int64_t fewer_parameters = rank_total(graph, shard).total();
          const Bytes fewer_saved = saved_total(graph, shard);
          REQUIRE(fewer_parameters <= parameters);
          REQUIRE(fewer_saved <= saved);
          parameters = fewer_parameters;
          saved = fewer_saved;
        }
      }
    }
  }
}

TEST_CASE("more context-parallel or expert-parallel ranks never raise a rank's parameters or saved bytes") {
  for (const Graph& graph : networks()) {
    for (std::int32_t Shard::*degree : {&Shard::context_parallel, &Shard::expert_parallel}) {
      Shard shard = one_rank(2, 64);
      std::int64_t parameters = rank_total(graph, shard).total();
      Bytes saved = saved_total(graph, shard);
      for (const std::int32_t ranks : {2, 4, 8}) {
        shard.*degree = ranks;
        INFO(graph.name() << ", " << ranks << " ranks");
        REQUIRE(rank_total(graph, shard).total() <= parameters);
        REQUIRE(saved_total(graph, shard) <= saved);
        parameters = rank_total(graph, shard).total();
        saved = saved_total(graph, shard);
      }
    }
  }
}

TEST_CASE("what ranks that divide evenly hold adds up to the network, replicated parameters apart") {
  for (const Graph& graph : networks()) {
    const RankParameters whole = rank_total(graph, one_rank(1, 64));
    INFO(graph.name());
    CHECK(without_tied(whole).total() == parameter_count(graph));
    Shard shard = one_rank(1, 64);
    shard.tensor_parallel = 2;
    const RankParameters half = rank_total(graph, shard);
    CHECK(2 * half.total() >= whole.total());
    shard.tensor_parallel = 1;
    shard.expert_parallel = 8;
    CHECK(8 * rank_total(graph, shard).expert.total() == whole.expert.total());
    CHECK(rank_total(graph, shard).dense.total() == whole.dense.total());
  }
}

Training tokens_of_64() {
  Training training;
  training.sequence_length = 64;
  training.global_batch = 8;
  return training;
}

Strategy pipeline_of(std::int32_t stages, std::int32_t virtual_stages, Recompute recompute) {
  Strategy s;
  s.pipeline_stages = stages;
  s.virtual_stages = virtual_stages;
  s.schedule = stages == 1 ? Schedule::none : virtual_stages > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
  s.micro_batches = 8;
  s.recompute = recompute;
  return s;
}

TEST_CASE("stages add up to the network: parameters, FLOPs, saved bytes, times") {
  for (const Graph& graph : networks()) {
    if (graph.layer_count() == 1) continue;
    const Pricing pricing(graph, tokens_of_64());
    const StageCost whole = pricing.stages(pipeline_of(1, 1, {})).front();
    CHECK(whole.model_flops == graph_flops(graph, one_rank(1, 64)).total());
    for (const auto& [stages, virtual_stages] : {std::pair{2, 1}, std::pair{4, 1}, std::pair{2, 2}}) {
      INFO(graph.name() << ", pp " << stages << " x " << virtual_stages);
      StageCost sum;
      for (const StageCost& stage : pricing.stages(pipeline_of(stages, virtual_stages, {}))) {
        sum.forward += stage.forward;
        sum.backward += stage.backward;
        sum.memory.saved += stage.memory.saved;
        sum.parameters += stage.parameters;
        sum.model_flops += stage.model_flops;
        sum.units += stage.units;
      }
      CHECK(sum.forward == whole.forward);
      CHECK(sum.backward == whole.backward);
      CHECK(sum.memory.saved == whole.memory.saved);
      CHECK(sum.model_flops.value() == Approx(whole.model_flops.value()).epsilon(1e-14));
      CHECK(sum.units == whole.units);
      // The last stage holds its own copy of a tied embedding.
      CHECK(without_tied(sum.parameters).total() == parameter_count(graph));
    }
  }
}

TEST_CASE("classes add up to the device's total and causes to the step") {
  for (const Graph& graph : networks()) {
    if (graph.layer_count() == 1) continue;
    const Pricing pricing(graph, tokens_of_64());
    for (const Recompute recompute : {Recompute{}, Recompute{RecomputeMode::selective, 1},
                                      Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::every_nth, 2}}) {
      const Strategy s = pipeline_of(2, 1, recompute);
      INFO(graph.name() << ", recompute " << to_text(recompute));
      for (const MemoryBreakdown& memory : pricing.memory(s)) {
        Bytes sum(0);
        for (const Bytes bytes : memory.by_class) {
          CHECK(bytes >= Bytes(0));
          sum += bytes;
        }
        CHECK(sum == memory.device_total());
      }
      const StepTime step = pricing.step(s);
      Picoseconds sum(0);
      for (const Picoseconds time : step.breakdown.by_cause) {
        CHECK(time >= Picoseconds(0));
        sum += time;
      }
      CHECK(sum == step.total());
    }
  }
}

TEST_CASE("more recompute never keeps more and never takes less time") {
  for (const Graph& graph : networks()) {
    if (graph.layer_count() == 1) continue;
    const Pricing pricing(graph, tokens_of_64());
    const auto stage = [&](RecomputeMode mode, std::int32_t n) {
      return pricing.stages(pipeline_of(1, 1, {mode, n})).front();
    };
    const StageCost none = stage(RecomputeMode::none, 1);
    const StageCost third = stage(RecomputeMode::every_nth, 3);
    const StageCost half = stage(RecomputeMode::every_nth, 2);
    const StageCost full = stage(RecomputeMode::full, 1);
    INFO(graph.name());
    CHECK(none.recompute.total() == Picoseconds(0));
    CHECK(none.memory.saved >= third.memory.saved);
    CHECK(third.memory.saved >= half.memory.saved);
    CHECK(half.memory.saved >= full.memory.saved);
    CHECK(third.backward_total() <= half.backward_total());
    CHECK(half.backward_total() <= full.backward_total());
    CHECK(full.recompute_flops <= none.model_flops);
  }
}

}  // namespace
}  // namespace plumbline
