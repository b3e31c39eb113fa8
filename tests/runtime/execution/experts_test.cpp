// Mixtures of experts: every strategy gives the numbers of one rank, and holds and sends the bytes that were predicted.
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

struct Case {
  std::string name;
  Strategy strategy;
};

/// Strategies with what follows from their degrees.
class Cases {
 public:
  void add(const std::string& name, void (*change)(Strategy&)) {
    Strategy s = single();
    change(s);
    s.micro_batches = 8 / s.data_parallel / s.micro_batch;
    if (s.zero_stage > 0 && s.shard_group == 1) s.shard_group = s.gradient_ranks();
    if (s.tensor_parallel > 1) s.sequence_parallel = SequenceParallel::on;
    all.push_back({name, s});
  }
  void add_data_parallel();
  void add_tensor_parallel();
  void add_pipelines();

  std::vector<Case> all;
};

void Cases::add_data_parallel() {
  add("one rank", [](Strategy&) {});
  add("one rank, full recompute", [](Strategy& s) { s.recompute.mode = RecomputeMode::full; });
  add("dp 2", [](Strategy& s) { s.data_parallel = 2; });
  add("ep 2", [](Strategy& s) { s.data_parallel = s.expert_parallel = 2; });
  add("ep 4, full recompute", [](Strategy& s) {
    s.data_parallel = s.expert_parallel = 4;
    s.recompute.mode = RecomputeMode::full;
  });
  add("ep 8", [](Strategy& s) { s.data_parallel = s.expert_parallel = 8, s.micro_batch = 1; });
  add("ep 2 dp 4", [](Strategy& s) { s.data_parallel = 4, s.expert_parallel = 2; });
  for (const std::int32_t zero : {1, 2, 3}) {
    add("ep 2 dp 4", [](Strategy& s) { s.data_parallel = 4, s.expert_parallel = 2; });
    all.back().name += " zero " + std::to_string(zero);
    all.back().strategy.zero_stage = zero;
    all.back().strategy.shard_group = 4;
  }
  add("dp 4 zero 3 ep 2 in twos",
      [](Strategy& s) { s.data_parallel = 4, s.zero_stage = 3, s.shard_group = 2, s.expert_parallel = 2; });
}

void Cases::add_tensor_parallel() {
  add("tp 2 sp", [](Strategy& s) { s.tensor_parallel = 2; });
  add("tp 2 sp ep 2", [](Strategy& s) { s.tensor_parallel = s.expert_parallel = 2; });
  add("tp 4 sp ep 2 full recompute",
      [](Strategy& s) { s.tensor_parallel = 4, s.expert_parallel = 2, s.recompute.mode = RecomputeMode::full; });
  add("tp 2 sp dp 2 ep 4 zero 2",
      [](Strategy& s) { s.tensor_parallel = s.data_parallel = 2, s.expert_parallel = 4, s.zero_stage = 2; });
  add("cp 2 ep 2", [](Strategy& s) { s.context_parallel = s.expert_parallel = 2; });
  add("cp 2 tp 2 dp 2 ep 4 zero 1", [](Strategy& s) {
    s.context_parallel = s.tensor_parallel = s.data_parallel = 2, s.expert_parallel = 4, s.zero_stage = 1;
  });
  add("tp 2 sp etp 2", [](Strategy& s) { s.tensor_parallel = s.expert_tensor_parallel = 2; });
  add("tp 4 sp etp 2 ep 2 full recompute", [](Strategy& s) {
    s.tensor_parallel = 4, s.expert_parallel = s.expert_tensor_parallel = 2, s.recompute.mode = RecomputeMode::full;
  });
  add("tp 4 sp etp 4 cp 2",
      [](Strategy& s) { s.tensor_parallel = s.expert_tensor_parallel = 4, s.context_parallel = 2; });
  for (const std::int32_t zero : {0, 1, 2, 3}) {
    add("tp 2 sp dp 4 ep 2 etp 2",
        [](Strategy& s) { s.tensor_parallel = s.expert_tensor_parallel = s.expert_parallel = 2, s.data_parallel = 4; });
    all.back().name += " zero " + std::to_string(zero);
    all.back().strategy.zero_stage = zero;
    if (zero > 0) all.back().strategy.shard_group = 4;
  }
}

