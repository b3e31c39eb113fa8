#pragma once
/// \file naive_search.h: the answer of a search by brute force: every plan of the stated space written out in plain
/// loops, judged by the rules one by one, and priced in full. Shares nothing with planner/search but its types.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "planner/checkpointing/placement.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "planner/search/level_split.h"
#include "planner/search/search.h"

namespace plumbline {

/// A plan that is legal and fits.
struct NaivePlan {
  Strategy strategy;
  std::int64_t devices = 0;
  Picoseconds step_time{0};
  Bytes peak_memory{0};
  std::size_t question = 0;
  bool may_not_fit = false;  ///< its interval of memory reaches beyond the device
};

struct NaiveAnswer {
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> illegal;
  std::int64_t memory = 0;
  std::int64_t repeated = 0;  ///< placements that replay nothing, where the plan without recompute is alongside them
  Bytes smallest_too_large = Bytes::largest();
  std::vector<NaivePlan> fitting;
};

class NaiveSearch {
 public:
  NaiveSearch(const std::vector<Question>& questions, const SearchSpace& space) : space_(space) {
    for (std::size_t q = 0; q < questions.size(); ++q) {
      index_ = q;
      degrees(questions[q]);
    }
  }
  [[nodiscard]] const NaiveAnswer& answer() const { return answer_; }

 private:
  template <class T>
  static bool allowed(const std::vector<T>& fixed, T value) {
    return fixed.empty() || std::count(fixed.begin(), fixed.end(), value) > 0;
  }

  void degrees(const Question& question) {
    const auto n = static_cast<std::int32_t>(question.devices());
    Strategy s;
    for (s.pipeline_stages = 1; s.pipeline_stages <= n; ++s.pipeline_stages)
      for (s.tensor_parallel = 1; s.tensor_parallel <= n; ++s.tensor_parallel)
        for (s.context_parallel = 1; s.context_parallel <= n; ++s.context_parallel)
          for (s.data_parallel = 1; s.data_parallel <= n; ++s.data_parallel)
            if (s.devices() == n && allowed(space_.pipeline_stages, s.pipeline_stages) &&
                allowed(space_.tensor_parallel, s.tensor_parallel) &&
                allowed(space_.context_parallel, s.context_parallel) && allowed(space_.data_parallel, s.data_parallel))
              communications(question, s);
  }

  void communications(const Question& question, Strategy s) {
    const std::vector<ContextCommunication> ring{ContextCommunication::ring};
    const bool is_free = s.context_parallel == 1 || space_.context_communication.empty();
    for (const ContextCommunication communication : is_free ? ring : space_.context_communication) {
      s.context_communication = communication;
      experts(question, s);
    }
  }

  void experts(const Question& question, Strategy s) {
    const std::vector<std::int64_t>& counts = question.facts().experts;
    const std::int64_t most = counts.empty() ? 1 : *std::min_element(counts.begin(), counts.end());
    for (s.expert_parallel = 1; s.expert_parallel <= most; ++s.expert_parallel) {
      const bool divides =
          std::all_of(counts.begin(), counts.end(), [&](std::int64_t count) { return count % s.expert_parallel == 0; });
      if (divides && allowed(space_.expert_parallel, s.expert_parallel)) parts(question, s);
    }
  }

  void parts(const Question& question, Strategy s) {
    const std::vector<FlashAttention> usual{question.usual_flash_attention()};
    for (const FlashAttention flash_attention : space_.flash_attention.empty() ? usual : space_.flash_attention) {
      s.flash_attention = flash_attention;
      s.expert_tensor_parallel = 1;
      if (space_.expert_tensor_parallel.empty()) schedules(question, s);
      for (const std::int32_t etp : space_.expert_tensor_parallel) {
        s.expert_tensor_parallel = etp;
        schedules(question, s);
      }
    }
  }

