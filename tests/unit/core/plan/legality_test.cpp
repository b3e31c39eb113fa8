// Each rule: what breaks it, with the numbers that the user reads, and what is just legal.

#include "core/plan/legality.h"

#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

/// A question with one answer that breaks nothing: 16 GPUs, 8 per node, 32 sequences of 4096 tokens.
struct Question {
  Strategy strategy;
  Training training;
  Divisibility facts;
  LegalityLimits limits{16, 8, false};

  Question() {
    strategy.tensor_parallel = 4;
    strategy.data_parallel = 4;
    strategy.micro_batches = 8;
    training.sequence_length = 4096;
    training.global_batch = 32;
    LlamaShape shape{24, 1024, 16, 8, 64, 2816, 32000};
    facts = divisibility(llama(shape));
  }
  void use_experts() {
    LlamaShape shape{24, 1024, 16, 8, 64, 2816, 32000};
    shape.experts = 8;
    shape.chosen = 2;
    shape.expert_width = 1408;
    facts = divisibility(llama(shape));
    strategy.sequence_parallel = SequenceParallel::on;
  }
  void use_pipeline(std::int32_t stages) {
    strategy.pipeline_stages = stages;
    strategy.schedule = Schedule::one_f_one_b;
    strategy.data_parallel = 4 / stages;
    strategy.micro_batches = std::int64_t{8} * stages;
  }
  /// "R06: dp 3 ..." or "legal".
  [[nodiscard]] std::string answer() const {
    const auto violation = first_violation(strategy, training, facts, limits);
    return violation ? std::string(violation->rule.id) + ": " + violation->what : "legal";
  }
};

TEST_CASE("the question that the other tests break is legal") {
  CHECK(Question().answer() == "legal");
  Question pipeline;
  pipeline.use_pipeline(2);
  CHECK(pipeline.answer() == "legal");
  Question experts;
  experts.use_experts();
  experts.strategy.expert_parallel = 8;
  CHECK(experts.answer() == "legal");
}

TEST_CASE("every rule has an id of its own and a sentence") {
  std::set<std::string_view> ids;
  for (const LegalityRule& rule : legality_rules()) {
    CHECK(rule.id.size() == 3);
    CHECK(rule.sentence.size() > 15);
    ids.insert(rule.id);
  }
  CHECK(ids.size() == legality_rules().size());
}

TEST_CASE("R01: the degrees multiply up to the GPU count") {
  CHECK(legality_rules().front().sentence == "the degrees multiply up to the GPU count");
  Question q;
  q.limits.devices = 24;
  CHECK(q.answer() == "R01: tp 4 x cp 1 x pp 1 x dp 4 = 16, not 24 GPUs");
}

TEST_CASE("R01: a degree below one is refused before anything is divided by it") {
  for (std::int32_t Strategy::*degree :
       {&Strategy::pipeline_stages, &Strategy::tensor_parallel, &Strategy::context_parallel, &Strategy::data_parallel,
        &Strategy::expert_parallel, &Strategy::expert_tensor_parallel, &Strategy::virtual_stages}) {
    for (const std::int32_t absurd : {0, -1, -8}) {
      Question q;
      q.strategy.*degree = absurd;
      CHECK(q.answer() == "R01: a degree of " + std::to_string(absurd));
    }
  }
}

TEST_CASE("R02: tensor parallelism stays inside the fast interconnect unless the policy is lifted") {
  Question q;
  q.strategy.tensor_parallel = 16;
  q.strategy.data_parallel = 1;
  q.strategy.micro_batches = 32;
  CHECK(q.answer() == "R02: tp 16 does not divide the 8 GPUs that share the fast interconnect");
  q.limits.tensor_parallel_across_domains = true;
  CHECK(q.answer() == "legal");
}

TEST_CASE("R03: tensor parallelism divides attention heads") {
  Question q;
  LlamaShape shape{24, 1024, 18, 6, 64, 2816, 32000};
  q.facts = divisibility(llama(shape));
  CHECK(q.answer() == "R03: 18 attention heads do not divide over tp 4");
}

TEST_CASE("R03: tensor parallelism divides inner widths") {
  Question q;
  LlamaShape shape{24, 1024, 16, 8, 64, 2814, 32000};
  q.facts = divisibility(llama(shape));
  CHECK(q.answer() == "R03: 2814 features of an inner layer do not divide over tp 4");
}

