// Whole steps with the kernels of kernels/cuda, carried out by the CPU, on the CUDA device: losses and gradients are
// those of the CPU device within what its formats round, and the counted bytes are the same.
#include "models/network_catalog.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "tests/cuda_on_cpu/control.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

RunOptions on_cuda(RunOptions options, unsigned seed) {
  (void)cudaDeviceReset();
  cuda_on_cpu::set_seed(seed);
  options.device = [] { return std::make_unique<CudaDevice>(0, cuda_kernel_table()); };
  options.backend = "cuda";
  return options;
}

/// How far losses and gradients of two runs from one state may lie apart: what rounding makes of sums in another order.
struct Tolerance {
  double loss = 1e-5;
  double gradients = 5e-5;
};
constexpr Tolerance of_16_bits{1e-2, 6e-2};

void require_near(const Executed& run, const Executed& expected, const Tolerance& tolerance) {
  REQUIRE(run.record.steps.size() == expected.record.steps.size());
  CHECK(run.record.steps[0].loss == Approx(expected.record.steps[0].loss).epsilon(tolerance.loss));
  require_equal(run.gradients, expected.gradients, tolerance.gradients);
  REQUIRE(run.record.ranks.size() == expected.record.ranks.size());
  for (std::size_t rank = 0; rank < run.record.ranks.size(); ++rank) {
    CHECK(run.record.ranks[rank].sent == expected.record.ranks[rank].sent);
    CHECK(run.record.ranks[rank].memory.at_peak.by_class == expected.record.ranks[rank].memory.at_peak.by_class);
  }
}

void compare(const LoweredPlan& plan, const TrainingJob& job, const RunOptions& options, const Tolerance& tolerance) {
  INFO(to_text(plan.strategy) << ", " << to_text(plan.training.precision));
  require_near(execute(job, on_cuda(options, 5)), execute(job, options), tolerance);
}

Strategy sharded() {
  Strategy s;
  s.data_parallel = 2;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.zero_stage = 3;
  s.shard_group = 2;
  s.micro_batches = 4;
  return s;
}

Strategy pipelined() {
  Strategy s;
  s.pipeline_stages = 2;
  s.context_parallel = 2;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 8;
  return s;
}

TEST_CASE("Steps with the CUDA kernels are those with the CPU's, on one rank and on several", "[long]") {
  for (const Net net : {Net::gpt, Net::llama, Net::moe})
    for (const Strategy& strategy : {single(), sharded(), pipelined()}) {
      const LoweredPlan plan(network(net), strategy, recipe_of(net));
      compare(plan, routed(plan, ExpertRouting::balanced), options(1), {});
    }
}

TEST_CASE("So they are in 16 bits, and with the optimizers that ship") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::bf16, PrecisionRecipe::fp16}) {
    Training training = recipe(Optimizer::adamw);
    training.precision = precision;
    const LoweredPlan plan(network(Net::llama), single(), training);
    compare(plan, plan.job(), options(1), of_16_bits);
  }
  for (const Optimizer optimizer : {Optimizer::momentum, Optimizer::lion, Optimizer::muon, Optimizer::adagrad}) {
    const LoweredPlan plan(network(Net::gpt), single(), recipe(optimizer));
    const Executed on_host = execute(plan.job(), options(2));
    const Executed run = execute(plan.job(), on_cuda(options(2), 7));
    CHECK(run.record.steps[1].loss == Approx(on_host.record.steps[1].loss).epsilon(1e-4));
  }
}

TEST_CASE("The small networks that ship take a step with the CUDA kernels", "[long]") {
  for (const char* const name : {"nano-gpt", "nano-llama", "nano-moe"}) {
    INFO(name);
    const Network network = find_network(name);
    Training training = recipe(Optimizer::adamw);
    training.global_batch = 1;
    training.sequence_length = 16;
    const LoweredPlan plan(network.graph, Strategy(), training);
    TrainingJob job = plan.job();
    job.constants = network.constants;
    RunOptions one_step = options(1);
    one_step.data = random_tokens(256, 4000);
    compare(plan, job, one_step, {});
  }
}

}  // namespace
}  // namespace plumbline
