// What frameworks hold alongside the textbook's bytes, each against a published account.

#include "core/cost/stage_memory.h"

#include <tuple>

#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline::framework_memory_test {
namespace {

constexpr std::int64_t sequence = 512;

struct Run {
  Graph graph = gpt({8, 1024, 16, 32000, sequence});
  Strategy strategy;
  Training training;
  Calibration calibration = round_calibration();
  DeviceArchitecture architecture = DeviceArchitecture::hopper;

  Run() {
    strategy.flash_attention = FlashAttention::on;
    training.sequence_length = sequence;
    training.global_batch = 64;
  }
  [[nodiscard]] std::vector<BlockCost> blocks() const {
    Cluster cluster = round_cluster(4);
    cluster.groups.front().node.device.architecture = architecture;
    const BlockPricer pricer(cluster, calibration);
    std::vector<BlockCost> costs;
    for (const Block& block : graph.blocks())
      costs.push_back(pricer.price(block, shard_of(strategy, training), block_groups(strategy)));
    return costs;
  }
  [[nodiscard]] MemoryBreakdown rank(std::int32_t index) const {
    const StageLayout layout =
        stage_layout(graph, split_into_chunks(graph, strategy.chunks()), strategy.pipeline_stages, strategy.recompute);
    const StageTable stages(graph, layout, blocks());
    return stage_memory(stages[static_cast<std::size_t>(index)], rank_load(stages, strategy, index, std::nullopt),
                        strategy, training.formats(), training.optimizer, calibration.stack);
  }
};

double bytes_per_parameter(const MemoryBreakdown& memory) {
  const double parameters = memory[MemoryClass::weights] / Bytes(2);
  const Bytes states = memory[MemoryClass::weights] + memory[MemoryClass::gradients] +
                       memory[MemoryClass::master_weights] + memory[MemoryClass::optimizer_state];
  return states / Bytes(1) / parameters;
}

// BLOOM's bf16 optimizer: 2 + 2 + 4 bytes and 12 over the ranks; DeepSpeed's ZeRO 1 in fp16: 2 + 2 and 16 over them
// (BigScience's chronicles: 176 billion parameters in bf16 take 4 bytes each more than in fp16).
TEST_CASE("DeepSpeed's copies of gradients: 8 + 12/dp bytes a parameter in bf16, 4 + 16/dp in fp16") {
  Run run;
  run.calibration.stack.memory.copied_gradient_bytes.value = 2;
  run.calibration.stack.memory.updated_gradient_bytes.value = 4;
  run.strategy.zero_stage = 1;
  run.strategy.data_parallel = 8;
  run.strategy.shard_group = 8;
  run.training.precision = PrecisionRecipe::bf16;
  run.training.gradient_format = NumberFormat::fp32;
  CHECK(bytes_per_parameter(run.rank(0)) == Approx(8 + 12.0 / 8).epsilon(1e-6));
  run.training.precision = PrecisionRecipe::fp16;
  run.training.gradient_format = {};
  CHECK(bytes_per_parameter(run.rank(0)) == Approx(4 + 16.0 / 8).epsilon(1e-6));
}

// DeepSpeed's pipeline engine holds what a stage sent until its backward; Megatron frees it (deallocate_output_tensor).
TEST_CASE("kept outputs: one activation more per micro-batch in flight, on all stages but the last") {
  Run run;
  run.strategy.pipeline_stages = 4;
  run.strategy.schedule = Schedule::one_f_one_b;
  run.strategy.micro_batches = 8;
  Run keeps = run;
  keeps.calibration.stack.features.stage_outputs = StageOutputs::kept;
  const Bytes activation(2 * sequence * 1024);
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const Bytes more = keeps.rank(rank)[MemoryClass::activations] - run.rank(rank)[MemoryClass::activations];
    CHECK(more == (rank == 3 ? Bytes(0) : std::int64_t{4 - rank} * activation));
  }
}

// Transformer Engine: bf16 weights and their fp8 copies by row and column, 4 bytes; with fp8_param_gather the weight is
// fp8 itself and one copy is left, 2 bytes; without a cached transpose 1.
TEST_CASE("an fp8 product's weight takes 4 bytes, 2 where it is fp8 itself, 1 without its transpose") {
  const auto states = [](QuantizedWeights parameters, QuantizedCopies copies) {
    Run run;
    run.training.precision = PrecisionRecipe::fp8;
    run.calibration.stack.features.fp8_parameters = parameters;
    run.calibration.stack.features.fp8_copies = copies;
    const MemoryBreakdown memory = run.rank(0);
    return memory[MemoryClass::weights] + memory[MemoryClass::working_buffers];
  };
  const Bytes products(std::int64_t{8} * 12 * 1024 * 1024);
  const Bytes both = states(QuantizedWeights::with_16_bit, QuantizedCopies::two);
  CHECK(both - states(QuantizedWeights::alone, QuantizedCopies::one) == 2 * products);
  CHECK(both - states(QuantizedWeights::alone, QuantizedCopies::none) == 3 * products);
}

