#include "planner/search/variants.h"

#include <algorithm>
#include <bit>

#include "core/plan/stage_split.h"
#include "planner/search/level_split.h"
#include "planner/search/space_axes.h"

namespace plumbline {
namespace {

/// What the space holds whether or not layers divide over the chunks.
constexpr std::int32_t few_virtual_stages = 4;
/// Micro-batches are at most so many times as large or small.
constexpr std::int64_t farthest_size = 2;
constexpr std::int32_t rarest_recomputed_layer = 4;

class Variants {
 public:
  Variants(const Strategy& from, const Question& question, const SearchSpace& space, VariantValues values)
      : from_(from), question_(question), space_(space), skips_space_(values == VariantValues::beyond_space) {}

  void add_of_same_blocks() {
    add_virtual_stages();
    add_listed();
  }
  void add_of_other_blocks() {
    add_micro_batches();
    add_expert_parts();
    if (space_.recompute.empty()) add_modules();
    if (space_.recompute.empty()) add_every_nth();
  }
  [[nodiscard]] std::vector<Strategy> take() { return std::move(found_); }

 private:
  void add(const Strategy& s) {
    if (s == from_ || (space_.allows && !space_.allows(s))) return;
    if (first_violation(s, question_.training(), question_.facts(), question_.limits())) return;
    found_.push_back(s);
  }

  void add_virtual_stages() {
    const bool is_one_f_one_b = from_.schedule == Schedule::one_f_one_b;
    if (!space_.virtual_stages.empty() || (!is_one_f_one_b && from_.schedule != Schedule::interleaved)) return;
    if (is_one_f_one_b && !space_.schedule.empty()) return;
    const std::int64_t chunks = question_.facts().layers + question_.facts().fillers;
    const std::int64_t most = std::min<std::int64_t>(most_virtual_stages, chunks / from_.pipeline_stages);
    Strategy s = from_;
    s.schedule = Schedule::interleaved;
    const auto add_count = [&] {
      s.layers_per_stage = s.virtual_stages == from_.virtual_stages ? from_.layers_per_stage : ChunkLayers{};
      add(s);
    };
    const auto is_in_space = [&] {
      return s.virtual_stages <= few_virtual_stages || splits_evenly(question_.graph(), s.chunks());
    };
    for (s.virtual_stages = 2; s.virtual_stages <= most; ++s.virtual_stages)
      if (!skips_space_ || !is_in_space()) add_count();
  }

  /// As rows say it, of the shard group and of details. What is better is where the next ones are looked for.
  void add_listed() {
    for (const SpaceAxis& one : space_axes()) {
      const StrategyAxis& axis = *one.axis;
      if (axis.detail_of.empty() && axis.refined == nullptr) continue;
      if (!axis.means_something(from_) || one.is_fixed(space_)) continue;
      if (axis.considered == Considered::when_named) continue;
      for (const std::int64_t value : axis.refined != nullptr ? axis.refined(from_) : axis.neighbours(from_)) {
        Strategy s = from_;
        axis.set(s, value);
        add(s);
      }
    }
  }

  void add_micro_batches() {
    if (!space_.micro_batch.empty()) return;
    const std::int64_t batch = from_.batch() / from_.data_parallel;
    const auto add_size = [&](std::int64_t size) {
      Strategy s = from_;
      s.micro_batch = size;
      if (s.set_batch(from_.batch())) add(s);
    };
    for (std::int64_t size = from_.micro_batch / farthest_size; size <= from_.micro_batch * farthest_size; ++size)
      if (size >= 1 && batch % size == 0 && !(skips_space_ && std::has_single_bit(static_cast<std::uint64_t>(size))))
        add_size(size);
  }

  void add_expert_parts() {
    if (!space_.expert_tensor_parallel.empty() || question_.facts().experts.empty()) return;
    Strategy s = from_;
    for (s.expert_tensor_parallel = 1; s.expert_tensor_parallel <= from_.tensor_parallel; ++s.expert_tensor_parallel)
      if (from_.tensor_parallel % s.expert_tensor_parallel == 0) add(s);
  }

  /// Where something is recomputed already: what keeps all that it can is faster by nothing.
  void add_modules() {
    if (from_.recompute.mode != RecomputeMode::selective && from_.recompute.mode != RecomputeMode::full &&
        from_.recompute.mode != RecomputeMode::modules)
      return;
    RecomputeModules kept = from_.recompute.modules;
    if (from_.recompute.mode == RecomputeMode::selective) kept.add(RecomputeModule::core_attn);
    for (const RecomputeModule module : all_recompute_modules) {
      RecomputeModules modules;
      for (const RecomputeModule other : all_recompute_modules)
        if (kept.has(other) != (other == module)) modules.add(other);
      if (modules.empty()) continue;
      Strategy s = from_;
      s.recompute = *recompute_from_text(to_text(Recompute{RecomputeMode::modules, 1, modules}));
      add(s);
    }
  }

  void add_every_nth() {
    if (from_.recompute.mode != RecomputeMode::full && from_.recompute.mode != RecomputeMode::every_nth) return;
    Strategy s = from_;
    for (std::int32_t n = 2; n <= rarest_recomputed_layer; ++n) {
      s.recompute = {RecomputeMode::every_nth, n, {}};
      add(s);
    }
  }

  const Strategy& from_;
  const Question& question_;
  const SearchSpace& space_;
  const bool skips_space_;
  std::vector<Strategy> found_;
};

}  // namespace

std::vector<Strategy> variants_of(const Strategy& strategy, const Question& question, const SearchSpace& space,
                                  VariantAxes axes, VariantValues values) {
  Variants variants(strategy, question, space, values);
  variants.add_of_same_blocks();
  if (axes == VariantAxes::all) variants.add_of_other_blocks();
  return variants.take();
}

}  // namespace plumbline
