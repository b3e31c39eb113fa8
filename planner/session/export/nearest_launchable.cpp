#include "planner/session/export/nearest_launchable.h"

#include "core/plan/strategy_axes.h"

namespace plumbline::session {
namespace {

class LaunchableNeighbours {
 public:
  LaunchableNeighbours(const Strategy& strategy, const FrameworkRecord& record, const Question& question)
      : from_(strategy), record_(record), question_(question) {}

  std::vector<Strategy> all() {
    add_schedules();
    add_recompute();
    for (const auto& stage : record_.zero_stages)
      add([&](Strategy& s) {
        s.zero_stage = stage.value;
        s.shard_over_all();
        reset_details("--zero", s);
      });
    for (const StrategyAxis* axis : details_of("--zero"))
      add([&](Strategy& s) { axis->set(s, axis->get(Strategy{})); });
    add([](Strategy& s) { s.split = StageSplit::even, s.layers_per_stage.clear(); });
    add([](Strategy& s) { s.shard_over_all(); });
    add([](Strategy& s) { s.sequence_parallel = SequenceParallel::on; });
    add([](Strategy& s) { s.sequence_parallel = SequenceParallel::off; });
    add([](Strategy& s) { s.expert_tensor_parallel = 1; });
    add([](Strategy& s) { s.expert_tensor_parallel = s.tensor_parallel; });
    add([](Strategy& s) { s.expert_parallel = 1; });
    add([](Strategy& s) { s.flash_attention = FlashAttention::on; });
    if (from_.context_parallel > 1)
      for (const ContextCommunication communication : all_context_communications)
        add([&](Strategy& s) { s.context_communication = communication; });
    add_degrees();
    return std::move(found_);
  }

 private:
  template <class Change>
  void add(Change change) {
    Strategy s = from_;
    change(s);
    if (s == from_) return;
    if (!first_violation(s, question_.training(), question_.facts(), question_.limits())) found_.push_back(s);
  }

  void add_schedules() {
    for (const auto& one : record_.schedules)
      for (const std::int32_t chunks : {from_.virtual_stages, 1, 2})
        add([&](Strategy& s) {
          s.schedule = one.value;
          s.virtual_stages = chunks;
          if (chunks != from_.virtual_stages) s.layers_per_stage.clear();
        });
  }

  void add_recompute() {
    for (const RecomputeMode mode :
         {RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full, RecomputeMode::by_operator})
      add([&](Strategy& s) { s.recompute = Recompute{mode}; });
    using enum RecomputeModule;
    for (const auto& modules : {std::vector{layernorm},
                                {mlp},
                                {layernorm, mlp},
                                {core_attn, mlp},
                                {moe_act, layernorm},
                                {mla_up_proj, layernorm},
                                {moe, layernorm}})
      add([&](Strategy& s) {
        s.recompute = Recompute{RecomputeMode::modules};
        for (const RecomputeModule module : modules) s.recompute.modules.add(module);
      });
    for (const std::int32_t n : {2, 4}) add([&](Strategy& s) { s.recompute = Recompute{RecomputeMode::every_nth, n}; });
  }

  /// Ranks of a degree that go to data parallelism, with as many micro-batches fewer, or the micro-batch smaller.
  void give_to_data(Strategy& s, std::int32_t& degree, std::int32_t to) const {
    const std::int32_t freed = degree / to;
    degree = to;
    s.data_parallel *= freed;
    if (s.micro_batches % freed == 0)
      s.micro_batches /= freed;
    else if (s.micro_batch % freed == 0)
      s.micro_batch /= freed;
    s.shard_over_all();
    if (s.context_parallel == 1) s.context_communication = ContextCommunication::ring;
    if (s.tensor_parallel == 1) s.sequence_parallel = SequenceParallel::off;
    if (s.pipeline_stages == 1) s.schedule = Schedule::none, s.virtual_stages = 1;
    s.layers_per_stage.clear();
  }

  void add_degrees() {
    add([&](Strategy& s) { give_to_data(s, s.context_parallel, 1); });
    add([&](Strategy& s) { give_to_data(s, s.tensor_parallel, 1); });
    add([&](Strategy& s) { give_to_data(s, s.pipeline_stages, 1); });
  }

  const Strategy& from_;
  const FrameworkRecord& record_;
  const Question& question_;
  std::vector<Strategy> found_;
};

}  // namespace

std::vector<Strategy> one_axis_away(const Strategy& strategy, const FrameworkRecord& record, const Question& question) {
  return LaunchableNeighbours(strategy, record, question).all();
}

}  // namespace plumbline::session