void Cases::add_pipelines() {
  add("tp 2 sp pp 2 dp 2 ep 2 etp 2", [](Strategy& s) {
    s.pipeline_stages = s.tensor_parallel = s.data_parallel = s.expert_parallel = s.expert_tensor_parallel = 2;
    s.schedule = Schedule::zb_h1;
  });
  for (const Schedule schedule : all_schedules) {
    if (schedule == Schedule::none) continue;
    add("dp 2 ep 2 pp 2 " + std::string(to_text(schedule)),
        [](Strategy& s) { s.pipeline_stages = s.data_parallel = s.expert_parallel = 2, s.micro_batch = 1; });
    Strategy& s = all.back().strategy;
    s.schedule = schedule;
    s.virtual_stages = placement(schedule) == StagePlacement::v_shaped || schedule == Schedule::interleaved ? 2 : 1;
    all.push_back(all.back());
    all.back().name += " zero 2";
    all.back().strategy.zero_stage = 2;
    all.back().strategy.shard_group = 2;
  }
}

std::vector<Case> cases() {
  Cases found;
  found.add_data_parallel();
  found.add_tensor_parallel();
  found.add_pipelines();
  return found.all;
}

void require_one_rank(ExpertRouting routing) {
  const LoweredPlan single_plan(network(Net::moe), single(), recipe_of(Net::moe));
  const Executed alone = execute(routed(single_plan, routing), options());
  for (const Case& one : sampled(cases(), 6)) {
    INFO(one.name << ": " << to_text(one.strategy));
    const LoweredPlan plan(network(Net::moe), one.strategy, recipe_of(Net::moe));
    const Executed run = execute(routed(plan, routing), options());
    REQUIRE(run.record.steps.size() == alone.record.steps.size());
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].loss == Approx(alone.record.steps[i].loss).epsilon(1e-5));
    require_equal(run.gradients, alone.gradients, 2e-5);
    require_equal(run.weights, alone.weights, 1e-5);
    if (routing == ExpertRouting::balanced) require_bytes(plan, run.record);
    require_routed_bytes(plan, run.record);
  }
}

TEST_CASE("experts in turn: strategies give one rank's numbers, and hold and send what was predicted") {
  require_one_rank(ExpertRouting::balanced);
}

/// Bytes of all-to-alls that the first rank sends in a step, and the plan has.
std::pair<Bytes, Bytes> exchanged(const LoweredPlan& plan, const Program& executed) {
  TrainingJob job{plan.graph, plan.strategy, plan.training, executed, {}, plan.job().learning_rate, {}, {}, ""};
  job.routing = ExpertRouting::balanced;
  RunOptions unpoisoned = options(1);
  unpoisoned.tests.poison = Poison::no;
  return {sent_in(execute(job, unpoisoned).record.ranks[0], "expert"),
          planned_on(plan.program.ranks[0], Stream::expert)};
}

TEST_CASE("an all-to-all that is left out is noticed") {
  Strategy s = single();
  s.data_parallel = s.expert_parallel = 2;
  s.micro_batches = 2;
  s.recompute.mode = RecomputeMode::full;
  const LoweredPlan plan(network(Net::moe), s, recipe_of(Net::moe));
  const auto [sent, planned] = exchanged(plan, plan.program);
  CHECK(sent == planned);
  Program changed = plan.program;
  std::vector<Action>& actions = changed.ranks[0].actions;
  const auto found = std::find_if(actions.begin(), actions.end(),
                                  [](const Action& a) { return a.kind() == ActionKind::expert_collective; });
  std::get<BlockCollective>(found->what).axis = BlockAxis::tensor;
  CHECK_THROWS_WITH(exchanged(plan, changed),
                    Catch::Matchers::ContainsSubstring("no expert-collective of the program is a view"));
}

TEST_CASE("rows that cannot be dealt out equally are refused before any work") {
  Strategy s = single();
  s.data_parallel = s.expert_parallel = 8;
  s.micro_batch = s.micro_batches = 1;
  Training training = recipe_of(Net::moe);
  training.sequence_length = 18;
  const LoweredPlan plan(network(Net::moe), s, training);
  CHECK_THROWS_WITH(train(routed(plan, ExpertRouting::balanced), options(1)),
                    Catch::Matchers::ContainsSubstring("cannot be dealt out to 8 experts equally"));
  CHECK(train(routed(plan, ExpertRouting::learned), options(1)).steps.size() == 1);
}

TEST_CASE("experts and tensor parallelism without sequence parallelism are refused") {
  Strategy s = single();
  s.tensor_parallel = 2;
  CHECK_THROWS_WITH(train(LoweredPlan(network(Net::moe), s, recipe_of(Net::moe)).job(), options(1)),
                    Catch::Matchers::ContainsSubstring("without sequence parallelism"));
}

TEST_CASE("learned experts: strategies give one rank's losses and weights") {
  require_one_rank(ExpertRouting::learned);
}

}  // namespace
}  // namespace plumbline
