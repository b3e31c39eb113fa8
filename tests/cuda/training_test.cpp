// Whole steps through the CUDA device, on streams that run late and in any order: losses, gradients, weights and
// counted bytes are those of the CPU device, bit for bit, since the kernels are the same (tests/cuda/late_kernels.h).
#include <chrono>
#include <iterator>
#include <map>
#include <set>

#include "models/network_catalog.h"
#include "runtime/cuda/cuda_device.h"
#include "tests/cuda/late_kernels.h"
#include "tests/cuda/run_difference.h"
#include "tests/execution_checks.h"
#include "tests/left_out_needs.h"
#include "tests/random_strategies.h"

namespace plumbline {
namespace {

/// Lanes alongside the compute lane are slower than it: what does not wait for them reads too early.
class SlowLanes : public CudaDevice {
 public:
  enum class Slow : std::uint8_t { all, alongside_blocks };
  explicit SlowLanes(Slow slow) : CudaDevice(0, late_kernels()), slow_(slow) {}
  void enqueue(Stream lane, std::function<void()> work) override {
    CudaDevice::enqueue(lane, [&] { delay(lane), work(); });
  }
  void download(Stream lane, void* to, const void* from, Bytes bytes) override {
    CudaDevice::enqueue(lane, [&] { delay(lane); });
    CudaDevice::download(lane, to, from, bytes);
  }
  void fetch(Stream lane, void* to, const void* from, Bytes bytes) override {
    CudaDevice::enqueue(lane, [&] { delay(lane); });
    CudaDevice::fetch(lane, to, from, bytes);
  }

 private:
  void delay(Stream lane) const {
    constexpr int entries = 100;  // several blocks' kernels
    if (lane != Stream::compute && !(lane == Stream::tensor && slow_ == Slow::alongside_blocks))
      for (int i = 0; i < entries; ++i) (void)cuda_on_cpu::enqueue_work(current_stream(), [] {});
  }