  void schedules(const Question& question, Strategy s) {
    if (s.pipeline_stages == 1) {
      if (allowed(space_.virtual_stages, 1)) micro_batches(question, s);
      return;
    }
    for (const Schedule schedule : all_schedules) {
      const bool splits = schedule >= Schedule::zb_h1;
      if (schedule == Schedule::none || (splits && space_.schedule.empty())) continue;
      const bool is_named = !space_.virtual_stages.empty();
      for (s.virtual_stages = 1; s.virtual_stages <= (is_named ? 64 : 16); ++s.virtual_stages) {
        const bool halves =
            schedule == Schedule::zbv || schedule == Schedule::v_half || schedule == Schedule::dualpipev;
        const bool has_chunks = schedule == Schedule::interleaved || (halves && s.virtual_stages == 2);
        if ((has_chunks || halves) != (s.virtual_stages > 1) || (halves && s.virtual_stages != 2)) continue;
        if (has_chunks &&
            !(s.virtual_stages <= 4 || is_named ? has_all_chunks(question, s) : splits_evenly(question, s.chunks())))
          continue;
        if (!allowed(space_.schedule, schedule) || !allowed(space_.virtual_stages, s.virtual_stages)) continue;
        s.schedule = schedule;
        micro_batches(question, s);
      }
    }
  }
  static bool has_all_chunks(const Question& question, const Strategy& s) {
    return s.chunks() <= question.facts().layers + question.facts().fillers;
  }
  /// The layers divide over the chunks, or do when one or both of the embedding and the head count as a layer.
  static bool splits_evenly(const Question& question, std::int64_t chunks) {
    const std::int64_t layers = question.facts().layers;
    const std::int64_t fillers = question.facts().fillers;
    if (chunks > layers + fillers) return false;
    for (std::int64_t counted = 0; counted <= fillers; ++counted)
      if ((layers + counted) % chunks == 0) return true;
    return false;
  }

  /// 1 to 16, and on to where the inputs of the layers alone, of half as many micro-batches as there are stages, fill
  /// the devices of a replica.
  [[nodiscard]] std::vector<std::int64_t> sizes(const Question& question, const Strategy& s) const {
    if (!space_.micro_batch.empty()) return space_.micro_batch;
    Bytes kept(0);
    for (const BlockRun& run : question.graph().runs()) {
      const Block& block = question.graph().block(run.block);
      if (block.kind() == BlockKind::layer) kept += run.count * least_kept(block, question, Strategy{});
    }
    const std::int64_t devices = question.devices() / s.data_parallel;
    std::vector<std::int64_t> all{1, 2, 4, 8, 16};
    const std::int64_t batch = question.training().global_batch / s.data_parallel;
    for (std::int64_t size = 32; size <= batch; size *= 2) {
      const std::int64_t half = std::min<std::int64_t>(s.pipeline_stages, batch / size) / 2;
      if (std::max<std::int64_t>(1, half) * size * (kept / devices) > question.capacity()) break;
      all.push_back(size);
    }
    // What does not divide gives way to the largest size below its double that does.
    for (std::int64_t& size : all)
      for (std::int64_t other = 2 * size - 1; batch % size != 0 && other > size; --other)
        if (s.data_parallel * batch == question.training().global_batch && batch % other == 0) size = other;
    return all;
  }

  void micro_batches(const Question& question, Strategy s) {
    for (const std::int64_t size : sizes(question, s)) {
      s.micro_batch = size;
      s.micro_batches = question.training().global_batch / (s.data_parallel * size);
      s.sequence_parallel = SequenceParallel::off;
      if (s.tensor_parallel == 1 || allowed(space_.sequence_parallel, SequenceParallel::off)) zero(question, s);
      s.sequence_parallel = SequenceParallel::on;
      if (s.tensor_parallel > 1 && allowed(space_.sequence_parallel, SequenceParallel::on)) zero(question, s);
    }
  }

  void zero(const Question& question, Strategy s) {
    const std::int32_t ranks = s.gradient_ranks();
    std::vector<std::int32_t> groups = space_.shard_group;
    if (groups.empty()) {
      const auto inside = static_cast<std::int32_t>(question.limits().nvlink_domain / s.tensor_parallel);
      if (inside < ranks) groups.push_back(inside);
      groups.push_back(ranks);
    }
    if (allowed(space_.zero_stage, 0) || ranks == 1) recomputes(question, s);
    for (s.zero_stage = 1; s.zero_stage <= 3; ++s.zero_stage) {
      if (!allowed(space_.zero_stage, s.zero_stage)) continue;
      for (const std::int32_t group : groups) {
        if (group < 2 || group > ranks || ranks % group != 0) continue;
        s.shard_group = group;
        std::vector<ParameterPrefetch> prefetch{ParameterPrefetch::on};
        if (s.zero_stage == 3 && !space_.prefetch.empty()) prefetch = space_.prefetch;
        std::vector<std::int32_t> units{1};
        if (s.zero_stage == 3 && !space_.layers_per_unit.empty()) units = space_.layers_per_unit;
        std::vector<std::int32_t> secondary{1};
        if (s.zero_stage == 3 && !space_.secondary_shard_group.empty()) secondary = space_.secondary_shard_group;
        std::erase_if(secondary, [&](std::int32_t n) { return n != 1 && (n >= group || group % n != 0); });
        for (const ParameterPrefetch each : prefetch)
          for (const std::int32_t layers : units)
            for (const std::int32_t smaller : secondary) {
              s.prefetch = each;
              s.layers_per_unit = layers;
              s.secondary_shard_group = smaller;
              recomputes(question, s);
            }
        s.prefetch = ParameterPrefetch::on;
        s.layers_per_unit = s.secondary_shard_group = 1;
      }
    }
  }

