// Whole steps with the kernels of kernels/cuda, carried out by the CPU, on the CUDA device: losses and gradients are
// those of the CPU device within what its formats round, and the counted bytes are the same.
#include <chrono>

#include "kernels/cuda/half_products.h"
#include "models/network_catalog.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "tests/cuda/fake_cublaslt.h"
#include "tests/cuda_on_cpu/control.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

RunOptions on_cuda(RunOptions options, unsigned seed) {
  (void)cudaDeviceReset();
  cuda_on_cpu::set_seed(seed);
  options.device.make = [](std::int32_t) { return std::make_unique<CudaDevice>(0, cuda_kernel_table()); };
  options.device.backend = ComputeBackend::cuda;
  return options;
}

/// How far losses and gradients of two runs from one state may lie apart: what rounding makes of sums in another order.
struct Tolerance {
  double loss = 1e-5;
  double gradients = 5e-5;
};
constexpr Tolerance of_16_bits{1e-2, 6e-2};

/// tf32 has 11 significant bits: rounding errs by at most 2^-11, in the root mean square by 2^-11 / sqrt(3).
/// Sums in another order differ in the last bits of fp32, but an operand near to the middle of two tf32 numbers then
/// rounds to the other one: of operands that differ by d a share d / 2^-10 moves by 2^-10, which leaves sqrt(2^-10 d).
/// From product to product that tends to 2^-10, where both runs round independently. So a product errs by two operands
/// in two runs, sqrt(4) * 2^-11 / sqrt(3) = 5.6e-4, and errors of products behind each other add up as squares. Behind
/// the first layer's gradients lie four products a layer and the head's, forward and backward, and the weights' own:
/// for two layers 2 * (4 * 2 + 1) + 1 = 19, sqrt(19) * 5.6e-4 = 2.5e-3.
Tolerance of_tf32(std::int64_t layers) {
  const double of_product = 2 * std::ldexp(1.0, -11) / std::sqrt(3.0);
  const auto forward = static_cast<double>(4 * layers + 1);
  // The loss, -log of a share, errs by at most twice a logit's error; first logits are below 1, first losses above 2.
  return {of_product * std::sqrt(forward), of_product * std::sqrt(2 * forward + 1)};
}

/// Fibers are slow, so two layers: what a block hands to the next one, with experts behind a dense layer.
constexpr std::int64_t layers = 2;
Graph small_network(Net net) {
  if (net == Net::gpt) return gpt({layers, 32, 4, 64, 32, Dropout::no});
  LlamaShape shape = llama_shape(net);
  shape.layers = layers;
  shape.width = 48;
  return llama(shape);
}

/// By the same argument with the four significant bits of e4m3, where both runs round independently.
Tolerance of_fp8(std::int64_t count) {
  const double of_product = 2 * std::ldexp(1.0, -4) / std::sqrt(3.0);
  return {of_16_bits.loss, of_product * std::sqrt(static_cast<double>(2 * (4 * count + 1) + 1))};
}

/// As many sequences as the strategy takes.
Training small_recipe(Net net, const Strategy& strategy, Optimizer optimizer = Optimizer::sgd) {
  Training training = recipe_of(net);
  training.optimizer = optimizer;
  training.global_batch = strategy.data_parallel * strategy.micro_batch * strategy.micro_batches;
  return training;
}

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

void compare(const LoweredPlan& plan, const TrainingJob& job, RunOptions options, const Tolerance& tolerance) {
  // A step of fibers takes seconds where the cores are shared: no rank is lost.
  options.ranks.deadline = std::chrono::milliseconds(300'000);
  INFO(to_text(plan.strategy) << ", " << to_text(plan.training.precision));
  require_near(execute(job, on_cuda(options, 5)), execute(job, options), tolerance);
}

Strategy alone() {
  Strategy s;
  s.micro_batch = 2;
  s.micro_batches = 2;
  return s;
}

Strategy sharded() {
  Strategy s;
  s.data_parallel = 2;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.zero_stage = 3;
  s.shard_group = 2;
  s.micro_batches = 2;
  return s;
}

Strategy pipelined() {
  Strategy s;
  s.pipeline_stages = 2;
  s.context_parallel = 2;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 3;
  return s;
}

TEST_CASE("Steps with the CUDA kernels are those with the CPU's, on one rank and on several", "[long]") {
  for (const Net net : {Net::gpt, Net::llama, Net::moe})
    for (const Strategy& strategy : {alone(), sharded(), pipelined()}) {
      const LoweredPlan plan(small_network(net), strategy, small_recipe(net, strategy));
      compare(plan, routed(plan, ExpertRouting::balanced), options(1), {});
    }
}

TEST_CASE("So they are in 16 bits, and with the optimizers that ship") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::bf16, PrecisionRecipe::fp16}) {
    Training training = small_recipe(Net::llama, alone(), Optimizer::adamw);
    training.precision = precision;
    const LoweredPlan plan(small_network(Net::llama), alone(), training);
    compare(plan, plan.job(), options(1), of_16_bits);
  }
  for (const Optimizer optimizer :
       {Optimizer::momentum, Optimizer::lion, Optimizer::muon, Optimizer::adagrad, Optimizer::adafactor}) {
    const LoweredPlan plan(small_network(Net::gpt), alone(), small_recipe(Net::gpt, alone(), optimizer));
    const Executed on_host = execute(plan.job(), options(2));
    const Executed run = execute(plan.job(), on_cuda(options(2), 7));
    CHECK(run.record.steps[1].loss == Approx(on_host.record.steps[1].loss).epsilon(1e-4));
  }
}