// Blackwell's products read fp8 operands of one scale in any layout, so that no transpose is made; blocks of 32 numbers
// along the summed dimension have scales of their own in each orientation (Transformer Engine, mxfp8 tensors).
TEST_CASE("on Blackwell an fp8 product's weight has no transposed copy, unless its scales follow the layout") {
  const auto states = [](PrecisionRecipe recipe, QuantizedWeights parameters, QuantizedCopies copies) {
    Run run;
    run.training.precision = recipe;
    run.architecture = DeviceArchitecture::blackwell;
    run.calibration.stack.features.fp8_parameters = parameters;
    run.calibration.stack.features.fp8_copies = copies;
    const MemoryBreakdown memory = run.rank(0);
    return memory[MemoryClass::weights] + memory[MemoryClass::working_buffers];
  };
  const Bytes products(std::int64_t{8} * 12 * 1024 * 1024);
  constexpr QuantizedWeights with_16_bit = QuantizedWeights::with_16_bit;
  constexpr QuantizedWeights alone = QuantizedWeights::alone;
  for (const PrecisionRecipe recipe : {PrecisionRecipe::fp8, PrecisionRecipe::fp8_delayed}) {
    const Bytes none = states(recipe, with_16_bit, QuantizedCopies::none);
    CHECK(states(recipe, with_16_bit, QuantizedCopies::one) - none == products);
    CHECK(states(recipe, with_16_bit, QuantizedCopies::two) - none == products);
    CHECK(states(recipe, alone, QuantizedCopies::one) == states(recipe, alone, QuantizedCopies::none));
  }
  const Bytes none = states(PrecisionRecipe::mxfp8, with_16_bit, QuantizedCopies::none);
  CHECK(states(PrecisionRecipe::mxfp8, with_16_bit, QuantizedCopies::two) - none == 2 * products);
}

// The same under NVFP4, which is alongside 16-bit weights (Megatron-Bridge's bf16_with_nvfp4_mixed: no parameters
// in fp4).
TEST_CASE("an nvfp4 product's weight takes 2 bytes and half a byte for each copy, whatever stands in fp8 alone") {
  const auto states = [](PrecisionRecipe recipe, QuantizedWeights parameters, QuantizedCopies copies) {
    Run run;
    run.training.precision = recipe;
    run.calibration.stack.features.fp8_parameters = parameters;
    run.calibration.stack.features.fp8_copies = copies;
    const MemoryBreakdown memory = run.rank(0);
    return memory[MemoryClass::weights] + memory[MemoryClass::working_buffers];
  };
  const Bytes products(std::int64_t{8} * 12 * 1024 * 1024);
  constexpr QuantizedWeights with_16_bit = QuantizedWeights::with_16_bit;
  const Bytes none = states(PrecisionRecipe::nvfp4, with_16_bit, QuantizedCopies::none);
  const Bytes two = states(PrecisionRecipe::nvfp4, with_16_bit, QuantizedCopies::two);
  CHECK(states(PrecisionRecipe::fp8, with_16_bit, QuantizedCopies::two) - two == products);
  CHECK(two - none == products);
  CHECK(states(PrecisionRecipe::nvfp4, QuantizedWeights::alone, QuantizedCopies::none) == none);
}

// Transformer Engine reads a tensor twice to cast it to NVFP4, once to mxfp8, and writes 9/16 of a byte for 33/32.
TEST_CASE("at the same rate of products, nvfp4 takes longer than mxfp8 by 17/16 bytes of casts an element") {
  const auto price = [](PrecisionRecipe recipe) {
    Run run;
    run.training.precision = recipe;
    Cluster cluster = round_cluster(4);
    Device& device = cluster.groups.front().node.device;
    device.peaks[NumberFormat::fp4] = device.peaks[NumberFormat::fp8_e4m3];
    const BlockPricer pricer(cluster, run.calibration);
    const Block& layer = run.graph.blocks()[static_cast<std::size_t>(run.graph.sequence()[1].index())];
    Shard shard = shard_of(run.strategy, run.training);
    shard.kept.product_inputs = ProductInputs::as_multiplied;
    const BlockCost cost = pricer.price(layer, shard, block_groups(run.strategy));
    const double rate = device.memory_bandwidth.value.value() * run.calibration.device.bandwidth_fraction;
    return std::tuple(cost.forward.compute, cost.backward.compute, rate);
  };
  const auto [forward4, backward4, rate] = price(PrecisionRecipe::nvfp4);
  const auto [forward8, backward8, same] = price(PrecisionRecipe::mxfp8);
  // Inputs of a GPT layer's four linears: h, h, h, 4h; gradients of their outputs: 3h, h, 4h, h.
  const double bytes = 17.0 / 16 * sequence * 1024;
  CHECK(to_seconds(forward4 - forward8).value() == Approx(7 * bytes / rate).epsilon(1e-3));
  CHECK(to_seconds(backward4 - backward8).value() == Approx(9 * bytes / rate).epsilon(1e-3));
}

