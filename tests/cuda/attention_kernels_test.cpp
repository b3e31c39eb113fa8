// The table's attention: by the stand-in of cuDNN where it is found, wanted and has the call, by our own kernels else.
#include "runtime/cuda/attention_kernels.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/cuda/fake_cudnn.h"
#include "tests/execution_checks.h"
#include "tests/kernels/cuda/both_devices.h"
#include "tests/probes.h"

namespace plumbline {
namespace {

/// While it lives: cuDNN is found.
struct Found {
  Found() { fake_cudnn::set_missing(""); }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() {
    fake_cudnn::set_missing("libcudnn.so.9: cannot open shared object file");
    fake_cudnn::set_has_graphs(true);
    cuda_on_cpu::set_device({});
    ::unsetenv("PLUMBLINE_ATTENTION");
  }
};

struct Case {
  AttentionShape shape{.batch = 2,
                       .heads = 4,
                       .kv_heads = 2,
                       .queries = 13,
                       .keys = 13,
                       .qk_head_dim = 16,
                       .v_head_dim = 16,
                       .scale = 0.25F};
  NumberFormat format = NumberFormat::bf16;
  NumberFormat gradients = NumberFormat::bf16;
  Write write = Write::overwrite;
  float dropped = 0;
  std::int64_t gap = 0;  ///< elements between rows
};

/// Both directions on both devices, on a thread with a device of its own: how many calls cuDNN took.
int calls_of(const Case& c) {
  int taken = -1;
  std::exception_ptr failure;
  const auto body = [&] {
    CudaDevice device(0, cuda_kernel_table());
    const AttentionShape& s = c.shape;
    const std::int64_t q = s.batch * s.queries;
    const std::int64_t k = s.batch * s.keys;
    const auto tensor = [&](std::int64_t rows, std::int64_t heads, std::uint32_t seed, NumberFormat format) {
      return random_both(rows, heads * s.qk_head_dim, seed, format, c.gap);
    };
    BothTensor query = tensor(q, s.heads, 1, c.format), key = tensor(k, s.kv_heads, 2, c.format),
               value = tensor(k, s.kv_heads, 3, c.format), output = tensor(q, s.heads, 4, c.format),
               dy = tensor(q, s.heads, 5, c.format), dq = tensor(q, s.heads, 6, c.gradients),
               dk = tensor(k, s.kv_heads, 7, c.gradients), dv = tensor(k, s.kv_heads, 8, c.gradients);
    BothArray<float> sums(s.batch * s.heads * s.queries, 0.0F);
    const AttentionDropout dropout{
        .draw = {c.dropped, {1, 2, 3}}, .whole_heads = s.heads, .whole_positions = s.queries};
    const auto run = [&](const DeviceKernels& kernels, bool on_host) {
      const auto at = [&](BothTensor& t) { return on_host ? t.host() : t.device(); };
      float* const lse = on_host ? sums.host() : sums.device();
      AttentionForward forward{s, at(query), at(key), at(value), at(output), lse, dropout, {}};
      AttentionBackward backward{s,      at(dy), at(query), at(key), at(value), at(output), lse,
                                 at(dq), at(dk), at(dv),    c.write, c.write,   dropout,    {}};
      const Bytes size =
          std::max(kernels.attention_forward.workspace(forward), kernels.attention_backward.workspace(backward));
      WorkspaceMemory memory(on_host ? size : Bytes(0));
      const Workspace room = on_host ? static_cast<Workspace>(memory) : device_workspace(size);
      forward.workspace = backward.workspace = room;
      kernels.attention_forward.run(forward);
      kernels.attention_backward.run(backward);
      return std::string(kernels.attention_kernel(forward));
    };
    const int before = fake_cudnn::calls_run();
    CHECK(run(cpu_kernels(), true) == "flash-2");
    const std::string name = run(cuda_kernel_table(), false);
    device.finish_all();
    taken = fake_cudnn::calls_run() - before;
    CHECK(name == (taken > 0 ? "cudnn" : "flash-2"));
    const double tolerated = c.format == NumberFormat::fp32 ? 1e-5 : tolerance(c.format);
    for (BothTensor* made : {&output, &dq, &dk, &dv}) CHECK(made->error() <= 4 * tolerated);
    CHECK(relative_error(sums.on_device(), sums.on_host()) <= 1e-5);
  };
  std::thread([&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return taken;
}

std::string failure_of(const Case& c) {
  try {
    (void)calls_of(c);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("cuDNN takes 16-bit attention where it is found, and has the CPU's results") {
  const Found found;
  (void)cudaDeviceReset();
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16}) {
    Case c;
    c.format = c.gradients = format;
    CHECK(calls_of(c) == 2);
    c.shape.window = 5;
    c.gap = 8;
    CHECK(calls_of(c) == 2);
    c.shape.mask = Mask::none;
    c.shape.window = 0;
    c.shape.keys = 7;
    CHECK(calls_of(c) == 2);
    c = Case();
    c.format = c.gradients = format;
    c.shape.kv_heads = 1;
    c.shape.first_query = c.shape.first_key = 26;  // a slice's own keys
    CHECK(calls_of(c) == 2);
  }
}

TEST_CASE("What cuDNN does not take goes to our kernels") {
  const Found found;
  (void)cudaDeviceReset();
  Case other;
  other.format = other.gradients = NumberFormat::fp32;
  CHECK(calls_of(other) == 0);
  other = Case();
  other.dropped = 0.25F;
  CHECK(calls_of(other) == 0);
  other = Case();
  other.shape.first_query = 13;  // keys of another rank of a ring
  CHECK(calls_of(other) == 0);
  other = Case();
  other.shape.qk_head_dim = other.shape.v_head_dim = 12;
  CHECK(calls_of(other) == 0);
  other = Case();
  other.gap = 3;
  CHECK(calls_of(other) == 0);
  other = Case();
  other.write = Write::accumulate;
  CHECK(calls_of(other) == 1);
  other = Case();
  other.gradients = NumberFormat::fp32;
  CHECK(calls_of(other) == 1);
}

TEST_CASE("Our kernels take all where cuDNN is missing, has no graph, is not wanted, or the device is older") {
  (void)cudaDeviceReset();
  CHECK(calls_of({}) == 0);
  const Found found;
  fake_cudnn::set_has_graphs(false);
  CHECK(calls_of({}) == 0);
  fake_cudnn::set_has_graphs(true);
  ::setenv("PLUMBLINE_ATTENTION", "own", 1);
  CHECK(calls_of({}) == 0);
  ::unsetenv("PLUMBLINE_ATTENTION");
  cuda_on_cpu::set_device({.major = 8, .minor = 0});
  CHECK(calls_of({}) == 0);
  ::setenv("PLUMBLINE_ATTENTION", "cudnn", 1);
  CHECK(calls_of({}) == 2);
}

// Eight layers' calls have one shape: a graph for each direction.
TEST_CASE("A step through cuDNN is the CPU's within the format, and builds each graph once") {
  const Found found;
  (void)cudaDeviceReset();
  Training training = recipe();
  training.precision = PrecisionRecipe::bf16;
  training.global_batch = 1;
  Strategy s;
  const LoweredPlan plan(gpt({2, 32, 4, 64, 32, Dropout::no}), s, training);
  RunOptions on_cuda = options(1);
  on_cuda.ranks.deadline = std::chrono::milliseconds(300'000);
  on_cuda.device.make = [](std::int32_t) { return std::make_unique<CudaDevice>(0, cuda_kernel_table()); };
  const int built = fake_cudnn::graphs_built();
  const int calls = fake_cudnn::calls_run();
  const Executed run = execute(plan.job(), on_cuda);
  CHECK(fake_cudnn::graphs_built() - built == 2);
  CHECK(fake_cudnn::calls_run() - calls == 2 * 2);
  const Executed expected = execute(plan.job(), options(1));
  CHECK(run.record.steps[0].loss == Approx(expected.record.steps[0].loss).epsilon(1e-2));
  require_equal(run.gradients, expected.gradients, 6e-2);
}

TEST_CASE("Each call of cuDNN that fails is named, and a kernel that is given no shared memory") {
  const Found found;
  (void)cudaDeviceReset();
  for (const char* const call : {"build", "execute of attention"}) {
    fake_cudnn::fail_call(call);
    const std::string text = failure_of({});
    INFO(text);
    CHECK(text.find(std::string("cuDNN's ") + call + ": a test asked for it") != std::string::npos);
  }
  ::setenv("PLUMBLINE_ATTENTION", "own", 1);
  Case wide;
  wide.shape.qk_head_dim = wide.shape.v_head_dim = 128;
  cuda_on_cpu::fail_call("cudaFuncSetAttribute", 1, cudaErrorInvalidValue);
  const std::string text = failure_of(wide);
  INFO(text);
  CHECK(text.find("launch of ") != std::string::npos);
  CHECK(text.find("invalid argument") != std::string::npos);
  (void)cudaDeviceReset();
}

TEST_CASE("A call of cuDNN that fails inside of a step names rank and action") {
  const Found found;
  (void)cudaDeviceReset();
  Training training = recipe();
  training.precision = PrecisionRecipe::bf16;
  training.global_batch = 1;
  const LoweredPlan plan(gpt({2, 32, 4, 64, 32, Dropout::no}), Strategy(), training);
  RunOptions o = options(1);
  o.device.make = [](std::int32_t) { return std::make_unique<CudaDevice>(0, cuda_kernel_table()); };
  ActionProbe probe([](std::int32_t, std::int64_t, std::int32_t action) {
    if (action == 1) fake_cudnn::fail_call("execute of attention");
  });
  o.tests.probe = &probe;
  std::string text;
  try {
    (void)train(plan.job(), o);
  } catch (const EnvironmentError& error) {
    text = error.what();
  }
  INFO(text);
  CHECK(text.rfind("rank 0 (stage 0) at ", 0) == 0);
  CHECK(text.find("cuDNN's execute of attention") != std::string::npos);
  (void)cudaDeviceReset();
}

TEST_CASE("That cuDNN's attention is missing is said on devices that would use it, and where it is asked for") {
  const std::string problem = "libcudnn.so.9: cannot open shared object file";
  const Found found;
  CHECK(missing_attention().empty());
  fake_cudnn::set_missing(problem);
  CHECK(missing_attention() == problem);
  ::setenv("PLUMBLINE_ATTENTION", "own", 1);
  CHECK(missing_attention().empty());
  ::unsetenv("PLUMBLINE_ATTENTION");
  cuda_on_cpu::set_device({.major = 8});
  CHECK(missing_attention().empty());
  ::setenv("PLUMBLINE_ATTENTION", "cudnn", 1);
  CHECK(missing_attention() == problem);
}

}  // namespace
}  // namespace plumbline