  void recomputes(const Question& question, Strategy s) {
    if (!space_.recompute.empty()) {
      for (const Recompute recompute : space_.recompute) leaf(question, s, recompute);
      return;
    }
    for (const RecomputeMode mode :
         {RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full, RecomputeMode::placed})
      leaf(question, s, {mode, 1});
  }

  void leaf(const Question& question, Strategy s, Recompute recompute) {
    s.recompute = recompute;
    const auto violation = first_violation(s, question.training(), question.facts(), question.limits());
    if (violation) {
      ++answer_.total;
      ++answer_.illegal[std::string(violation->rule.id)];
      return;
    }
    judge(question, s);
    if (!space_.has_level_splits || s.pipeline_stages == 1) return;
    const LayerTimes times(question.graph(), block_costs(question, s));
    const auto level = level_split(times, s, even_layers(question.graph(), s.chunks()));
    if (!level) return;
    s.layers_per_stage = *level;
    if (!first_violation(s, question.training(), question.facts(), question.limits())) judge(question, s);
  }

  void judge(const Question& question, const Strategy& s) {
    ++answer_.total;
    const Plan plan = evaluate(question, s);
    if (plan.verdict.fits && repeats(plan)) {
      ++answer_.repeated;
      return;
    }
    if (plan.verdict.fits) {
      answer_.fitting.push_back({s, question.devices(), plan.prediction.time.total(), plan.prediction.peak_memory,
                                 index_, plan.verdict.near_edge});
      return;
    }
    ++answer_.memory;
    answer_.smallest_too_large = std::min(answer_.smallest_too_large, plan.prediction.peak_memory);
  }

  [[nodiscard]] bool repeats(const Plan& plan) const {
    if (plan.strategy.recompute.mode != RecomputeMode::placed || !allowed(space_.recompute, Recompute{})) return false;
    return std::all_of(plan.layout.stages.begin(), plan.layout.stages.end(),
                       [](const StageLayoutEntry& stage) { return stage.recomputed_layers == 0; });
  }

  SearchSpace space_;
  std::size_t index_ = 0;
  NaiveAnswer answer_;
};

/// Best first: what surely fits, then what the objective asks for, then time, then peak memory, then the simpler
/// strategy.
[[nodiscard]] inline std::vector<NaivePlan> ranked(std::vector<NaivePlan> plans, Objective objective) {
  const auto key = [&](const NaivePlan& p) {
    std::int64_t first = 0;
    if (objective == Objective::tokens_per_dollar) first = p.step_time.value() * p.devices;
    if (objective == Objective::fewest_gpus) first = p.devices;
    if (objective == Objective::least_memory) first = p.peak_memory.value();
    return std::tuple(p.may_not_fit, first, p.step_time, p.peak_memory, p.strategy, p.question);
  };
  std::sort(plans.begin(), plans.end(), [&](const NaivePlan& a, const NaivePlan& b) { return key(a) < key(b); });
  return plans;
}

/// Plans that no other beats: none is as fast and as small, and better in one of both. Of equals the simplest.
[[nodiscard]] inline std::vector<NaivePlan> naive_front(const std::vector<NaivePlan>& plans) {
  std::vector<NaivePlan> front;
  std::vector<NaivePlan> fastest = plans;
  for (NaivePlan& p : fastest) p.may_not_fit = false;
  for (const NaivePlan& p : ranked(fastest, Objective::step_time)) {
    const bool beaten = std::any_of(plans.begin(), plans.end(), [&](const NaivePlan& other) {
      return other.step_time <= p.step_time && other.peak_memory <= p.peak_memory &&
             (other.step_time < p.step_time || other.peak_memory < p.peak_memory);
    });
    const bool repeats = !front.empty() && front.back().step_time == p.step_time;
    if (!beaten && !repeats) front.push_back(p);
  }
  return front;
}

}  // namespace plumbline
