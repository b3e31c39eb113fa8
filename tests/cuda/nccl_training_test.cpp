// Whole steps over ranks of NCCL: losses, gradients and counted bytes of local ranks, within what another order of sums
// rounds differently.
#include <atomic>
#include <chrono>

#include "core/program/action_kinds.h"
#include "runtime/cuda/cuda_device.h"
#include "tests/cuda/late_kernels.h"
#include "tests/cuda/nccl_ranks.h"
#include "tests/execution_checks.h"
#include "tests/probes.h"

namespace plumbline {
namespace {

RunOptions over_nccl(RunOptions options) {
  const auto rendezvous = std::make_shared<LocalRendezvous>();
  options.ranks.transport = Transport::nccl;
  options.device.backend = ComputeBackend::cuda;
  options.device.make = [](std::int32_t rank) { return std::make_unique<CudaDevice>(rank, late_kernels()); };
  options.ranks.groups = [rendezvous](std::int32_t rank) {
    return std::make_shared<NcclGroups>(rank, *rendezvous, NcclOptions{.connected_by = Bytes(1024)});
  };
  options.ranks.deadline = std::chrono::milliseconds(120'000);
  return options;
}

void compare(Net net, const Strategy& strategy, unsigned seed, ExpertRouting routing = ExpertRouting::balanced) {
  const LoweredPlan plan(network(net), strategy, recipe_of(net));
  INFO(to_text(strategy));
  const TrainingJob job = routed(plan, routing);
  const Executed local = execute(job, options(2));
  const NcclComputer computer(seed);
  const Executed run = execute(job, over_nccl(options(2)));
  CHECK(run.record.transport == "nccl");
  REQUIRE(run.record.steps.size() == local.record.steps.size());
  for (std::size_t i = 0; i < local.record.steps.size(); ++i)
    CHECK(run.record.steps[i].loss == Approx(local.record.steps[i].loss).epsilon(1e-5));
  require_equal(run.gradients, local.gradients, 5e-5);
  REQUIRE(run.record.ranks.size() == local.record.ranks.size());
  for (std::size_t rank = 0; rank < run.record.ranks.size(); ++rank)
    CHECK(run.record.ranks[rank].sent == local.record.ranks[rank].sent);
}

Strategy of(std::int32_t data, std::int32_t tensor, std::int32_t pipeline, std::int32_t context, int zero) {
  Strategy s;
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.pipeline_stages = pipeline;
  s.context_parallel = context;
  s.zero_stage = zero;
  if (zero > 0) s.shard_group = data * context;
  if (pipeline > 1) s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 8 / data;
  return s;
}

TEST_CASE("One rank of NCCL trains as a local one") { compare(Net::llama, of(1, 1, 1, 1, 0), 1); }

TEST_CASE("Data-parallel, sharded and tensor-parallel ranks of NCCL train as local ones") {
  compare(Net::gpt, of(2, 1, 1, 1, 0), 2);
  compare(Net::llama, of(4, 1, 1, 1, 3), 3);
  compare(Net::llama, of(2, 2, 1, 1, 2), 4);
  Strategy sequence = of(1, 4, 1, 1, 0);
  sequence.sequence_parallel = SequenceParallel::on;
  compare(Net::llama, sequence, 5);
}

TEST_CASE("Pipelines and rings of NCCL train as local ones") {
  compare(Net::gpt, of(1, 1, 4, 1, 0), 6);
  compare(Net::llama, of(1, 1, 2, 2, 1), 7);
  compare(Net::llama, of(1, 1, 1, 4, 0), 8);
  for (const Schedule schedule : {Schedule::interleaved, Schedule::zb_h1, Schedule::zbv}) {
    Strategy s = of(1, 1, 2, 1, 0);
    s.schedule = schedule;
    if (schedule != Schedule::zb_h1) s.virtual_stages = 2;
    compare(Net::llama, s, 9);
  }
}

TEST_CASE("Experts of NCCL's ranks train as local ones") {
  Strategy s = of(4, 1, 1, 1, 1);
  s.expert_parallel = 2;
  compare(Net::moe, s, 10);
  compare(Net::moe, s, 11, ExpertRouting::learned);
}

class ConnectionCounts : public RunObserver, public ExecutionProbe {
 public:
  explicit ConnectionCounts(std::int64_t ranks) : ranks_(ranks) {}

  /// No rank begins a step before all have their groups.
  void on_ready(std::int32_t, const DescribeRank&) override {
    if (++ready_ == ranks_) before_first_step = fake_nccl::connections();
    while (before_first_step == 0) std::this_thread::yield();
  }
  void on_action(std::int32_t, std::int64_t step, std::int32_t action) override {
    int none = 0;
    if (step == 1 && action == 0) behind_first_step.compare_exchange_strong(none, fake_nccl::connections());
  }

  std::atomic<int> before_first_step = 0;
  std::atomic<int> behind_first_step = 0;  ///< all ranks have ended it where one begins the next

 private:
  std::int64_t ranks_;
  std::atomic<int> ready_ = 0;
};

// Context parallelism sends round a ring, experts exchange, stages send both ways, parts differ in size.
TEST_CASE("All ranks of NCCL are connected before the first step") {
  Strategy experts = of(4, 1, 1, 1, 1);
  experts.expert_parallel = 2;
  const std::pair<Net, Strategy> runs[] = {{Net::llama, of(2, 2, 1, 1, 3)},
                                           {Net::llama, of(1, 1, 2, 2, 1)},
                                           {Net::llama, of(1, 2, 2, 1, 0)},
                                           {Net::moe, experts}};
  for (const auto& [net, strategy] : runs) {
    INFO(to_text(strategy));
    const LoweredPlan plan(network(net), strategy, recipe_of(net));
    const NcclComputer computer(1);
    RunOptions o = over_nccl(options(2));
    ConnectionCounts counts(plan.strategy.devices());
    o.observer = &counts;
    o.tests.probe = &counts;
    (void)execute(plan.job(), o);
    CHECK(counts.before_first_step > 0);
    CHECK(counts.behind_first_step == counts.before_first_step);
  }
}

TEST_CASE("A send over NCCL lasts as long as its transfer, not as the copy that it leaves from") {
  constexpr std::chrono::milliseconds length(4);
  const LoweredPlan plan(network(Net::gpt), of(1, 1, 2, 1, 0), recipe_of(Net::gpt));
  const NcclComputer computer(1);
  fake_nccl::slow_messages(length);
  const Executed run = execute(plan.job(), over_nccl(options(1)));
  int sends = 0;
  for (const RankRecord& rank : run.record.ranks)
    for (const ActionRecord& action : rank.actions) {
      if (!is_send(action.kind)) continue;
      ++sends;
      INFO(action.name);
      CHECK(action.end_ns - action.start_ns >= std::chrono::nanoseconds(length).count());
    }
  CHECK(sends > 0);
}

TEST_CASE("A call of NCCL that fails in a step names rank and action") {
  const LoweredPlan plan(network(Net::llama), of(2, 2, 1, 1, 3), recipe_of(Net::llama));
  const NcclComputer computer(1);
  RunOptions o = over_nccl(options(2));
  ActionProbe probe([](std::int32_t rank, std::int64_t step, std::int32_t action) {
    if (rank == 0 && step == 1 && action == 0) fake_nccl::fail_call("ncclAllReduce", 5, nccl::Result::system_error);
  });
  o.tests.probe = &probe;
  std::string text;
  try {
    (void)execute(plan.job(), o);
  } catch (const EnvironmentError& failed) {
    text = failed.what();
  }
  INFO(text);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  CHECK(has("ncclAllReduce: unhandled system error"));
  CHECK(has("(stage 0) at "));
}

}  // namespace
}  // namespace plumbline