TEST_CASE("R04: kv heads divide over tensor parallelism or are replicated by it") {
  Question q;
  LlamaShape shape{24, 1024, 24, 6, 64, 2816, 32000};
  q.facts = divisibility(llama(shape));
  CHECK(q.answer() == "R04: 6 kv heads do not divide over tp 4");
  shape.kv_heads = 2;
  q.facts = divisibility(llama(shape));
  CHECK(q.answer() == "legal");
}

TEST_CASE("R05: context parallelism divides the sequence twice over") {
  Question q;
  q.strategy.context_parallel = 4;
  q.strategy.data_parallel = 1;
  q.strategy.micro_batches = 32;
  CHECK(q.answer() == "legal");
  q.training.sequence_length = 4100;
  CHECK(q.answer() == "R05: 4100 tokens do not divide over 2 x cp 8");
}

TEST_CASE("R05: sequence parallelism divides the sequence over tensor and context parallelism") {
  Question q;
  q.strategy.sequence_parallel = SequenceParallel::on;
  q.training.sequence_length = 4098;
  CHECK(q.answer() == "R05: 4098 tokens do not divide over tp x cp 4");
}

TEST_CASE("R05: a network without sequences has none to divide") {
  Question q;
  q.facts.sequence_symbol = false;
  q.strategy.context_parallel = 2;
  q.strategy.data_parallel = 2;
  q.strategy.micro_batches = 16;
  CHECK(q.answer() == "R05: cp 2 for a network without sequences");
}

TEST_CASE("R06: data parallelism and micro-batches make up the global batch") {
  Question q;
  q.training.global_batch = 33;
  CHECK(q.answer() == "R06: dp 4 x micro-batch 1 x 8 micro-batches is not the global batch of 33");
  q.strategy.micro_batch = 0;
  CHECK(q.answer() == "R06: dp 4 x micro-batch 0 x 8 micro-batches is not the global batch of 33");
}

TEST_CASE("R07: every pipeline chunk holds a layer, the embedding or the head") {
  Question q;
  q.use_pipeline(4);
  q.facts = divisibility(llama({2, 1024, 16, 8, 64, 2816, 32000}));
  CHECK(q.answer() == "legal");
  q.facts = divisibility(llama({1, 1024, 16, 8, 64, 2816, 32000}));
  CHECK(q.answer() == "R07: pp 4 x 1 virtual stages for 1 layers");
}

TEST_CASE("R07: layers that no rule of the split divides are not refused") {
  Question q;
  q.use_pipeline(4);
  for (std::int64_t layers = 2; layers <= 40; ++layers) {
    q.facts.layers = layers;
    CHECK(q.answer() == "legal");
  }
}

TEST_CASE("R09: interleaving needs two virtual stages and micro-batches in multiples of the stages") {
  Question q;
  q.use_pipeline(4);
  q.strategy.schedule = Schedule::interleaved;
  CHECK(q.answer() == "R09: the interleaved schedule with 1 virtual stage");
  q.strategy.virtual_stages = 2;
  CHECK(q.answer() == "legal");
  q.strategy.micro_batches = q.training.global_batch = 30;
  CHECK(q.answer() == "R09: 30 micro-batches are no multiple of pp 4");
}

TEST_CASE("R11: schedules placed as a V need exactly two virtual stages, DualPipeV a micro-batch for each stage") {
  Question q;
  q.use_pipeline(4);
  for (const Schedule schedule : {Schedule::zbv, Schedule::v_half, Schedule::dualpipev}) {
    q.strategy.schedule = schedule;
    q.strategy.virtual_stages = 1;
    CHECK(q.answer() == "R11: the schedule " + std::string(to_text(schedule)) + " with 1 virtual stage");
    q.strategy.virtual_stages = 3;
    CHECK(q.answer() == "R11: the schedule " + std::string(to_text(schedule)) + " with 3 virtual stages");
    q.strategy.virtual_stages = 2;
    CHECK(q.answer() == "legal");
  }
  q.strategy.micro_batches = 7;
  q.training.global_batch = 7;
  CHECK(q.answer() == "R11: 7 micro-batches are fewer than the 8 stages of dualpipev");
  q.strategy.schedule = Schedule::v_half;
  CHECK(q.answer() == "legal");
}

TEST_CASE("ZB-H1 and ZB-H2 are legal with any number of micro-batches and one virtual stage") {
  Question q;
  q.use_pipeline(4);
  for (const Schedule schedule : {Schedule::zb_h1, Schedule::zb_h2}) {
    q.strategy.schedule = schedule;
    q.strategy.virtual_stages = 1;
    CHECK(q.answer() == "legal");
    q.strategy.virtual_stages = 2;
    CHECK(q.answer() == "R12: 2 virtual stages without the interleaved schedule");
  }
}

