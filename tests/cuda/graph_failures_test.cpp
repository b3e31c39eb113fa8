// What fails in a step that is one CUDA graph, and which steps cannot be one.
#include "tests/cuda/graph_runs.h"

namespace plumbline {
namespace {

std::string failure(const RunOptions& options, const TrainingJob& job) {
  try {
    (void)train(job, options);
  } catch (const RunFailure& failed) {
    (void)cudaDeviceReset();
    return failed.what();
  }
  return "";
}

TEST_CASE("A call of a graph that fails names itself, the rank and the graph") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe());
  struct FailedCall {
    const char* call;
    int nth;
    std::string place;
  };
  for (const FailedCall& c :
       {FailedCall{"cudaStreamBeginCapture", 1, "rank 0 (stage 0) between two steps: cudaStreamBeginCapture: "},
        FailedCall{"cudaStreamEndCapture", 1, "rank 0 (stage 0) making a graph of a step: cudaStreamEndCapture: "},
        FailedCall{"cudaGraphInstantiate", 1, "rank 0 (stage 0) making a graph of a step: cudaGraphInstantiate: "},
        FailedCall{"cudaGraphLaunch", 3, "rank 0 (stage 0) in the graph of a step: cudaGraphLaunch: "}}) {
    const RunOptions late = on_cuda(options(5), StepLaunch::graph, 1);
    cuda_on_cpu::fail_call(c.call, c.nth, cudaErrorMemoryAllocation);
    CHECK(failure(late, plan.job()) == c.place + "out of memory (error 2)");
  }
}

/// Asks for memory in a step that is recorded, as a library might.
std::unique_ptr<ComputeDevice> greedy_device() {
  static const DeviceKernels table = [] {
    DeviceKernels made = late_kernels();
    made.cross_entropy_local_sum = [](const CrossEntropy& args) {
      void* memory = nullptr;
      require(cudaMalloc(&memory, 8), "cudaMalloc");
      late_kernels().cross_entropy_local_sum(args);
    };
    return made;
  }();
  return std::make_unique<CudaDevice>(0, table);
}

struct FailsBehindThirdUpdate : ExecutionProbe {
  void on_updated(std::int32_t, std::int64_t step, const ParameterStore&) override {
    if (step == 2) cuda_on_cpu::fail_call("cudaStreamSynchronize", 1, cudaErrorIllegalAddress);
  }
};

TEST_CASE("What may not be captured is named with its action, and work that fails in a graph with the graph") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe());
  const std::string greedy = failure(on_cuda(options(5), StepLaunch::graph, 1, greedy_device), plan.job());
  CHECK(greedy.find("rank 0 (stage 0) at forward ") == 0);
  CHECK(greedy.find("cudaMalloc: operation not permitted when stream is capturing (error 900)") != std::string::npos);
  RunOptions late = on_cuda(options(5), StepLaunch::graph, 1);
  FailsBehindThirdUpdate probe;
  late.tests.probe = &probe;
  CHECK(failure(late, plan.job()) ==
        "rank 0 (stage 0) in the graph of a step: cudaStreamSynchronize: an illegal memory access was encountered "
        "(error 700)");
}

std::string refusal(const TrainingJob& job, const RunOptions& options) {
  try {
    (void)train(job, options);
  } catch (const InputError& refused) {
    return refused.what();
  }
  return "";
}

TEST_CASE("Graphs of several ranks, and of a device that records none, are refused") {
  Strategy two = single();
  two.data_parallel = 2;
  two.micro_batches = 2;
  const LoweredPlan plan(network(Net::gpt), two, recipe());
  CHECK(refusal(plan.job(), on_cuda(options(1), StepLaunch::graph, 1)) ==
        "--graph: the plan has 2 ranks, and ranks that share a GPU hand each other events while a step is given, and "
        "those cross from graph to graph; expected a plan of one rank, or no --graph");
  RunOptions nccl = on_cuda(options(1), StepLaunch::graph, 1);
  nccl.ranks.transport = Transport::nccl;
  CHECK(refusal(plan.job(), nccl) ==
        "--graph: the plan has 2 ranks, and NCCL's calls are not recorded; expected a plan of one rank, or no --graph");
  const LoweredPlan alone(network(Net::gpt), single(), recipe());
  RunOptions on_cpu = options(1);
  on_cpu.device.launch = StepLaunch::graph;
  CHECK(refusal(alone.job(), on_cpu) == "--graph: this device records no graphs; expected --backend cuda");
}

}  // namespace
}  // namespace plumbline
