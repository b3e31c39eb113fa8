#pragma once
/// \file matrix_layouts.h: ways to share and divide parameters under optimizers that work on whole matrices.

#include "tests/execution_checks.h"

namespace plumbline {

/// Of `batch` sequences a step; states that are shared, over all ranks where the change says no group.
inline Strategy laid_out(void (*change)(Strategy&), std::int64_t batch = 8) {
  Strategy s = single();
  change(s);
  s.micro_batches = batch / s.data_parallel / s.micro_batch;
  if (s.zero_stage > 0 && s.shard_group == 1) s.shard_group = s.gradient_ranks();
  return s;
}

/// Matrices of layers shared over data-parallel ranks, divided over tensor-parallel ones, or both.
inline std::vector<Strategy> matrix_layouts() {
  return {laid_out([](Strategy& s) { s.data_parallel = 2, s.zero_stage = 1; }),
          laid_out([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 2; }),
          laid_out([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 3; }),
          laid_out([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 1, s.shard_group = 2; }),
          laid_out([](Strategy& s) { s.tensor_parallel = 4; }),
          laid_out([](Strategy& s) {
            s.tensor_parallel = s.data_parallel = s.pipeline_stages = 2;
            s.sequence_parallel = SequenceParallel::on;
            s.schedule = Schedule::one_f_one_b;
            s.zero_stage = 2;
          }),
          laid_out([](Strategy& s) { s.context_parallel = s.tensor_parallel = 2, s.zero_stage = 3; })};
}

/// Of a batch of thirty, in ranks that divide no power of two.
inline constexpr std::int64_t odd_batch = 30;
inline std::vector<Strategy> odd_matrix_layouts() {
  return {laid_out([](Strategy& s) { s.data_parallel = 3, s.zero_stage = 2; }, odd_batch),
          laid_out([](Strategy& s) { s.data_parallel = 5, s.zero_stage = 3; }, odd_batch),
          laid_out([](Strategy& s) { s.data_parallel = 6, s.micro_batch = 1, s.zero_stage = 1, s.shard_group = 3; },
                   odd_batch),
          laid_out([](Strategy& s) { s.data_parallel = 3, s.tensor_parallel = 2, s.zero_stage = 3; }, odd_batch)};
}

/// Experts' matrices shared, divided, or both.
inline std::vector<Strategy> expert_layouts() {
  const auto tensor = [](Strategy& s, std::int32_t ranks) {
    s.tensor_parallel = ranks;
    s.sequence_parallel = SequenceParallel::on;
  };
  std::vector<Strategy> all{
      laid_out([](Strategy& s) { s.data_parallel = s.expert_parallel = 2; }),
      laid_out([](Strategy& s) { s.data_parallel = 4, s.expert_parallel = 2, s.zero_stage = 2; }),
      laid_out([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 3; }),
      laid_out([](Strategy& s) { s.expert_tensor_parallel = 2; }),
      laid_out([](Strategy& s) { s.data_parallel = 2, s.expert_tensor_parallel = 2, s.zero_stage = 1; }),
      laid_out(
          [](Strategy& s) { s.data_parallel = s.expert_parallel = s.expert_tensor_parallel = 2, s.zero_stage = 3; })};
  for (std::size_t i = 3; i < all.size(); ++i) tensor(all[i], i == 3 ? 4 : 2);
  return all;
}

}  // namespace plumbline