TEST_CASE("R12: a schedule goes with two stages or more, virtual stages with interleaving") {
  Question q;
  q.strategy.schedule = Schedule::one_f_one_b;
  CHECK(q.answer() == "R12: a pipeline schedule with 1 stage");
  q.use_pipeline(2);
  q.strategy.schedule = Schedule::none;
  CHECK(q.answer() == "R12: no pipeline schedule with pp 2");
  q.strategy.schedule = Schedule::gpipe;
  CHECK(q.answer() == "legal");
  q.strategy.virtual_stages = 3;
  CHECK(q.answer() == "R12: 3 virtual stages without the interleaved schedule");
}

TEST_CASE("R13: ZeRO stages are 0 to 3") {
  Question q;
  for (const std::int32_t absurd : {-1, 4}) {
    q.strategy.zero_stage = absurd;
    CHECK(q.answer() == "R13: ZeRO stage " + std::to_string(absurd));
  }
}

TEST_CASE("R14: the shard group divides the data-parallel ranks and goes with ZeRO") {
  Question q;
  q.strategy.zero_stage = 3;
  q.strategy.shard_group = 3;
  CHECK(q.answer() == "R14: a shard group of 3 among 4 ranks");
  q.strategy.shard_group = 0;
  CHECK(q.answer() == "R14: a shard group of 0 among 4 ranks");
  q.strategy.shard_group = 1;
  CHECK(q.answer() == "R14: ZeRO-3 over a shard group of 1 rank");
  for (const std::int32_t group : {2, 4}) {
    q.strategy.shard_group = group;
    CHECK(q.answer() == "legal");
  }
  q.strategy.zero_stage = 0;
  CHECK(q.answer() == "R14: a shard group of 4 without ZeRO");
}

TEST_CASE("R15: a dense network has no experts to divide") {
  Question q;
  q.strategy.expert_parallel = 4;
  CHECK(q.answer() == "R15: ep 4 for a network without experts");
}

TEST_CASE("R15: expert parallelism divides the experts and the ranks of a stage") {
  Question q;
  q.use_experts();
  q.strategy.expert_parallel = 3;
  CHECK(q.answer() == "R15: 8 experts do not divide over ep 3");
  q.strategy.expert_parallel = 8;
  q.strategy.expert_tensor_parallel = 3;
  CHECK(q.answer() == "R15: 1408 features of an expert do not divide over etp 3");
  q.strategy.expert_tensor_parallel = 4;
  CHECK(q.answer() == "R15: ep 8 x etp 4 among 16 ranks of a stage");
  q.strategy.expert_parallel = 1;
  q.strategy.expert_tensor_parallel = 8;
  CHECK(q.answer() == "R15: etp 8 does not divide tp 4");
  q.strategy.expert_parallel = 2;
  q.strategy.expert_tensor_parallel = 1;
  q.strategy.sequence_parallel = SequenceParallel::off;
  CHECK(q.answer() == "R15: ep 2 and tp 4 without sequence parallelism");
}

TEST_CASE("R18: sequence parallelism goes with tensor parallelism") {
  Question q;
  q.strategy.tensor_parallel = 1;
  q.strategy.data_parallel = 16;
  q.strategy.micro_batches = 2;
  q.strategy.sequence_parallel = SequenceParallel::on;
  CHECK(q.answer() == "R18: sequence parallelism with tp 1");
}

TEST_CASE("R19: layers by hand are a number for each chunk, their sum the network's") {
  Question q;
  q.use_pipeline(4);
  const auto answer_of = [&](std::vector<std::int32_t> layers) {
    q.strategy.layers_per_stage = std::move(layers);
    return q.answer();
  };
  CHECK(answer_of({5, 7, 7, 5}) == "legal");
  CHECK(answer_of({0, 12, 12, 0}) == "legal");  // the embedding and the head fill the ends
  CHECK(answer_of({6, 6, 6}) == "R19: layers 6,6,6: 3 numbers for 4 chunks");
  CHECK(answer_of({6, 6, 6, 7}) == "R19: layers 6,6,6,7 sum to 25, not 24");
  CHECK(answer_of({12, 0, 6, 6}) == "R19: layers 12,0,6,6: chunk 1 is empty");
  q.strategy.split = StageSplit::balanced;
  CHECK(answer_of({5, 7, 7, 5}) == "R19: layers 5,7,7,5 and a split that finds its own");
}

