// Activations that wait in host memory: the bits of a run without, and the bytes that the program says.
#include "tests/execution_checks.h"
#include "tests/late_device.h"

namespace plumbline {
namespace {

Strategy offloading(std::int32_t layers, void (*change)(Strategy&)) {
  Strategy s = single();
  s.micro_batch = 1;
  s.recompute = {RecomputeMode::offloaded, layers};
  change(s);
  if (s.zero_stage > 0) s.shard_group = s.gradient_ranks();
  return s;
}

Training training_of(const Strategy& s, Net net, PrecisionRecipe precision) {
  Training training = recipe_of(net);
  training.optimizer = Optimizer::adam;
  training.precision = precision;
  training.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
  return training;
}

Strategy without_offload(Strategy s) {
  s.recompute = {};
  return s;
}

Bytes copied_by(const RunRecord& record) {
  Bytes sum(0);
  for (const RankRecord& rank : record.ranks) sum += sent_in(rank, "host");
  return sum;
}

/// Losses and weights to the bit; bytes on the device, copied and on the host as predicted. Returns what was copied.
Bytes require_same_run(const Strategy& s, Net net = Net::llama, PrecisionRecipe precision = PrecisionRecipe::fp32,
                       const RunOptions& how = options(2)) {
  INFO(to_text(s));
  const Training training = training_of(s, net, precision);
  const LoweredPlan plan(network(net), s, training);
  const LoweredPlan kept(network(net), without_offload(s), training);
  const Executed made = execute(routed(plan, ExpertRouting::balanced), how);
  const Executed expected = execute(routed(kept, ExpertRouting::balanced), options(2));
  REQUIRE(made.record.steps.size() == expected.record.steps.size());
  for (std::size_t i = 0; i < made.record.steps.size(); ++i)
    CHECK(made.record.steps[i].loss == expected.record.steps[i].loss);
  CHECK(made.weights == expected.weights);
  require_bytes(plan, made.record);
  require_bytes(kept, expected.record);
  CHECK(copied_by(expected.record) == Bytes(0));
  for (std::size_t stage = 0; stage < plan.program.ranks.size(); ++stage)
    CHECK(plan.simulation.memory[stage].memory.device_total() <= kept.simulation.memory[stage].memory.device_total());
  return copied_by(made.record);
}

TEST_CASE("activations that wait on the host leave losses, weights and predicted bytes as they are") {
  const Strategy dp3 = offloading(2, [](Strategy& s) { s.data_parallel = 3; });
  const Strategy zero2 = offloading(3, [](Strategy& s) { s.data_parallel = 2, s.zero_stage = 2; });
  const Strategy zero3 = offloading(2, [](Strategy& s) { s.data_parallel = 2, s.zero_stage = 3; });
  const Strategy interleaved = offloading(2, [](Strategy& s) {
    s.pipeline_stages = s.virtual_stages = 2;
    s.schedule = Schedule::interleaved;
  });
  const Strategy tensor = offloading(4, [](Strategy& s) {
    s.tensor_parallel = 2;
    s.sequence_parallel = SequenceParallel::on;
  });
  const Strategy ring = offloading(1, [](Strategy& s) { s.context_parallel = 2; });
  for (const Strategy& s : {dp3, zero2, zero3, interleaved, tensor, ring}) CHECK(require_same_run(s) > Bytes(0));
}

TEST_CASE("activations in 16 bits and in fp8 come back from the host as they left") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::bf16, PrecisionRecipe::fp16, PrecisionRecipe::fp8})
    CHECK(require_same_run(offloading(3, [](Strategy& s) { s.data_parallel = 2, s.zero_stage = 1; }), Net::llama,
                           precision) > Bytes(0));
}

TEST_CASE("layers with experts, and learned positions, wait on the host too") {
  CHECK(require_same_run(offloading(3, [](Strategy& s) { s.data_parallel = s.expert_parallel = 2; }), Net::moe) >
        Bytes(0));
  CHECK(require_same_run(offloading(4, [](Strategy&) {}), Net::gpt) > Bytes(0));
}

TEST_CASE("split backwards bring back what their weight gradients read") {
  for (const Schedule schedule :
       {Schedule::zb_h1, Schedule::zb_h2, Schedule::zbv, Schedule::v_half, Schedule::dualpipev}) {
    Strategy s = offloading(3, [](Strategy& t) { t.pipeline_stages = 2; });
    s.schedule = schedule;
    s.virtual_stages = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
    require_same_run(s);
  }
}

TEST_CASE("copies that run as late as they may are waited for") {
  RunOptions late = options(2);
  late.device.make = [](std::int32_t) { return std::make_unique<LateDevice>(); };
  const Strategy s = offloading(3, [](Strategy& t) { t.data_parallel = 2, t.zero_stage = 2; });
  CHECK(require_same_run(s, Net::llama, PrecisionRecipe::fp32, late) > Bytes(0));
}

// Layer 2 of 4 copies 2 x its activations for each of 4 micro-batches.
TEST_CASE("what is copied is what the layers keep, there and back") {
  const Strategy s = offloading(2, [](Strategy&) {});
  const Training training = training_of(s, Net::llama, PrecisionRecipe::fp32);
  const LoweredPlan plan(network(Net::llama), s, training);
  const Bytes layer = plan.blocks[static_cast<std::size_t>(plan.graph.sequence()[1].index())].memory().saved;
  const HostCopies copies = host_copies(plan.program.ranks.front());
  CHECK(copies == HostCopies{8 * layer, 8 * layer, 2 * layer, 8});
  CHECK(copied_by(execute(plan.job(), options(1)).record) == 16 * layer);
}

}  // namespace
}  // namespace plumbline
