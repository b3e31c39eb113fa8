// What real tools got wrong (public issues, 2021 to 2026), one fact per mistake. The tool is above each.

#include "core/graph/parameter_count.h"
#include "core/training/adaptation.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline::known_mistakes_test {
namespace {

constexpr std::int64_t hidden = 256;
constexpr std::int64_t experts = 8;
constexpr std::int64_t expert_width = 128;

/// Two dense layers, then four with eight experts, two of them chosen, and a gated shared one.
LlamaShape mixture_shape() {
  LlamaShape shape{6, hidden, 8, 4, 32, 768, 4096};
  shape.experts = experts;
  shape.chosen = 2;
  shape.expert_width = expert_width;
  shape.shared_width = 256;
  shape.shared_gate = true;
  shape.dense_layers = 2;
  return shape;
}
const Block& sparse_layer(const Graph& graph) { return graph.blocks()[2]; }
const Block& dense_layer(const Graph& graph) { return graph.blocks()[1]; }

Training training_of(std::int64_t sequence) {
  Training training;
  training.sequence_length = sequence;
  training.global_batch = 64;
  return training;
}

Strategy data_parallel(std::int32_t ranks, std::int32_t zero_stage, std::int64_t micro_batches) {
  Strategy s;
  s.data_parallel = ranks;
  s.zero_stage = zero_stage;
  s.shard_group = zero_stage > 0 ? ranks : 1;
  s.micro_batches = micro_batches;
  return s;
}

Bytes saved_by(const Block& block, const Shard& shard) {
  return saved_bytes(saved_tensors(block, shard), RecomputeMode::none, Bytes(0));
}

Bytes bytes_of(const std::vector<CommunicationLine>& lines, std::string_view collective) {
  Bytes sum(0);
  for (const CommunicationLine& line : lines)
    if (line.collective == collective) sum += line.bytes_per_step;
  return sum;
}

// Megatron-Bridge #3744, Megatron-LM #4050. tp 4, ep 2, etp 2: attention and shared expert over 4, experts over 4 (ep x
// etp), norms (2 x 256), router (8 x 256) and the shared expert's gate (256) whole.
TEST_CASE("experts are divided by etp x ep, tensor-parallel weights by tp, norms and router by nothing") {
  const Graph graph = llama(mixture_shape());
  Shard shard;
  shard.tensor_parallel = 4;
  shard.expert_tensor_parallel = 2;
  for (const std::int32_t expert_parallel : {1, 2, 4}) {
    shard.expert_parallel = expert_parallel;
    const RankParameters p = rank_parameters(sparse_layer(graph), shard);
    CHECK(p.expert.total() == std::int64_t{experts} * 3 * hidden * expert_width / 2 / expert_parallel);
    const std::int64_t attention = 2 * hidden * 256 + 2 * hidden * 128;
    const std::int64_t shared = 3 * hidden * 256;
    CHECK(p.dense.total() == (attention + shared) / 4 + 2 * hidden + experts * hidden + hidden);
  }
}

// The same issues. tp 4, dp 8, ep 8, etp 1: dense states over the 8 data-parallel ranks, experts over 32 / 8 = 4.
TEST_CASE("experts' optimizer state is divided over the expert data-parallel ranks") {
  Strategy s = data_parallel(8, 1, 1);
  s.tensor_parallel = 4;
  s.sequence_parallel = SequenceParallel::on;
  s.expert_parallel = 8;
  const ShardRanks ranks = shard_ranks(s);
  CHECK(ranks.dense == 8);
  CHECK(ranks.expert == 4);
  const RankParameters p = rank_parameters(sparse_layer(llama(mixture_shape())), shard_of(s, training_of(64)));
  const ModelState state = model_state(p, precision_formats(PrecisionRecipe::bf16), Optimizer::adamw, 1, ranks);
  CHECK(state.weights == Bytes(2 * p.total()));
  CHECK(state.master_weights ==
        storage(divided(p.dense.matrix, 8) + divided(p.dense.other, 8) + divided(p.expert.matrix, 4),
                NumberFormat::fp32));
  CHECK(state.optimizer_state == 2 * state.master_weights);
}

// Hybrid sharding. dp 12, shard group 4, ep 2: six ranks hold the same experts, and groups of 4 do not divide them.
TEST_CASE("a hybrid group of experts divides the ranks that hold them") {
  Strategy s = data_parallel(12, 3, 1);
  s.shard_group = 4;
  s.expert_parallel = 2;
  CHECK(shard_ranks(s).dense == 4);
  CHECK(shard_ranks(s).expert == 2);
  s.shard_group = 6;
  CHECK(shard_ranks(s).expert == 6);
}

// Megatron-LM #6782: the all-to-all trades tokens, it does not make them fewer.
TEST_CASE("routed activations and expert FLOPs of a rank do not shrink with expert parallelism") {
  const Graph graph = llama(mixture_shape());
  Shard shard;
  shard.lengths = {2, 128};
  const Bytes saved = saved_by(sparse_layer(graph), shard);
  const Flops flops = block_flops(sparse_layer(graph), shard).total();
  for (const std::int32_t ranks : {2, 4, 8}) {
    shard.expert_parallel = ranks;
    CHECK(saved_by(sparse_layer(graph), shard) == saved);
    CHECK(block_flops(sparse_layer(graph), shard).total() == flops);
  }
}

// Megatron-Bridge #5077: 31.8 % too little in one case. Here embedding and head outweigh the layers.
TEST_CASE("the heaviest stage decides: the embedding is on the first, final norm, head and loss on the last") {
  const Pricing pricing(gpt({8, 256, 8, 50304, 128}), training_of(128));
  Strategy s;
  s.pipeline_stages = 4;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 8;
  const std::vector<StageCost> stages = pricing.stages(s);
  // 12 h^2 + 13 h per layer with biases and norms, two layers a stage.
  const std::int64_t layers = std::int64_t{2} * (12 * 256 * 256 + 13 * 256);
  const std::int64_t embedding = std::int64_t{50304} * 256;
  CHECK(stages[0].parameters.total() == layers + embedding + std::int64_t{128} * 256);
  CHECK(stages[1].parameters.total() == layers);
  CHECK(stages[2].parameters.total() == layers);
  CHECK(stages[3].parameters.total() == layers + std::int64_t{2} * 256 + embedding);
  const std::vector<MemoryBreakdown> memory = pricing.memory(s);
  for (std::size_t i = 0; i < 3; ++i) CHECK(memory[i][MemoryClass::logits_and_loss] == Bytes(0));
  CHECK(memory[3][MemoryClass::logits_and_loss] > Bytes(0));
  Bytes sum(0);
  Bytes heaviest(0);
  for (const MemoryBreakdown& stage : memory) {
    sum += stage.live();
    heaviest = std::max(heaviest, stage.live());
  }
  CHECK(heaviest > memory[1].live());
  CHECK(heaviest / (sum / std::int64_t{4}) > 1.318);
}

// Megatron-LM #1784 (moe_layer_freq, first_k_dense_replace).
TEST_CASE("dense and sparse layers are priced apart and each as often as it runs") {
  const Graph graph = llama(mixture_shape());
  CHECK(graph.layer_count() == 6);
  const Pricing pricing(graph, training_of(128));
  const StageCost stage = pricing.stages({}).front();
  const Shard shard = shard_of({}, training_of(128));
  const Bytes dense = saved_by(dense_layer(graph), shard);
  const Bytes sparse = saved_by(sparse_layer(graph), shard);
  CHECK(dense != sparse);
  CHECK(stage.memory.saved == std::int64_t{2} * dense + std::int64_t{4} * sparse + saved_by(graph.blocks()[0], shard) +
                                  saved_by(graph.blocks()[3], shard));
}

// llmfit #230. Eight times the experts: eight times their memory, the same FLOPs but for the router's 2 b s h E.
TEST_CASE("all experts take memory, the chosen ones take FLOPs") {
  LlamaShape few = mixture_shape();
  LlamaShape many = few;
  many.experts = 8 * few.experts;
  const Graph small = llama(few);
  const Graph large = llama(many);
  Shard shard;
  shard.lengths = {1, 128};
  const RankParameters p = rank_parameters(sparse_layer(small), shard);
  const RankParameters q = rank_parameters(sparse_layer(large), shard);
  CHECK(q.expert.total() == 8 * p.expert.total());
  const double router = 2.0 * 128 * hidden * static_cast<double>(many.experts - few.experts);
  CHECK(block_flops(sparse_layer(large), shard).forward.value() ==
        block_flops(sparse_layer(small), shard).forward.value() + router);
  const std::int64_t routers = 4 * hidden * (many.experts - few.experts);
  CHECK(active_parameter_count(large) == active_parameter_count(small) + routers);
  CHECK(parameter_count(large) == parameter_count(small) + routers + std::int64_t{28} * p.expert.total());
}

// DeepSpeed #5304, and a calculator that says 177 GB where 16 are used.
TEST_CASE("frozen parameters have weights, and neither gradients nor optimizer state") {
  Adaptation lora;
  lora.lora_rank = 8;
  const LlamaShape shape{8, 512, 8, 8, 64, 1376, 32000};
  const Pricing whole(llama(shape), training_of(128));
  const Pricing adapters(adapted(llama(shape), lora), training_of(128));
  const MemoryBreakdown all = whole.memory({}).front();
  const MemoryBreakdown few = adapters.memory({}).front();
  CHECK(few[MemoryClass::weights] >= all[MemoryClass::weights]);
  for (const MemoryClass c : {MemoryClass::gradients, MemoryClass::master_weights, MemoryClass::optimizer_state})
    CHECK(few[c] / all[c] < 0.02);
  CHECK(few[MemoryClass::activations] < all[MemoryClass::activations] * std::int64_t{2});
}

// mbridge: "allocated" was shown where people die at "reserved".
TEST_CASE("live, reserved and device total are three numbers, and what lies between them has a line each") {
  Strategy s = data_parallel(8, 1, 2);
  const MemoryBreakdown memory = Pricing(gpt({4, 256, 8, 1024, 128}), training_of(128)).memory(s).front();
  CHECK(memory[MemoryClass::fragmentation] > Bytes(0));
  CHECK(memory[MemoryClass::communication_buffers] > Bytes(0));
  CHECK(memory[MemoryClass::framework_and_context] > Bytes(0));
  CHECK(memory.reserved() == memory.live() + memory[MemoryClass::fragmentation]);
  CHECK(memory.device_total() ==
        memory.reserved() + memory[MemoryClass::communication_buffers] + memory[MemoryClass::framework_and_context]);
}

// PyTorch FSDP2: two all-gather buffers in flight, two unsharded gradients waiting for their reduce-scatter; the two
// are of neighbours, so that the embedding is alongside a layer and never alongside itself.
TEST_CASE("fully sharded states still peak with two gathered units and two gradient buffers") {
  const Graph graph = llama({8, 512, 8, 8, 64, 1376, 32000});
  const Pricing pricing(graph, training_of(128));
  std::int64_t largest = 0;
  std::int64_t layer = 0;
  for (const Block& block : graph.blocks()) {
    largest = std::max(largest, parameter_count(block));
    if (block.kind() == BlockKind::layer) layer = parameter_count(block);
  }
  const auto gathered = [&](std::int32_t zero_stage) {
    return pricing.memory(data_parallel(8, zero_stage, 2)).front()[MemoryClass::gathered_parameters];
  };
  CHECK(gathered(0) == Bytes(0));
  CHECK(gathered(1) == Bytes(0));
  CHECK(gathered(2) == Bytes(2 * (largest + layer)));
  CHECK(gathered(3) == Bytes(2 * (largest + layer) + 2 * (largest + layer)));
}

// EleutherAI cookbook: 652.8 GiB of fp32 gradients per GPU for GPT-3 at tp 8, pp 8. 174.6e9 x 4 bytes / 64 = 10.2 GiB.
TEST_CASE("gradients are divided by tensor and pipeline parallelism") {
  Training training = training_of(2048);
  training.gradient_format = NumberFormat::fp32;
  const Graph graph = gpt({96, 12288, 96, 51200, 2048});
  Strategy s;
  s.tensor_parallel = 8;
  s.pipeline_stages = 8;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 64;
  Bytes sum(0);
  for (const MemoryBreakdown& memory : Pricing(graph, training).memory(s)) {
    const double gib = memory[MemoryClass::gradients] / 1_GiB;
    INFO(gib << " GiB");
    CHECK(gib > 10.1);
    CHECK(gib < 10.6);
    sum += memory[MemoryClass::gradients];
  }
  // Beyond the network: the head's copy of the embedding, and per rank what is whole (norms, biases, positions).
  const double excess = 8.0 * static_cast<double>(sum.value()) / (4.0 * static_cast<double>(parameter_count(graph)));
  CHECK(excess > 1);
  CHECK(excess < 1.006);
}

// llm-analysis: gathers were charged at every stage and micro-batch of ZeRO-1.
TEST_CASE("parameters are gathered per micro-batch only where they are sharded") {
  const Pricing pricing(llama({8, 512, 8, 8, 64, 1376, 32000}), training_of(128));
  const auto gathers = [&](std::int32_t zero_stage, std::int64_t micro_batches) {
    return bytes_of(pricing.communication(data_parallel(8, zero_stage, micro_batches)), "all_gather");
  };
  CHECK(gathers(0, 8) == Bytes(0));
  for (const std::int32_t stage : {1, 2}) {
    CHECK(gathers(stage, 1) > Bytes(0));
    CHECK(gathers(stage, 8) == gathers(stage, 1));
  }
  CHECK(gathers(3, 1) == std::int64_t{2} * gathers(1, 1));
  CHECK(gathers(3, 8) == std::int64_t{8} * gathers(3, 1));
  const auto exposed = [&](std::int32_t zero_stage, std::int64_t micro_batches) {
    return pricing.step(data_parallel(8, zero_stage, micro_batches)).breakdown[TimeCause::data_parallel];
  };
  CHECK(exposed(1, 8) == exposed(1, 4));
  CHECK(exposed(1, 8) <= exposed(1, 1));  // a single backward adds nothing up, so it hides a little less
  CHECK(exposed(3, 8) > exposed(3, 2));
}

// huggingface/blog #1649: 6 N D was taken as time.
TEST_CASE("a step takes longer than 6 N D at the peak, and communication, recompute and waiting are named parts") {
  const Graph graph = llama({16, 4096, 32, 8, 128, 14336, 32000});
  const Pricing pricing(graph, training_of(4096));
  Strategy s;
  s.tensor_parallel = 4;
  s.pipeline_stages = 4;
  s.data_parallel = 4;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 8;
  const double tokens = 4096.0 * static_cast<double>(s.micro_batches * s.data_parallel);
  const double six_nd = 6 * static_cast<double>(parameter_count(graph)) * tokens / static_cast<double>(s.devices());
  const double at_peak = six_nd / 989e12;
  const StepTime plain = pricing.step(s);
  s.recompute.mode = RecomputeMode::full;
  const StepTime recomputed = pricing.step(s);
  CHECK(to_seconds(plain.total()).value() > 1.2 * at_peak);
  for (const TimeCause cause : {TimeCause::compute, TimeCause::tensor_parallel, TimeCause::data_parallel,
                                TimeCause::pipeline_bubble, TimeCause::optimizer})
    CHECK(plain.breakdown[cause] > Picoseconds(0));
  CHECK(plain.breakdown[TimeCause::recompute] == Picoseconds(0));
  // A forward more where there were one and a backward of two.
  CHECK(recomputed.breakdown[TimeCause::recompute] / plain.breakdown[TimeCause::compute] > 0.25);
  CHECK(recomputed.total() > plain.total());
}

KernelClock round_clock() { return {round_cluster(1).groups.front().node.device, round_calibration()}; }

// miles #2353, torchtitan: the sparse peak was used.
TEST_CASE("no product beats the dense peak") {
  const KernelClock clock = round_clock();
  for (const std::int64_t m : {1, 100, 4096, 65536})
    for (const std::int64_t n : {64, 1000, 12288})
      for (const std::int64_t k : {64, 4096, 49152}) {
        const MatrixProduct product{1, m, n, k};
        CHECK(clock.product(product, NumberFormat::bf16).value() > product.flops().value() / 989e12);
      }
}

// The same: the catalogue's peaks are the datasheets' dense ones, half of what "with sparsity" says, and the power
// limit is alongside them (one published H100 table is at 500 W).
TEST_CASE("the catalogue holds dense peaks with the power limit that they belong to") {
  struct Dense {
    const char* machine;
    double bf16;
    double watts;
  };
  for (const Dense& dense : {Dense{"dgx-a100-80g", 312e12, 400}, Dense{"dgx-h100", 989.4e12, 700},
                             Dense{"dgx-h200", 989.4e12, 700}, Dense{"dgx-b200", 2250e12, 1000}}) {
    const Device device = find_machine(dense.machine).groups.front().node.device;
    INFO(dense.machine);
    REQUIRE(device.peak(NumberFormat::bf16));
    CHECK(device.peak(NumberFormat::bf16)->value() == Approx(dense.bf16).epsilon(0.005));
    CHECK(device.power.value.value() == dense.watts);
  }
}

// inference-sim #436: one utilisation for every product.
TEST_CASE("efficiency depends on the shape of a product") {
  const KernelClock clock = round_clock();
  const auto rate = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const MatrixProduct product{1, m, n, k};
    return product.flops().value() / clock.product(product, NumberFormat::bf16).value();
  };
  CHECK(rate(8192, 8192, 8192) > 0.6 * 989e12);
  CHECK(rate(8192, 8192, 8192) > 1.5 * rate(8192, 8192, 128));  // a short inner dimension
  CHECK(rate(8192, 8192, 8192) > 3 * rate(128, 128, 8192));     // one wave that leaves most units idle
  CHECK(rate(8192, 8192, 8192) > 10 * rate(8, 8192, 8192));     // bound by memory
}

