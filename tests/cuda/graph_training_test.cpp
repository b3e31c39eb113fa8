// Steps that are recorded once and launched as one CUDA graph: losses, weights and outcomes are those of steps that are
// given call by call, bit for bit, in every order of a graph's nodes that is left open.
#include "models/network_catalog.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "tests/cuda/graph_runs.h"
#include "tests/cuda/run_difference.h"
#include "tests/probes.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

Executed as_graph(const TrainingJob& job, const RunOptions& options, unsigned seed, MakeDevice make = late_device) {
  return execute(job, on_cuda(options, StepLaunch::graph, seed, make));
}
Executed by_calls(const TrainingJob& job, const RunOptions& options) {
  return execute(job, on_cuda(options, StepLaunch::calls, 1));
}

/// Nothing, or what differs: numbers, outcomes, rates.
std::string any_difference(const Executed& run, const Executed& expected) {
  for (std::size_t i = 0; i < expected.record.steps.size(); ++i) {
    const StepRecord& a = run.record.steps.at(i);
    const StepRecord& b = expected.record.steps[i];
    if (a.outcome != b.outcome || a.learning_rate != b.learning_rate ||
        std::bit_cast<std::uint64_t>(a.gradient_norm) != std::bit_cast<std::uint64_t>(b.gradient_norm) ||
        a.held_out_loss != b.held_out_loss)
      return "step " + std::to_string(i);
  }
  return difference(run, expected);
}

/// Warm-up and decay: another rate in every step.
void set_rates(TrainingJob& job) {
  job.learning_rate.shape = LearningRateShape::cosine;
  job.learning_rate.peak = 0.01;
  job.learning_rate.steps = 8;
  job.learning_rate.warmup_steps = 3;
}

constexpr std::int64_t steps = 6;

void compare(const LoweredPlan& plan, TrainingJob job, unsigned orders) {
  INFO(plan.graph.name() << ", " << to_text(plan.strategy) << ", " << to_text(plan.training.precision) << ", "
                         << to_text(plan.training.optimizer));
  set_rates(job);
  const Executed expected = by_calls(job, options(steps));
  for (unsigned seed = 1; seed <= orders; ++seed) {
    INFO("order " << seed);
    CHECK(any_difference(as_graph(job, options(steps), seed), expected).empty());
    CHECK(cuda_on_cpu::calls_made()["cudaGraphLaunch"] == steps - 1);
    CHECK(cuda_on_cpu::calls_made()["cudaGraphInstantiate"] == 1);
  }
}

TEST_CASE("Ten orders of a graph's nodes have the bits of a step that is given call by call") {
  Strategy offloaded = single();
  offloaded.recompute = {RecomputeMode::offloaded, 3};
  Training training = recipe(Optimizer::adamw);
  for (const Strategy& strategy : {single(), offloaded}) {
    const LoweredPlan plan(gpt({4, 32, 4, 64, 32, Dropout::yes}), strategy, training);
    TrainingJob job = plan.job();
    job.optimizer.clip_norm = 0.1;
    compare(plan, job, 10);
  }
}

TEST_CASE("Every optimizer, precision and network has them, with gradients of several micro-batches") {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::lion,
                                    Optimizer::adagrad, Optimizer::rmsprop, Optimizer::muon, Optimizer::adafactor}) {
    const LoweredPlan plan(network(Net::llama), single(), recipe(optimizer));
    compare(plan, plan.job(), 2);
  }
  for (const PrecisionRecipe precision :
       {PrecisionRecipe::tf32, PrecisionRecipe::bf16, PrecisionRecipe::fp16, PrecisionRecipe::fp8}) {
    Training training = recipe(Optimizer::adamw);
    training.precision = precision;
    const LoweredPlan plan(network(Net::llama), single(), training);
    compare(plan, plan.job(), 2);
  }
  const LoweredPlan plan(network(Net::moe), single(), recipe_of(Net::moe));
  compare(plan, routed(plan, ExpertRouting::learned), 2);
  compare(plan, routed(plan, ExpertRouting::balanced), 2);
}

TEST_CASE("Weights that a draw rounds are drawn anew in each launch") {
  Training training = recipe(Optimizer::adamw);
  training.precision = PrecisionRecipe::bf16_pure;
  const LoweredPlan plan(network(Net::gpt), single(), training);
  TrainingJob job = plan.job();
  job.optimizer.rounding = WeightRounding::stochastic;
  compare(plan, job, 2);
}

// 2^32 times the loss overflows fp16 at once; the scale is halved until a step is taken, and doubled after two.
TEST_CASE("A graph leaves out the steps that overflow, and goes on with the next scale") {
  Training training = recipe(Optimizer::adamw);
  training.precision = PrecisionRecipe::fp16;
  const LoweredPlan plan(network(Net::gpt), single(), training);
  TrainingJob job = plan.job();
  set_rates(job);
  job.loss_scale.initial = std::ldexp(1.0, 32);
  job.loss_scale.growth_interval = 2;
  const Executed expected = by_calls(job, options(20));
  const auto has = [&](StepOutcome outcome) {
    const auto& all = expected.record.steps;
    return std::any_of(all.begin() + 1, all.end(), [&](const StepRecord& step) { return step.outcome == outcome; });
  };
  CHECK(has(StepOutcome::skipped));
  CHECK(has(StepOutcome::taken));
  for (const unsigned seed : {1U, 2U}) CHECK(any_difference(as_graph(job, options(20), seed), expected).empty());
}

