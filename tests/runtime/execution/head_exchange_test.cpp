// All-to-all context parallelism executed: the losses, gradients and weights of one rank, the bytes that were
// predicted.
#include "tests/execution_checks.h"

namespace plumbline::head_exchange_run_test {
namespace {

struct Case {
  std::string name;
  Net net = Net::llama;
  Strategy strategy;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, void (*change)(Strategy&)) {
    for (const Net net : {Net::gpt, Net::llama}) {
      Strategy s = single();
      s.context_parallel = 2;
      s.context_communication = ContextCommunication::all_to_all;
      change(s);
      s.micro_batches = 8 / s.data_parallel / s.micro_batch;
      if (s.zero_stage > 0) s.shard_group = s.gradient_ranks();
      all.push_back({name, net, s});
    }
  };
  add("two sequences at once", [](Strategy&) {});
  add("one sequence", [](Strategy& s) { s.micro_batch = 1; });
  // Llama's 4 kv heads: one for each rank.
  add("cp 4 zero 3", [](Strategy& s) { s.context_parallel = 4, s.zero_stage = 3; });
  add("tp 2", [](Strategy& s) { s.tensor_parallel = 2; });
  add("tp 2 sp dp 2, full recompute", [](Strategy& s) {
    s.tensor_parallel = s.data_parallel = 2;
    s.sequence_parallel = SequenceParallel::on;
    s.recompute.mode = RecomputeMode::full;
  });
  add("fused, selective recompute", [](Strategy& s) { s.recompute.mode = RecomputeMode::selective; });
  add("by operator", [](Strategy& s) { s.recompute.mode = RecomputeMode::by_operator; });
  add("unfused", [](Strategy& s) { s.flash_attention = FlashAttention::off; });
  add("unfused, selective recompute", [](Strategy& s) {
    s.flash_attention = FlashAttention::off;
    s.recompute.mode = RecomputeMode::selective;
  });
  add("tp 2 unfused, full recompute", [](Strategy& s) {
    s.tensor_parallel = 2;
    s.flash_attention = FlashAttention::off;
    s.recompute.mode = RecomputeMode::full;
  });
  add("recompute of attention and norms", [](Strategy& s) {
    s.recompute.mode = RecomputeMode::modules;
    s.recompute.modules.add(RecomputeModule::core_attn);
    s.recompute.modules.add(RecomputeModule::layernorm);
  });
  add("pp 2 zb-h1", [](Strategy& s) {
    s.pipeline_stages = 2;
    s.micro_batch = 1;
    s.schedule = Schedule::zb_h1;
  });
  return all;
}

std::string title(const Case& one) {
  return one.name + (one.net == Net::gpt ? ", gpt: " : ", llama: ") + to_text(one.strategy);
}

}  // namespace

TEST_CASE("ranks that exchange heads give one rank's losses, gradients and weights") {
  std::map<Net, Executed> alone;
  for (const Net net : {Net::gpt, Net::llama})
    alone[net] = execute(LoweredPlan(network(net), single(), recipe()).job(), options());
  for (const Case& one : sampled(cases())) {
    INFO(title(one));
    const LoweredPlan plan(network(one.net), one.strategy, recipe());
    require_same_training(execute(plan.job(), options()), alone[one.net]);
  }
}

TEST_CASE("ranks that exchange heads hold and send the bytes that were predicted") {
  for (const Case& one : sampled(cases())) {
    INFO(title(one));
    const LoweredPlan plan(network(one.net), one.strategy, recipe());
    const RunRecord record = execute(plan.job(), options(1)).record;
    require_bytes(plan, record);
    CHECK(sent_in(record.ranks.front(), "context") > Bytes(0));
  }
}

// A head's dropout is drawn by its number in the whole network and its query's in the whole sequence.
TEST_CASE("ranks that exchange heads drop what one rank drops") {
  const Graph dropping = gpt({4, 32, 4, 64, 32, Dropout::yes});
  const auto run = [&](const Strategy& s) {
    const LoweredPlan plan(dropping, s, recipe());
    TrainingJob job = plan.job();
    job.constants.dropout = {0.2F, 0.1F, 0.1F};
    return execute(job, options());
  };
  const Executed alone = run(single());
  for (const std::int32_t tensor : {1, 2}) {
    Strategy s = single();
    s.tensor_parallel = tensor;
    s.context_parallel = 2;
    s.context_communication = ContextCommunication::all_to_all;
    INFO(to_text(s));
    require_equal(run(s).gradients, alone.gradients, 2e-5);
  }
}

}  // namespace plumbline::head_exchange_run_test