/// Sides of 256, below which products stay in bf16.
TEST_CASE("Steps in fp8 are those of the CPU, with one scale for a tensor and with one for each row") {
  Training training = small_recipe(Net::llama, alone(), Optimizer::adamw);
  training.precision = PrecisionRecipe::fp8;
  const LoweredPlan plan(
      llama({.layers = 1, .hidden = 256, .heads = 4, .kv_heads = 2, .head_dim = 64, .width = 256, .vocabulary = 32}),
      alone(), training);
  for (const Fp8Scaling scaling : {Fp8Scaling::tensor, Fp8Scaling::row}) {
    INFO(to_text(scaling));
    TrainingJob job = plan.job();
    job.fp8_scaling = scaling;
    const int before = fake_cublaslt::outer_scaled_products();
    compare(plan, job, options(1), of_fp8(1));
    // Seven weights, each in three products, of two micro-batches.
    CHECK(fake_cublaslt::outer_scaled_products() - before == (scaling == Fp8Scaling::row ? 7 * 3 * 2 : 0));
  }
}

TEST_CASE("Steps multiply through cuBLASLt in every precision, and by our own kernels where it is missing") {
  for (const PrecisionRecipe precision :
       {PrecisionRecipe::fp32, PrecisionRecipe::tf32, PrecisionRecipe::bf16, PrecisionRecipe::fp8}) {
    Training training = small_recipe(Net::gpt, alone(), Optimizer::adamw);
    training.precision = precision;
    const LoweredPlan plan(small_network(Net::gpt), alone(), training);
    const Tolerance tolerance = precision == PrecisionRecipe::fp32   ? Tolerance{}
                                : precision == PrecisionRecipe::tf32 ? of_tf32(layers)
                                                                     : of_16_bits;
    const int before = fake_cublaslt::products_computed();
    compare(plan, plan.job(), options(1), tolerance);
    const int through = fake_cublaslt::products_computed() - before;
    CHECK(through > 0);
    fake_cublaslt::set_missing("libcublasLt.so.13: cannot open shared object file");
    compare(plan, plan.job(), options(1), tolerance);
    fake_cublaslt::set_missing("");
    CHECK(fake_cublaslt::products_computed() - before == through);
  }
}

// The head's gradients are the largest products of a step: fp32 gradients of logits against 16-bit weights would go to
// the kernel that takes any formats.
TEST_CASE("No product of a step in 16 bits runs on the kernel that takes any formats") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::bf16, PrecisionRecipe::fp16})
    for (const Net net : {Net::gpt, Net::llama}) {
      Training training = small_recipe(net, alone(), Optimizer::adamw);
      training.precision = precision;
      const LoweredPlan plan(small_network(net), alone(), training);
      INFO(plan.graph.name() << " in " << to_text(precision));
      (void)execute(plan.job(), on_cuda(options(1), 5));
      CHECK(cuda_on_cpu::launches_with<cuda::Product>() == 0);
      CHECK(cuda_on_cpu::launches_with<cuda::HalfProduct>() == 0);  // cuBLASLt has them all
      fake_cublaslt::set_missing("libcublasLt.so.13: cannot open shared object file");
      (void)execute(plan.job(), on_cuda(options(1), 5));
      CHECK(cuda_on_cpu::launches_with<cuda::Product>() == 0);
      CHECK(cuda_on_cpu::launches_with<cuda::HalfProduct>() > 0);
      fake_cublaslt::set_missing("");
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
