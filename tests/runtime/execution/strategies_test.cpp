// Every strategy gives the numbers of one rank, and holds and sends the bytes that were predicted.
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

struct Case {
  std::string name;
  Net net = Net::llama;
  Strategy strategy;
};

Strategy with(void (*change)(Strategy&)) {
  Strategy s = single();
  change(s);
  s.micro_batches = 8 / s.data_parallel / s.micro_batch;
  if (s.zero_stage > 0 && s.shard_group == 1) s.shard_group = s.gradient_ranks();
  return s;
}

class Cases {
 public:
  void add(const std::string& name, void (*change)(Strategy&)) {
    for (const Net net : {Net::gpt, Net::llama}) all_.push_back({name, net, with(change)});
  }
  void add_axes();
  void add_contexts();
  void add_shards();
  void add_split_backwards();
  [[nodiscard]] std::vector<Case> take() { return std::move(all_); }

 private:
  std::vector<Case> all_;
};

void Cases::add_axes() {
  add("one rank, one micro-batch", [](Strategy& s) { s.micro_batch = 8; });
  add("dp 2", [](Strategy& s) { s.data_parallel = 2; });
  add("tp 2", [](Strategy& s) { s.tensor_parallel = 2; });
  add("tp 4", [](Strategy& s) { s.tensor_parallel = 4; });
  add("pp 2 gpipe", [](Strategy& s) { s.pipeline_stages = 2, s.schedule = Schedule::gpipe; });
  add("pp 2 1f1b", [](Strategy& s) { s.pipeline_stages = 2, s.schedule = Schedule::one_f_one_b; });
  add("full recompute", [](Strategy& s) { s.recompute.mode = RecomputeMode::full; });
  add("selective recompute, unfused", [](Strategy& s) {
    s.recompute.mode = RecomputeMode::selective;
    s.flash_attention = FlashAttention::off;
  });
  add("dp 2 zero 1", [](Strategy& s) { s.data_parallel = 2, s.zero_stage = 1; });
  add("dp 2 tp 2 pp 2", [](Strategy& s) {
    s.data_parallel = s.tensor_parallel = s.pipeline_stages = 2;
    s.schedule = Schedule::one_f_one_b;
  });
  add("tp 2 sp", [](Strategy& s) { s.tensor_parallel = 2, s.sequence_parallel = SequenceParallel::on; });
  add("tp 4 sp, full recompute", [](Strategy& s) {
    s.tensor_parallel = 4;
    s.sequence_parallel = SequenceParallel::on;
    s.recompute.mode = RecomputeMode::full;
  });
  add("pp 2 x 2 interleaved", [](Strategy& s) {
    s.pipeline_stages = s.virtual_stages = 2;
    s.schedule = Schedule::interleaved;
  });
}

void Cases::add_contexts() {
  add("cp 2", [](Strategy& s) { s.context_parallel = 2; });
  add("cp 4 zero 1", [](Strategy& s) { s.context_parallel = 4, s.zero_stage = 1; });
  add("cp 2 tp 2 sp dp 2", [](Strategy& s) {
    s.context_parallel = s.tensor_parallel = s.data_parallel = 2;
    s.sequence_parallel = SequenceParallel::on;
  });
  add("cp 2, unfused", [](Strategy& s) { s.context_parallel = 2, s.flash_attention = FlashAttention::off; });
  add("cp 4 dp 2, unfused, selective recompute", [](Strategy& s) {
    s.context_parallel = 4;
    s.data_parallel = 2;
    s.flash_attention = FlashAttention::off;
    s.recompute.mode = RecomputeMode::selective;
  });
  add("cp 2 tp 2 sp, unfused, full recompute", [](Strategy& s) {
    s.context_parallel = s.tensor_parallel = 2;
    s.sequence_parallel = SequenceParallel::on;
    s.flash_attention = FlashAttention::off;
    s.recompute.mode = RecomputeMode::full;
  });
}

void Cases::add_shards() {
  add("dp 2 zero 3 pp 2 full recompute", [](Strategy& s) {
    s.data_parallel = s.pipeline_stages = 2;
    s.zero_stage = 3;
    s.schedule = Schedule::one_f_one_b;
    s.recompute.mode = RecomputeMode::full;
  });
  add("dp 2 zero 2 pp 2 zb-h1", [](Strategy& s) {
    s.data_parallel = s.pipeline_stages = 2;
    s.zero_stage = 2;
    s.micro_batch = 1;
    s.schedule = Schedule::zb_h1;
  });
  add("dp 4 zero 1 in twos, pp 2", [](Strategy& s) {
    s.data_parallel = 4;
    s.pipeline_stages = 2;
    s.zero_stage = 1;
    s.shard_group = 2;
    s.schedule = Schedule::one_f_one_b;
  });
  add("dp 2 zero 2", [](Strategy& s) { s.data_parallel = 2, s.zero_stage = 2; });
  add("dp 4 zero 3", [](Strategy& s) { s.data_parallel = 4, s.zero_stage = 3; });
  add("dp 4 zero 3 in twos", [](Strategy& s) { s.data_parallel = 4, s.zero_stage = 3, s.shard_group = 2; });
  add("dp 4 zero 1 in twos, one stage", [](Strategy& s) { s.data_parallel = 4, s.zero_stage = 1, s.shard_group = 2; });
  add("dp 2 zero 3 tp 2 sp", [](Strategy& s) {
    s.data_parallel = s.tensor_parallel = 2;
    s.zero_stage = 3;
    s.sequence_parallel = SequenceParallel::on;
  });
}

