#pragma once
/// \file sample_plan.h: a fixed plan value whose every part is filled, for tests of files and views.

#include "core/plan/plan.h"

namespace plumbline {

[[nodiscard]] inline Provenance sample_provenance() {
  return {"0.1.0",
          "h100",
          "megatron-core",
          true,
          "of current releases it was measured nearest",
          {"few_rows", 0.08, 0.05, true, {"128 GPUs where at most 64 were measured"}},
          {{"overhead", 0.01, "a guess"}},
          {"a note"}};
}

[[nodiscard]] inline Strategy sample_strategy() {
  Strategy s;
  s.pipeline_stages = 2;
  s.tensor_parallel = 2;
  s.context_parallel = 2;
  s.expert_parallel = 2;
  s.data_parallel = 2;
  s.virtual_stages = 2;
  s.schedule = Schedule::interleaved;
  s.micro_batch = 4;
  s.micro_batches = 8;
  s.zero_stage = 2;
  s.shard_group = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.flash_attention = FlashAttention::off;
  s.recompute = {RecomputeMode::every_nth, 2};
  s.layers_per_stage = {1, 1, 1, 1};
  return s;
}

[[nodiscard]] inline std::vector<StageLayoutEntry> sample_stages() {
  return {{0,
           {{0, 0}, {2, 2}},
           true,
           false,
           2,
           250'000,
           {{0, 0, {"attention.core", "mlp.up"}, Bytes(1000), Bytes(200), Picoseconds(3'000'000)},
            {2, 2, {"attention.core"}, Bytes(1100), Bytes(100), Picoseconds(2'000'000)}},
           {},
           Bytes(0)},
          {1,
           {{1, 1}, {3, 3}},
           false,
           true,
           0,
           250'000,
           {{1, 1, {}, Bytes(1200), Bytes(0), Picoseconds(0)}, {3, 3, {}, Bytes(1200), Bytes(0), Picoseconds(0)}},
           {},
           Bytes(0)}};
}

[[nodiscard]] inline Prediction sample_prediction() {
  Prediction p;
  for (std::size_t i = 0; i < time_cause_count; ++i)
    p.time.by_cause[i] = Picoseconds(static_cast<std::int64_t>(i + 1) * 90'909'090'910);
  p.step_time_s = {4.5, to_seconds(p.time.total()).value(), 5.5};
  MemoryBreakdown memory;
  for (std::size_t i = 0; i < memory_class_count; ++i)
    memory.by_class[i] = Bytes(static_cast<std::int64_t>(i + 1) << 20);
  p.stage_memory = {memory, memory};
  p.peak_memory = memory.device_total();
  p.host_memory_per_node = 8_GiB;
  p.tokens_per_second_per_gpu = 1234.5;
  p.mfu = 0.41;
  p.mfu_causal = 0.38;
  p.hfu = 0.52;
  p.bubble_fraction = 0.11;
  p.model_flops_per_step = Flops(1e15);
  p.hardware_flops_per_step = Flops(1.25e15);
  p.dollars_per_step = 0.25;
  p.joules_per_step = 1e4;
  p.communication = {{"tensor", "all-gather", Bytes(1 << 20), Seconds(0.01)}};
  return p;
}

[[nodiscard]] inline Plan sample_plan() {
  Plan plan;
  plan.model = {"tiny", "tiny.json", 1'000'000, 900'000, 800'000, 4, "0123456789abcdef"};
  plan.machine = {"two-boxes", "two-boxes.json", "H100-SXM-80GB", 16, 8, 2, "fedcba9876543210", {}, {}};
  plan.training.sequence_length = 4096;
  plan.training.global_batch = 64;
  plan.training.token_budget = 1'000'000'000;
  plan.training.precision = PrecisionRecipe::fp8;
  plan.training.gradient_format = NumberFormat::fp32;
  plan.training.optimizer = Optimizer::muon;
  plan.training.adaptation = {true, {{0, 1}, {3, 3}}, 16};
  plan.strategy = sample_strategy();
  plan.layout.stages = sample_stages();
  plan.layout.rank_order = {"tensor", "context", "data", "pipeline"};
  plan.layout.groups = {{"tensor", 2, 1, 8}, {"pipeline", 2, 8, 8}};
  plan.prediction = sample_prediction();
  plan.run = {1.5, 576, Dollars(1000), 250};
  plan.verdict = {true, "stage 0 needs 66 MiB: plenty to spare", 80_GiB, 79_GiB, false, 2_GiB, 0.9987};
  plan.provenance = sample_provenance();
  return plan;
}

}  // namespace plumbline