  Slow slow_;
};

/// Every second seed has slow lanes, every fourth but that of collectives which blocks wait for.
RunOptions on_cuda(RunOptions options, unsigned seed) {
  (void)cudaDeviceReset();
  cuda_on_cpu::set_seed(seed);
  options.device.make = [seed](std::int32_t) -> std::unique_ptr<ComputeDevice> {
    if (seed % 4 == 0) return std::make_unique<SlowLanes>(SlowLanes::Slow::alongside_blocks);
    if (seed % 2 == 0) return std::make_unique<SlowLanes>(SlowLanes::Slow::all);
    return std::make_unique<CudaDevice>(0, late_kernels());
  };
  options.device.backend = ComputeBackend::cuda;
  return options;
}

void require_same(const Executed& run, const Executed& expected) {
  REQUIRE(run.record.steps.size() == expected.record.steps.size());
  const std::string different = difference(run, expected);
  CAPTURE(different);
  CHECK(different.empty());
  REQUIRE(run.record.ranks.size() == expected.record.ranks.size());
  for (std::size_t rank = 0; rank < run.record.ranks.size(); ++rank) {
    CHECK(run.record.ranks[rank].sent == expected.record.ranks[rank].sent);
    CHECK(run.record.ranks[rank].memory.at_peak.by_class == expected.record.ranks[rank].memory.at_peak.by_class);
  }
  CHECK(run.record.backend == "cuda");
}

RunOptions options_of(const RandomRun& run) {
  RunOptions o = options(2);
  o.data = random_tokens(run.vocabulary, 4000);
  o.ranks.deadline = std::chrono::milliseconds(120'000);
  return o;
}

/// In how many orders of streams each strategy runs: twenty take long (docs/cuda.md).
unsigned stream_orders() { return static_cast<unsigned>(environment_number("PLUMBLINE_STREAM_ORDERS", 2)); }

/// Whether it was executed; false where the runtime refuses it.
bool compare(const RandomRun& run, unsigned first_seed) {
  try {
    const LoweredPlan plan(run.graph, run.strategy, run.training);
    const TrainingJob job = plan.job();
    const Executed on_host = execute(job, options_of(run));
    for (unsigned seed = first_seed; seed < first_seed + stream_orders(); ++seed)
      require_same(execute(job, on_cuda(options_of(run), seed)), on_host);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TEST_CASE("Forty random strategies on local ranks train the bits of the CPU device", "[long]") {
  constexpr std::int64_t wanted = 40;
  std::int64_t executed = 0;
  for (std::int64_t number = 0; executed < wanted; ++number) {
    REQUIRE(number < 4 * wanted);
    const RandomRun run = random_run(17, number);
    INFO("run " << number << ": " << text_of(run));
    executed += compare(run, static_cast<unsigned>(number) * stream_orders() + 1) ? 1 : 0;
  }
}

Strategy sharded() {
  Strategy s;
  s.data_parallel = 2;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.zero_stage = 3;
  s.shard_group = 2;
  s.micro_batch = 1;
  s.micro_batches = 4;
  return s;
}

Strategy pipelined() {
  Strategy s;
  s.data_parallel = 2;
  s.pipeline_stages = 2;
  s.schedule = Schedule::one_f_one_b;
  s.zero_stage = 2;
  s.shard_group = 2;
  s.micro_batch = 1;
  s.micro_batches = 4;
  return s;
}

Strategy of_one_micro_batch() {
  Strategy s;
  s.data_parallel = s.shard_group = 2;
  s.zero_stage = 2;
  s.micro_batch = 2;
  return s;
}

TEST_CASE("Twenty orders of streams give the same bits", "[long]") {
  const std::pair<Net, Strategy> runs[] = {
      {Net::gpt, sharded()}, {Net::llama, pipelined()}, {Net::moe, sharded()}, {Net::gpt, of_one_micro_batch()}};
  for (const auto& [net, strategy] : runs) {
    INFO(to_text(strategy));
    // In one bucket: units are scattered before the action that names them, as their buffers are needed again.
    Calibration habits = runtime_calibration();
    if (strategy.micro_batches == 1) habits.stack.communication.bucket_bytes.value = 1e9;
    const LoweredPlan plan(network(net), strategy, recipe_of(net), habits);
    const Executed on_host = execute(plan.job(), options(1));
    for (unsigned seed = 1; seed <= 20; ++seed) require_same(execute(plan.job(), on_cuda(options(1), seed)), on_host);
  }
}

/// Which of the waits, each left out alone, are seen in this order of streams.
std::set<int> seen_waits(const TrainingJob& job, const Executed& expected, unsigned seed, const std::set<int>& waits) {
  std::set<int> seen;
  for (const int wait : waits) {
    const RunOptions late = on_cuda(options(1), seed);
    cuda_on_cpu::leave_out_wait(wait);
    try {
      if (!difference(execute(job, late), expected).empty()) seen.insert(wait);
    } catch (const EnvironmentError&) {
      seen.insert(wait);  // the loss was no number
    }
  }
  return seen;
}

// One rank, whose activations leave for the host and come back on a lane of their own: with one thread waits are
// counted in the same order every time. Of most of them a later one makes up for the loss.
TEST_CASE("Events that are left out are seen in the numbers, in most orders of streams", "[long]") {
  Strategy offloaded = single();
  offloaded.recompute = {RecomputeMode::offloaded, 3};
  const LoweredPlan plan(network(Net::llama), offloaded, recipe_of(Net::llama));
  const TrainingJob job = plan.job();
  const Executed on_host = execute(job, options(1));
  (void)execute(job, on_cuda(options(1), 2));
  const int waits = cuda_on_cpu::calls_made()["cudaStreamWaitEvent"];
  REQUIRE(waits > 0);
  std::set<int> all;
  for (int wait = 1; wait <= waits; wait += std::max(1, waits / 60)) all.insert(wait);
  const std::set<int> needed = seen_waits(job, on_host, 2, all);
  CAPTURE(waits, all.size(), needed.size());
  REQUIRE(needed.size() >= 3);
  const std::set<int> some(needed.begin(), std::next(needed.begin(), 3));
  std::map<int, int> orders;  // in which each is seen
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const int wait : seen_waits(job, on_host, 2 * seed, some)) ++orders[wait];
  for (const int wait : some) {
    INFO("wait " << wait);
    CHECK(orders[wait] >= 10);
  }
}

// Blocks under ZeRO-3 that wait for no gather of their parameters.
TEST_CASE("Needs that are left out of a program are seen in the numbers") {
  const LoweredPlan plan(network(Net::llama), sharded(), recipe_of(Net::llama));
  const Program broken = without_needs_of_gathers(plan.program);
  const TrainingJob whole = plan.job();
  const TrainingJob job{whole.graph, whole.strategy, whole.training, broken, {}, whole.learning_rate, {}, {}, "test"};
  const Executed on_host = execute(whole, options(1));
  int seen = 0;
  for (unsigned seed = 4; seed <= 12; seed += 4) {
    try {
      seen += difference(execute(job, on_cuda(options(1), seed)), on_host).empty() ? 0 : 1;
    } catch (const EnvironmentError&) {
      ++seen;
    }
  }
  CHECK(seen == 3);
}

// Gradients of a product's input are summed over two ranks alongside the gradients of its weights.
TEST_CASE("Waits for collectives that are left out of a block are seen in the numbers") {
  Strategy strategy;
  strategy.tensor_parallel = 2;
  strategy.micro_batch = 2;
  strategy.micro_batches = 4;
  const LoweredPlan plan(network(Net::llama), strategy, recipe_of(Net::llama));
  const Executed on_host = execute(plan.job(), options(1));
  require_same(execute(plan.job(), on_cuda(options(1), 2)), on_host);
  const Program broken = without_waits_in_blocks(plan.program);
  const TrainingJob whole = plan.job();
  const TrainingJob job{whole.graph, whole.strategy, whole.training, broken, {}, whole.learning_rate, {}, {}, "test"};
  int seen = 0;
  for (unsigned seed = 2; seed <= 10; seed += 4) {
    try {
      seen += difference(execute(job, on_cuda(options(1), seed)), on_host).empty() ? 0 : 1;
    } catch (const std::exception&) {
      ++seen;  // replicas that differ
    }
  }
  CHECK(seen == 3);
}

TEST_CASE("The small networks that ship train on the CUDA device as on the CPU", "[long]") {
  for (const char* const name : {"nano-gpt", "nano-llama", "nano-moe"}) {
    INFO(name);
    const Network network = find_network(name);
    Training training = recipe(Optimizer::adamw);
    training.global_batch = 1;
    training.sequence_length = 16;
    const Strategy strategy;
    const LoweredPlan plan(network.graph, strategy, training);
    TrainingJob job = plan.job();
    job.constants = network.constants;
    RunOptions one_step = options(1);
    one_step.data = random_tokens(256, 4000);
    const Executed on_host = execute(job, one_step);
    require_same(execute(job, on_cuda(one_step, 3)), on_host);
  }
}

std::string failure_with(const std::string& call, int nth, cudaError_t error) {
  const LoweredPlan plan(network(Net::gpt), sharded(), recipe_of(Net::gpt));
  const RunOptions late = on_cuda(options(2), 1);
  cuda_on_cpu::fail_call(call, nth, error);
  try {
    (void)execute(plan.job(), late);
  } catch (const EnvironmentError& failed) {
    (void)cudaDeviceReset();
    return failed.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("A call that fails inside of a step names itself, the rank and the action") {
  for (const char* const call : {"cudaMemcpyAsync", "cudaMemsetAsync", "cudaEventRecord", "cudaStreamWaitEvent"}) {
    const std::string text = failure_with(call, 400, cudaErrorLaunchFailure);
    INFO(call << ": " << text);
    CHECK(has(text, std::string(call)));
    CHECK(has(text, "unspecified launch failure"));
    CHECK(has(text, "rank "));
    CHECK(has(text, "(stage 0) at "));
  }
}

TEST_CASE("A device without room for a plan says what was asked and what is free") {
  const LoweredPlan plan(network(Net::gpt), Strategy(), recipe_of(Net::gpt));
  const RunOptions late = on_cuda(options(1), 1);
  cuda_on_cpu::set_capacity(100'000);
  std::string text;
  try {
    (void)execute(plan.job(), late);
  } catch (const std::exception& failed) {
    text = failed.what();
  }
  cuda_on_cpu::set_capacity(std::size_t{1} << 30);
  INFO(text);
  CHECK(has(text, "were asked of the device, and "));
  CHECK(has(text, "are free"));
}

}  // namespace
}  // namespace plumbline