// DeepSpeed's cpu_checkpointing: of 8 layers' inputs one is on the device; each crosses the bus there and back.
TEST_CASE("checkpoints on the host leave the device one layer's input and cost two copies a layer") {
  Run run;
  run.strategy.recompute = {RecomputeMode::full, 1};
  Run host = run;
  host.calibration.stack.features.layer_checkpoints = LayerCheckpoints::on_host;
  const Bytes input(2 * sequence * 1024);
  const auto held = [](const Run& of) {
    const MemoryBreakdown memory = of.rank(0);
    return memory[MemoryClass::activations] + memory[MemoryClass::working_buffers];
  };
  CHECK(held(run) - held(host) == 7 * input);

  Cluster cluster = round_cluster(4);
  cluster.groups.front().node.pcie_bandwidth.value = BytesPerSecond(1e9);
  const auto cost_of = [&](const Run& of) {
    const BlockPricer pricer(cluster, of.calibration);
    const Block& layer = of.graph.blocks()[static_cast<std::size_t>(of.graph.sequence()[1].index())];
    return pricer.price(layer, shard_of(of.strategy, of.training), block_groups(of.strategy));
  };
  const BlockCost on_host = cost_of(host);
  CHECK(on_host.variant(Variant::full).memory.on_host == input);
  CHECK(on_host.times(Variant::full).recompute.total() == cost_of(run).times(Variant::full).recompute.total());
  CHECK(on_host.times(Variant::full).copies.total() ==
        to_picoseconds(Seconds(2.0 * static_cast<double>(input.value()) / 1e9)));
}

// PyTorch's FSDP: 4 bytes of parameter, 4 of gradient, 8 of moments, whatever gradients are reduced in; the textbook
// would add 2 of weight to 32-bit gradients.
TEST_CASE("sharded masters: 16 bytes a parameter over the ranks, whatever is reduced") {
  const auto states = [](ShardedStates sharded, std::optional<NumberFormat> gradient) {
    Run run;
    run.strategy.zero_stage = 3;
    run.strategy.data_parallel = 8;
    run.strategy.shard_group = 8;
    run.training.precision = PrecisionRecipe::bf16;
    run.training.gradient_format = gradient;
    run.calibration.stack.features.sharded_states = sharded;
    const MemoryBreakdown memory = run.rank(0);
    const Bytes sum = memory[MemoryClass::weights] + memory[MemoryClass::gradients] +
                      memory[MemoryClass::master_weights] + memory[MemoryClass::optimizer_state];
    return sum / memory[MemoryClass::master_weights] * 4;
  };
  CHECK(states(ShardedStates::masters, NumberFormat::fp32) == Approx(16));
  CHECK(states(ShardedStates::masters, std::nullopt) == Approx(16));
  CHECK(states(ShardedStates::of_recipe, NumberFormat::fp32) == Approx(18));
}

// Megatron's cpu_offloading_num_layers: the activations of 3 of 8 layers wait on the host. The peak is where the last
// layer begins its backward, and the first three are gone. All 8: the layer at work has its own, what left before is
// still copied out, what comes next is copied in.
TEST_CASE(
    "offloaded activations leave the device but for three layers at work, and show where the copy is slower than the "
    "layer") {
  Run run;
  Run offloads = run;
  offloads.strategy.recompute = {RecomputeMode::offloaded, 3};
  const auto held = [](const Run& of) {
    const MemoryBreakdown memory = of.rank(0);
    return memory[MemoryClass::activations] + memory[MemoryClass::working_buffers];
  };
  const BlockCost layer = run.blocks()[static_cast<std::size_t>(run.graph.sequence()[1].index())];
  const Bytes saved = layer.memory().saved;
  CHECK(held(run) - held(offloads) == 3 * saved);
  Run all = run;
  all.strategy.recompute = {RecomputeMode::offloaded, 8};
  CHECK(held(run) - held(all) <= 8 * saved);
  CHECK(held(run) - held(all) >= 5 * saved);

  const auto shown = [&](double bytes_per_second) {
    Cluster cluster = round_cluster(4);
    cluster.groups.front().node.pcie_bandwidth.value = BytesPerSecond(bytes_per_second);
    const BlockPricer pricer(cluster, run.calibration);
    const Block& block = run.graph.blocks()[static_cast<std::size_t>(run.graph.sequence()[1].index())];
    return pricer.price(block, shard_of(run.strategy, run.training), block_groups(run.strategy))
        .times(Variant::offloaded)
        .copies.total();
  };
  const Picoseconds copy = to_picoseconds(Seconds(static_cast<double>(saved.value()) / 1e9));
  CHECK(shown(1e9) == copy - layer.forward.total() + copy - layer.backward.total());
  CHECK(shown(1e15) == Picoseconds(0));
}