// Calculon: data-parallel time knew neither group size nor topology, and one latency stood for all steps of a ring.
TEST_CASE("a collective's time depends on its ranks, their places and every step's latency") {
  const CommunicationClock clock(round_cluster(64));
  const auto time = [&](Bytes bytes, std::int32_t size, std::int32_t stride) {
    return clock.time(Collective::all_reduce, bytes, RankGroup{size, stride}).value();
  };
  for (const Bytes bytes : {1_GiB, 64_MiB}) {
    CHECK(time(bytes, 8, 1) < time(bytes, 8, 8));   // inside a node, across eight
    CHECK(time(bytes, 2, 1) < time(bytes, 8, 1));   // (n - 1) / n of the bytes
    CHECK(time(bytes, 8, 8) < time(bytes, 64, 8));  // more nodes
  }
  CHECK(time(1_KiB, 4, 8) < time(1_KiB, 16, 8));
  CHECK(time(1_KiB, 16, 8) < time(1_KiB, 64, 8));
  CHECK(time(1_GiB, 1, 1) == 0);
}

// ColossalAI #2853, torchtitan #3975: every layer was solved again.
TEST_CASE("identical layers are held, priced and laid out once") {
  const Graph graph = gpt({96, 256, 8, 1024, 128});
  CHECK(graph.blocks().size() == 3);
  CHECK(graph.sequence().size() == 98);
  const StageLayout layout = stage_layout(graph, split_into_chunks(graph, 16), 16, {});
  CHECK(layout.of_rank.size() == 16);
  CHECK(layout.distinct.size() == 3);
  CHECK(layout.distinct[1].executions == std::vector<std::int32_t>{0, 6, 0});
}

}  // namespace
}  // namespace plumbline::known_mistakes_test