TEST_CASE("R19: a balanced split goes with 1f1b") {
  Question q;
  q.strategy.split = StageSplit::balanced;
  CHECK(q.answer() == "legal");  // one stage holds everything
  q.use_pipeline(2);
  CHECK(q.answer() == "legal");
  q.strategy.schedule = Schedule::gpipe;
  CHECK(q.answer() == "R19: a balanced split with the schedule gpipe and 1 virtual stage");
  q.strategy.schedule = Schedule::interleaved;
  q.strategy.virtual_stages = 2;
  CHECK(q.answer() == "R19: a balanced split with the schedule interleaved and 2 virtual stages");
}

TEST_CASE("the units that degrees must divide are read off the graph") {
  LlamaShape shape{6, 1024, 16, 4, 64, 2816, 32000};
  shape.experts = 8;
  shape.chosen = 2;
  shape.expert_width = 1408;
  shape.dense_layers = 2;
  const Divisibility facts = divisibility(llama(shape));
  CHECK(facts.layers == 6);
  CHECK(facts.fillers == 2);
  CHECK(facts.heads == std::vector<std::int64_t>{16});
  CHECK(facts.kv_heads == std::vector<std::int64_t>{4});
  CHECK(facts.experts == std::vector<std::int64_t>{8});
  CHECK(facts.expert_widths == std::vector<std::int64_t>{1408});
  CHECK(facts.sequence_symbol);
  // Row-divided products: the attention output (heads x head dim) and the MLP's second one.
  CHECK(facts.widths == std::vector<std::int64_t>{1024, 2816});
}

// 16 key heads, 32 value heads; 16 attention heads, 2 kv heads (arXiv:2412.06464 over ranks as Megatron-Core divides
// it).
TEST_CASE("R03, R21: heads of recurrent layers divide over tensor-parallel ranks, their tokens over none") {
  TransformerDescription d;
  d.vocabulary = 512;
  d.hidden = d.embedding_width = 96;
  d.layer.attention.heads = d.layer.attention.kv_heads = 8;
  d.layer.attention.qk_head_dim = d.layer.attention.v_head_dim = 16;
  d.layer.delta_net = DeltaNetDescription{6, 12, 8, 8, 4};
  d.layer.mlp = {256, true, Bias::no, false};
  d.layers.resize(24);
  Question q;
  q.facts = divisibility(language_model("attention alone", d));
  CHECK(q.answer() == "legal");
  q.strategy.context_parallel = 2;
  q.strategy.data_parallel = 2;
  q.strategy.micro_batches = 16;
  CHECK(q.answer() == "legal");
  d.layers.front().delta_net = true;
  q.facts = divisibility(language_model("with a state", d));
  CHECK(q.facts.state_heads == std::vector<std::int64_t>{6, 12});
  CHECK(q.answer() == "R03: 6 heads of a recurrent layer do not divide over tp 4");
  q.strategy.tensor_parallel = 2;
  q.strategy.data_parallel = 4;
  q.strategy.micro_batches = 8;
  CHECK(q.answer() == "R21: cp 2 for layers whose state passes from token to token");
  q.strategy.context_parallel = 1;
  q.strategy.data_parallel = 8;
  q.strategy.micro_batches = 4;
  CHECK(q.answer() == "legal");
}

// 24 layers: on one stage a chunk holds them all, on two 12, by hand up to what is said.
TEST_CASE("R23: units of several layers go with ZeRO-3 and hold at most the layers of a chunk") {
  Question q;
  q.strategy.layers_per_unit = 0;
  CHECK(q.answer() == "R23: units of 0 layers");
  q.strategy.layers_per_unit = 2;
  CHECK(q.answer() == "R23: units of 2 layers under ZeRO-0");
  q.strategy.shard_group = 4;
  q.strategy.zero_stage = 2;
  CHECK(q.answer() == "R23: units of 2 layers under ZeRO-2");
  q.strategy.zero_stage = 3;
  for (const std::int32_t layers : {1, 2, 5, 24}) {
    q.strategy.layers_per_unit = layers;
    CHECK(q.answer() == "legal");
  }
  q.strategy.layers_per_unit = 25;
  CHECK(q.answer() == "R23: units of 25 layers where a pipeline chunk holds 24");
  q.use_pipeline(2);
  q.strategy.shard_group = 2;
  q.strategy.layers_per_unit = 13;
  CHECK(q.answer() == "R23: units of 13 layers where a pipeline chunk holds 12");
  q.strategy.layers_per_stage = {14, 10};
  CHECK(q.answer() == "legal");
  q.strategy.layers_per_stage.clear();
  q.strategy.split = StageSplit::balanced;
  CHECK(q.answer() == "legal");
}