// DeepSpeed gathers module by module (stage3_max_live_parameters) and reduces by bucket.
TEST_CASE("a stack may bound what is gathered: fewer parameters and gradients than two units") {
  Run run;
  run.strategy.zero_stage = 3;
  run.strategy.data_parallel = 8;
  run.strategy.shard_group = 8;
  run.calibration.stack.sharding.gathered_parameters.value = 1e6;
  run.calibration.stack.sharding.gathered_gradients.value = 5e5;
  CHECK(run.rank(0)[MemoryClass::gathered_parameters] == Bytes(2 * 1'000'000 + 2 * 500'000));
}

// A head's logits are gone when the last layer's backward begins.
TEST_CASE("logits and a layer's replay never stand side by side") {
  Run run;
  run.strategy.recompute = {RecomputeMode::full, 1};
  run.calibration.stack.features.logits = LogitLifetime::next_backward;
  const auto both = [&](double bytes_per_logit) {
    run.calibration.stack.memory.logit_bytes.value = bytes_per_logit;
    const MemoryBreakdown memory = run.rank(0);
    return memory[MemoryClass::logits_and_loss] + memory[MemoryClass::working_buffers];
  };
  const Bytes layer = both(0);
  const Bytes logits(12 * sequence * 32000);
  REQUIRE(layer < logits);
  const Bytes head = both(12) - logits;
  CHECK(head < layer);
  CHECK(both(0.25) == layer);
}

// 512 tokens x 32 000 logits, and three fp32 numbers a token.
TEST_CASE("logits that stay until their own backward take what the graph stores of them, and what is priced beyond") {
  const auto logits = [](PrecisionRecipe recipe, double bytes_per_logit) {
    Run run;
    run.training.precision = recipe;
    run.calibration.stack.features.logits = LogitLifetime::own_backward;
    run.calibration.stack.memory.logit_bytes.value = bytes_per_logit;
    return run.rank(0)[MemoryClass::logits_and_loss] - Bytes(std::int64_t{12} * sequence);
  };
  constexpr std::int64_t count = sequence * 32000;
  CHECK(logits(PrecisionRecipe::bf16, 0) == Bytes(2 * count));
  CHECK(logits(PrecisionRecipe::fp16, 0) == Bytes(2 * count));
  CHECK(logits(PrecisionRecipe::fp8, 0) == Bytes(2 * count));
  CHECK(logits(PrecisionRecipe::fp32, 0) == Bytes(4 * count));
  CHECK(logits(PrecisionRecipe::bf16, 12) == Bytes(12 * count));
}

/// Of bf16 weights and gradients of a layer-wise FSDP on 8 ranks.
Bytes gathered_units(bool tied) {
  Run run;
  LlamaShape shape;
  shape.layers = 8;
  shape.hidden = 1024;
  shape.heads = shape.kv_heads = 16;
  shape.head_dim = 64;
  shape.width = 2816;
  shape.vocabulary = 32000;
  shape.tied = tied;
  run.graph = llama(shape);
  run.strategy.zero_stage = 3;
  run.strategy.data_parallel = 8;
  run.strategy.shard_group = 8;
  return run.rank(0)[MemoryClass::gathered_parameters];
}

constexpr std::int64_t llama_layer = 4 * 1024 * 1024 + 3 * 1024 * 2816 + 2 * 1024;
constexpr std::int64_t llama_embedding = std::int64_t{32000} * 1024;
constexpr std::int64_t last_norm = 1024;

// FSDP holds the unit in use and its prefetched neighbour; embedding and head are at the two ends of the network.
TEST_CASE("two neighbouring units are gathered: the head and a layer, not two embeddings") {
  CHECK(gathered_units(false).value() == (2 + 2) * (llama_layer + llama_embedding + last_norm));
}

// PyTorch's FSDP asks that a shared parameter lie in the outermost unit, which stays whole from forward to backward.
TEST_CASE("a tied embedding stays whole alongside two layers") {
  CHECK(gathered_units(true).value() == (2 + 2) * (2 * llama_layer + llama_embedding));
}

}  // namespace
}  // namespace plumbline::framework_memory_test