TEST_CASE("The small networks that ship have them", "[long]") {
  for (const char* const name : {"nano-gpt", "nano-llama"}) {
    INFO(name);
    const Network shipped = find_network(name);
    Training training = recipe(Optimizer::adamw);
    training.global_batch = 1;
    const LoweredPlan plan(shipped.graph, Strategy(), training);
    TrainingJob job = plan.job();
    job.constants = shipped.constants;
    set_rates(job);
    RunOptions three = options(3);
    three.data = random_tokens(256, 4000);
    Executed run;
    Executed expected;
    run.record = train(job, on_cuda(three, StepLaunch::graph, 3));
    expected.record = train(job, on_cuda(three, StepLaunch::calls, 1));
    CHECK(any_difference(run, expected).empty());
  }
}

// Losses on held-out text and the text at the end take memory, and lie between launches.
TEST_CASE("What is evaluated between launches changes nothing, and a graph whose memory has moved is recorded anew") {
  const LoweredPlan plan(gpt({2, 32, 4, 64, 32, Dropout::yes}), single(), recipe(Optimizer::adamw));
  TrainingJob job = plan.job();
  set_rates(job);
  RunOptions evaluated = options(steps);
  evaluated.data.held_out = 400;
  evaluated.evaluation.every = 2;
  evaluated.evaluation.generation = {{1, 2, 3}, 4, 0};
  const Executed expected = by_calls(job, evaluated);
  const Executed run = as_graph(job, evaluated, 2);
  CHECK(any_difference(run, expected).empty());
  CHECK(run.record.text.generated == expected.record.text.generated);
  CHECK(cuda_on_cpu::calls_made()["cudaGraphLaunch"] == steps - 1);
}

TEST_CASE("A run that goes on from a checkpoint is that of one run") {
  const LoweredPlan plan(gpt({2, 32, 4, 64, 32, Dropout::yes}), single(), recipe(Optimizer::adamw));
  TrainingJob job = plan.job();
  set_rates(job);
  const TemporaryFolder folder;
  RunOptions first = options(3);
  first.checkpoints.folder = folder.path() / "c";
  (void)as_graph(job, first, 1);
  RunOptions rest = options(3);
  rest.checkpoints.resume = folder.path() / "c";
  const Executed run = as_graph(job, rest, 1);
  const Executed whole = by_calls(job, options(6));
  for (std::size_t i = 0; i < 3; ++i) CHECK(run.record.steps[i].loss == whole.record.steps[i + 3].loss);
  CHECK(first_difference(run.weights, whole.weights).empty());
}

struct SignalBehindFourthUpdate : RunObserver, ExecutionProbe {
  void on_updated(std::int32_t, std::int64_t step, const ParameterStore&) override { seen = step; }
  int stop_signal() override { return seen == 3 ? 15 : 0; }
  void on_stop(int signal) override { told = signal; }

  std::int64_t seen = 0;
  int told = 0;
};

TEST_CASE("A signal ends a run behind the launch in which it came") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe());
  RunOptions signalled = on_cuda(options(9), StepLaunch::graph, 1);
  SignalBehindFourthUpdate signal;
  signalled.observer = &signal;
  signalled.tests.probe = &signal;
  CHECK(train(plan.job(), signalled).steps.size() == 5);
  CHECK(signal.told == 15);
}

/// Calls of the API in a step behind the recorded one.
std::map<std::string, int> calls_of_a_launch(const TrainingJob& job, StepLaunch launch) {
  std::map<std::string, int> calls;
  const auto made = [&](std::int64_t count) {
    (void)train(job, on_cuda(options(count), launch, 1));
    return cuda_on_cpu::calls_made();
  };
  const std::map<std::string, int> few = made(4);
  for (const auto& [name, count] : made(5)) calls[name] = count - (few.contains(name) ? few.at(name) : 0);
  return calls;
}

TEST_CASE("A launch costs the host a few calls, however much is in the step") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe(Optimizer::adamw));
  std::map<std::string, int> calls = calls_of_a_launch(plan.job(), StepLaunch::graph);
  CHECK(calls["cudaGraphLaunch"] == 1);
  CHECK(calls["cudaMemcpyAsync"] == 1);  // the rate and the seed
  CHECK(calls["enqueue_work"] == 0);
  CHECK(calls["cudaMemsetAsync"] == 0);
  CHECK(calls["cudaEventRecordWithFlags"] == 0);
  CHECK(calls["cudaStreamWaitEvent"] == stream_count - 1);  // all lanes are joined behind it
  CHECK(calls_of_a_launch(plan.job(), StepLaunch::calls)["enqueue_work"] > 100);
}