// Four data-parallel ranks.
TEST_CASE("R28: a secondary shard group goes with ZeRO-3 and divides the shard group into several") {
  Question q;
  q.strategy.secondary_shard_group = 2;
  CHECK(q.answer() == "R28: a secondary shard group of 2 under ZeRO-0");
  q.strategy.shard_group = 4;
  q.strategy.zero_stage = 2;
  CHECK(q.answer() == "R28: a secondary shard group of 2 under ZeRO-2");
  q.strategy.zero_stage = 3;
  CHECK(q.answer() == "legal");
  for (const std::int32_t ranks : {0, 3, 4, 8}) {
    q.strategy.secondary_shard_group = ranks;
    CHECK(q.answer() == "R28: a secondary shard group of " + std::to_string(ranks) + " in a shard group of 4");
  }
  q.strategy.secondary_shard_group = 1;
  CHECK(q.answer() == "legal");
}

// Heads of 64 features.
TEST_CASE("R24: fused attention goes with devices and heads that it has kernels for") {
  Question q;
  CHECK(q.facts.head_features == 64);
  q.limits.flash_head = 64;
  CHECK(q.answer() == "legal");
  q.limits.flash_head = 40;
  CHECK(q.answer() ==
        "R24: FlashAttention over heads of 64 features, where its kernels for these devices take at most 40");
  q.limits.flash_head = 0;
  CHECK(q.answer() == "R24: FlashAttention, which has no kernels for these devices");
  q.strategy.flash_attention = FlashAttention::off;
  CHECK(q.answer() == "legal");
}

// 16 heads that share 8 keys and values.
TEST_CASE("R25: all-to-all context parallelism divides the heads that tensor parallelism leaves to a rank") {
  Question q;
  q.strategy.context_communication = ContextCommunication::all_to_all;
  CHECK(q.answer() == "R25: all-to-all context parallelism with cp 1");
  const auto with_ranks = [&](std::int32_t tensor, std::int32_t context) {
    q.strategy.tensor_parallel = tensor;
    q.strategy.context_parallel = context;
    q.strategy.data_parallel = 16 / tensor / context;
    q.strategy.micro_batches = 32 / q.strategy.data_parallel;
    return q.answer();
  };
  CHECK(with_ranks(4, 2) == "legal");
  CHECK(with_ranks(1, 8) == "legal");
  CHECK(with_ranks(4, 4) == "R25: 8 kv heads do not divide over tp x cp 16");
  q.facts.heads = q.facts.kv_heads = {24};
  CHECK(with_ranks(4, 4) == "R25: 24 attention heads do not divide over tp x cp 16");
  CHECK(with_ranks(4, 2) == "legal");
  q.facts.has_fixed_attention = true;
  CHECK(with_ranks(4, 2) == "R25: all-to-all context parallelism for attention over tokens that no sequence divides");
  q.strategy.context_communication = ContextCommunication::ring;
  CHECK(with_ranks(4, 2) == "legal");
}

TEST_CASE("R27: groups and first layers are at most those of a chunk") {
  Question q;
  q.use_pipeline(4);
  for (const RecomputeMode mode : {RecomputeMode::uniform, RecomputeMode::block}) {
    q.strategy.recompute = {mode, 6};
    CHECK(q.answer() == "legal");
    q.strategy.recompute.n = 7;
    CHECK(q.answer() == "R27: recompute " + to_text(q.strategy.recompute) + " where a pipeline chunk holds 6 layers");
  }
  q.strategy.recompute = Recompute{RecomputeMode::square_root};
  CHECK(q.answer() == "legal");
  q.strategy.split = StageSplit::balanced;
  CHECK(q.answer() == "R27: recompute sqrt and a split that finds its own");
}

TEST_CASE("R26: recompute and offload count at most the layers") {
  Question q;
  for (const RecomputeMode mode : {RecomputeMode::every_nth, RecomputeMode::offloaded}) {
    q.strategy.recompute = {mode, 24, {}};
    CHECK(q.answer() == "legal");
    q.strategy.recompute.n = 25;
    CHECK(q.answer() == "R26: recompute " + to_text(q.strategy.recompute) + " of 24 layers");
  }
}

}  // namespace
}  // namespace plumbline