void Cases::add_split_backwards() {
  for (const Schedule schedule :
       {Schedule::zb_h1, Schedule::zb_h2, Schedule::zbv, Schedule::v_half, Schedule::dualpipev})
    for (const Net net : {Net::gpt, Net::llama}) {
      Strategy s = with([](Strategy& t) { t.pipeline_stages = 2, t.micro_batch = 1; });
      s.schedule = schedule;
      s.virtual_stages = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
      all_.push_back({std::string(to_text(schedule)), net, s});
      s.tensor_parallel = 2;
      s.sequence_parallel = SequenceParallel::on;
      all_.push_back({std::string(to_text(schedule)) + " tp 2 sp", net, s});
    }
}

std::vector<Case> cases() {
  Cases all;
  all.add_axes();
  all.add_contexts();
  all.add_shards();
  all.add_split_backwards();
  return all.take();
}

TEST_CASE("strategies give one rank's losses and weights") {
  std::map<Net, Executed> alone;
  for (const Net net : {Net::gpt, Net::llama})
    alone[net] = execute(LoweredPlan(network(net), single(), recipe()).job(), options());
  for (const Case& one : sampled(cases())) {
    INFO(one.name << (one.net == Net::gpt ? ", gpt: " : ", llama: ") << to_text(one.strategy));
    const LoweredPlan plan(network(one.net), one.strategy, recipe());
    require_same_training(execute(plan.job(), options()), alone[one.net]);
  }
}

// Other stacks collect gradients in buckets, and leave a part of their reductions to the end of the step.
TEST_CASE("when gradients are reduced changes neither numbers nor bytes") {
  std::map<Net, Executed> alone;
  for (const Net net : {Net::gpt, Net::llama})
    alone[net] = execute(LoweredPlan(network(net), single(), recipe()).job(), options());
  for (const double late : sampled(std::vector{0.0, 1.0, 0.4}))
    for (const double bucket : sampled(std::vector{1.0, 1e9, 20'000.0}))
      for (const std::int32_t zero : {0, 1, 2, 3})
        for (const std::int32_t stages : {1, 2}) {
          Strategy s = single();
          s.data_parallel = 4 / stages;
          s.pipeline_stages = stages;
          if (stages == 2) s.schedule = Schedule::one_f_one_b;
          s.zero_stage = zero;
          s.shard_group = zero > 0 ? s.data_parallel : 1;
          s.micro_batches = 8 / s.data_parallel / s.micro_batch;
          Calibration habits = runtime_calibration();
          habits.stack.communication.data_parallel_exposure.value = late;
          habits.stack.communication.bucket_bytes.value = bucket;
          // GPT's embedding is tied: in one stage its gradients stay whole for a pass.
          const Net net = stages == 1 && zero >= 2 ? Net::gpt : Net::llama;
          INFO(to_text(s) << ", late " << late << ", bucket " << bucket);
          const LoweredPlan plan(network(net), s, recipe(), habits);
          const Executed run = execute(plan.job(), options(2));
          require_equal(run.gradients, alone[net].gradients, 2e-5);
          for (const RankRecord& rank : run.record.ranks)
            CHECK(sent_in(rank, "gradient") + sent_in(rank, "shard") + sent_in(rank, "replicate") ==
                  planned_on(plan.program.ranks[static_cast<std::size_t>(rank.stage)], Stream::data));
        }
}

// A window of 5 of 16 tokens; 4 ranks hold 4 tokens each.
TEST_CASE("windows without flash attention are those with it, on one rank and on context-parallel ones") {
  TransformerDescription d;
  d.vocabulary = 64;
  d.hidden = d.embedding_width = 32;
  d.layer.attention.heads = d.layer.attention.kv_heads = 4;
  d.layer.attention.qk_head_dim = d.layer.attention.v_head_dim = 8;
  d.layer.attention.rotary = true;
  d.layer.mlp = {64, true, Bias::no, false};
  d.layers.resize(2);
  for (LayerVariant& layer : d.layers) layer.window = 5;
  const Graph windowed = language_model("tiny", d);
  const Executed fused = execute(LoweredPlan(windowed, single(), recipe()).job(), options());
  for (const std::int32_t ranks : {1, 4}) {
    Strategy s = single();
    s.flash_attention = FlashAttention::off;
    s.context_parallel = ranks;
    const LoweredPlan plan(windowed, s, recipe());
    const Executed run = execute(plan.job(), options());
    require_equal(run.gradients, fused.gradients, 2e-5);
    require_equal(run.weights, fused.weights, 1e-5);
    require_bytes(plan, run.record);
  }
}

TEST_CASE("strategies hold and send the bytes that were predicted") {
  for (const Case& one : sampled(cases())) {
    INFO(one.name << (one.net == Net::gpt ? ", gpt: " : ", llama: ") << to_text(one.strategy));
    const LoweredPlan plan(network(one.net), one.strategy, recipe());
    require_bytes(plan, execute(plan.job(), options(1)).record);
  }
}

}  // namespace
}  // namespace plumbline