TEST_CASE("Times of actions are those of the last launch") {
  Strategy offloaded = single();
  offloaded.recompute = {RecomputeMode::offloaded, 3};
  const LoweredPlan plan(network(Net::llama), offloaded, recipe());
  const RunRecord record = as_graph(plan.job(), options(4), 2).record;
  const std::vector<ActionRecord>& actions = record.ranks.front().actions;
  std::int64_t last = 0;
  for (const ActionRecord& action : actions) {
    CHECK(action.end_ns > action.start_ns);
    CHECK(action.end_ns <= record.steps.back().time_ns);
    if (action.stream != Stream::compute) continue;
    CHECK(action.start_ns >= last);
    last = action.end_ns;
  }
  CHECK(std::any_of(actions.begin(), actions.end(), [](const auto& a) { return a.stream == Stream::copy; }));
}

// What a recording would keep if one of a step's inputs were an argument.
float host_rate = 0;
std::uint64_t host_seed = 0;

/// The kernels, with the rate and the seed of the step in which they are given.
const DeviceKernels& kernels_by_value() {
  static const DeviceKernels table = [] {
    DeviceKernels made = late_kernels();
    made.adamw_step = [](const AdamwStep& args) {
      AdamwStep kept = args;
      if (host_rate > 0) {
        kept.parameter.rate_of_step = nullptr;
        kept.parameter.learning_rate = host_rate;
      }
      late_kernels().adamw_step(kept);
    };
    const auto keep_seed = [](ElementDropout args) {
      if (host_seed == 0) return args;
      args.draw.key.seed_of_step = nullptr;
      args.draw.key.seed = host_seed;
      return args;
    };
    static const auto keep = keep_seed;
    made.dropout_forward = [](const ElementDropout& args) { late_kernels().dropout_forward(keep(args)); };
    made.dropout_backward = [](const ElementDropout& args) { late_kernels().dropout_backward(keep(args)); };
    return made;
  }();
  return table;
}
std::unique_ptr<ComputeDevice> device_by_value() { return std::make_unique<CudaDevice>(0, kernels_by_value()); }

/// Fetches what the host's memory had when it was asked to.
class KeepsTokens : public CudaDevice {
 public:
  KeepsTokens() : CudaDevice(0, late_kernels()) {}
  void fetch(Stream lane, void* to, const void* from, Bytes bytes) override {
    const auto* const begin = static_cast<const std::byte*>(from);
    const auto kept =
        std::make_shared<std::vector<std::byte>>(begin, begin + static_cast<std::ptrdiff_t>(bytes.value()));
    enqueue(lane, [=] {
      (void)cuda_on_cpu::enqueue_work(current_stream(), [=] { std::memcpy(to, kept->data(), kept->size()); });
    });
  }
};

TEST_CASE("An input that a recording keeps is seen: the rate, the seed, the tokens") {
  const LoweredPlan plan(gpt({2, 32, 4, 64, 32, Dropout::yes}), single(), recipe(Optimizer::adamw));
  TrainingJob job = plan.job();
  set_rates(job);
  const Executed expected = by_calls(job, options(4));
  RunOptions watched = options(4);
  const auto run_with = [&](bool keeps_rate, bool keeps_seed) {
    ActionProbe probe([&](std::int32_t, std::int64_t step, std::int32_t) {
      host_rate = keeps_rate ? static_cast<float>(learning_rate(job.learning_rate, step)) : 0;
      host_seed = keeps_seed ? 7 * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(step) : 0;
    });
    watched.tests.probe = &probe;
    return any_difference(as_graph(job, watched, 1, device_by_value), expected);
  };
  CHECK(run_with(false, false).empty());
  CHECK(run_with(true, false) == "step 3");  // the gradients' norm, of weights that step 2 left
  CHECK(run_with(false, true) == "step 2");
  watched.tests.probe = nullptr;
  CHECK(any_difference(as_graph(job, watched, 1, [] { return std::unique_ptr<ComputeDevice>(new KeepsTokens); }),
                       expected) == "step 2");
}

/// The kernels of kernels/cuda, by fibers, which are slow.
std::unique_ptr<ComputeDevice> kernel_device() { return std::make_unique<CudaDevice>(0, cuda_kernel_table()); }

TEST_CASE("The kernels of a GPU have the same bits in a graph", "[long]") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::bf16}) {
    INFO(to_text(precision));
    Training training = recipe(Optimizer::adamw);
    training.precision = precision;
    training.global_batch = 2;
    Strategy small;
    small.micro_batches = 2;
    const LoweredPlan plan(gpt({1, 32, 4, 64, 32, Dropout::yes}), small, training);
    TrainingJob job = plan.job();
    set_rates(job);
    const Executed expected = execute(job, on_cuda(options(3), StepLaunch::calls, 1, kernel_device));
    CHECK(any_difference(as_graph(job, options(3), 2, kernel_device), expected).empty());
  }
}

}  // namespace
}  // namespace plumbline
