#pragma once
/// \file random_strategies.h: what a runtime test draws: legal strategies over all axes that are executed.

#include <random>

#include "core/plan/legality.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {

/// Legal strategies of two to eight ranks.
class RandomStrategies {
 public:
  RandomStrategies(const Graph& graph, const Training& training) : facts_(divisibility(graph)), training_(training) {}

  Strategy next(bool is_tied) {
    for (;;) {
      const Strategy s = any();
      const LegalityLimits limits{s.devices(), 8, false};
      const bool ends_meet = s.pipeline_stages == 1 || placement(s.schedule) == StagePlacement::v_shaped;
      const bool has_experts = !facts_.experts.empty();
      const bool is_executed = (!is_tied || s.zero_stage <= 1 || !ends_meet) &&
                               (!has_experts || s.tensor_parallel == 1 || s.sequence_parallel == SequenceParallel::on);
      if (s.devices() > 1 && s.devices() <= 8 && is_executed && !first_violation(s, training_, facts_, limits))
        return s;
    }
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + bits_() % choices.size());
  }
  Strategy any() {
    Strategy s;
    s.pipeline_stages = one_of({1, 1, 2, 4});
    s.tensor_parallel = one_of({1, 2, 4});
    s.context_parallel = one_of({1, 1, 2, 4});
    s.data_parallel = one_of({1, 2, 4, 8});
    if (!facts_.experts.empty()) s.expert_parallel = one_of({1, 2, 2, 4});
    s.zero_stage = one_of({0, 1, 2, 3});
    s.shard_group = s.zero_stage > 0 ? s.gradient_ranks() / one_of({1, 1, 2}) : 1;
    s.micro_batch = one_of({1, 2});
    s.micro_batches = 8 / s.data_parallel / s.micro_batch;
    s.sequence_parallel = s.tensor_parallel > 1 && one_of({0, 1}) == 1 ? SequenceParallel::on : SequenceParallel::off;
    s.flash_attention = s.context_parallel == 1 && one_of({0, 0, 1}) == 1 ? FlashAttention::off : FlashAttention::on;
    s.recompute.mode =
        one_of({RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full, RecomputeMode::every_nth});
    if (s.recompute.mode == RecomputeMode::every_nth) s.recompute.n = 2;
    if (s.pipeline_stages > 1) {
      s.schedule = all_schedules[1 + bits_() % (all_schedules.size() - 1)];
      const bool has_two = placement(s.schedule) == StagePlacement::v_shaped || s.schedule == Schedule::interleaved;
      s.virtual_stages = has_two ? 2 : 1;
    }
    return s;
  }

  Divisibility facts_;
  Training training_;
  std::mt19937_64 bits_{20261122};
};

}  // namespace plumbline
