// The table's matrix products against the CPU's kernels: through the stand-in of cuBLASLt where it has them, by our own
// kernels else.
#include "runtime/cuda/product_kernels.h"

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "runtime/cuda/refused_products.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/cuda/fake_cublaslt.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

/// With the scratch that the table asks for, on both; that of the device is used again.
template <class Arguments>
void run_both(ScratchKernel<Arguments> DeviceKernels::*kernel, Arguments host, Arguments device, Workspace& scratch) {
  const ScratchKernel<Arguments>& on_host = cpu_kernels().*kernel;
  WorkspaceMemory memory(on_host.workspace(host));
  host.workspace = memory;
  on_host.run(host);
  const ScratchKernel<Arguments>& on_device = cuda_kernel_table().*kernel;
  const Bytes asked = on_device.workspace(device);
  if (asked > scratch.size) scratch = device_workspace(asked);
  device.workspace = {scratch.data, asked};
  on_device.run(device);
  cuda_on_cpu::require(cudaDeviceSynchronize());
}

struct LinearCase {
  std::int64_t tokens = 32, in = 48, out = 16;
  NumberFormat input = NumberFormat::bf16;     ///< of inputs and weights
  NumberFormat gradient = NumberFormat::bf16;  ///< of the output's gradient, as the product reads it
  NumberFormat stored = NumberFormat::bf16;    ///< of outputs, biases and what is no operand
  Write write = Write::accumulate;
  bool scales_rows = false;  ///< of fp8: what a product does not sum over, else tensors
};

struct Linear {
  explicit Linear(const LinearCase& of)
      : c(of),
        x(random_both(c.tokens, c.in, 1, c.input)),
        w(random_both(c.out, c.in, 2, c.input)),
        bias(random_both(1, c.out, 3, c.stored)),
        y(random_both(c.tokens, c.out, 4, c.stored)),
        dy(random_both(c.tokens, c.out, 5, c.gradient)),
        uncast(random_both(c.tokens, c.out, 6, c.stored)),
        dx(random_both(c.tokens, c.in, 7, c.stored)),
        dw(random_both(c.out, c.in, 8)),
        db(random_both(1, c.out, 9)),
        scale(std::vector<float>{0.5F}),
        of_tokens(random_scales(c.tokens, 10)),
        of_in(random_scales(c.in, 11)),
        of_out(random_scales(c.out, 12)) {
    for (BothTensor* tensor : {&x, &w, &dy}) tensor->set_scales(scale);
  }
  static std::vector<float> random_scales(std::int64_t count, std::uint32_t seed) {
    std::vector<float> scales = random_values(count, seed);
    for (float& one : scales) one = 0.25F + std::abs(one);
    return scales;
  }
  /// As each of the products has them: forward, input gradient, weight gradient.
  void set_row_scales(BothTensor& a, BothArray<float>& of_a, ScaleOf way_of_a, BothTensor& b, BothArray<float>& of_b,
                      ScaleOf way_of_b) const {
    if (!c.scales_rows) return;
    a.set_scales(of_a, way_of_a);
    b.set_scales(of_b, way_of_b);
  }
  void run() {
    set_row_scales(x, of_tokens, ScaleOf::row, w, of_out, ScaleOf::row);
    const bool is_fp8 = bits(c.input) == 8;
    run_both<LinearForward>(&DeviceKernels::linear_forward, {x.host(), w.host(), bias.host(), y.host()},
                            {x.device(), w.device(), bias.device(), y.device()}, scratch);
    set_row_scales(dy, of_tokens, ScaleOf::row, w, of_in, ScaleOf::column);
    run_both<Matmul>(&DeviceKernels::matmul, {.a = dy.host(), .b = w.host(), .c = dx.host(), .write = c.write},
                     {.a = dy.device(), .b = w.device(), .c = dx.device(), .write = c.write}, scratch);
    set_row_scales(dy, of_out, ScaleOf::column, x, of_in, ScaleOf::column);
    LinearWeightGradient host{x.host(), dy.host(), dw.host(), db.host(), c.write};
    LinearWeightGradient device{x.device(), dy.device(), dw.device(), db.device(), c.write};
    if (is_fp8) host.uncast_gradient = uncast.host();
    if (is_fp8) device.uncast_gradient = uncast.device();
    run_both<LinearWeightGradient>(&DeviceKernels::linear_weight_gradient, host, device, scratch);
  }
  void check() {
    const double narrow = 4 * tolerance(c.stored);
    CHECK(y.error() <= narrow);
    CHECK(dx.error() <= narrow);
    CHECK(dw.error() <= 1e-5);
    CHECK(db.error() <= 1e-5);
  }

  LinearCase c;
  BothTensor x, w, bias, y, dy, uncast, dx, dw, db;
  BothArray<float> scale, of_tokens, of_in, of_out;
  Workspace scratch;
};

/// How many products the library computed.
int library_products(const LinearCase& c) {
  (void)cudaDeviceReset();
  const CudaDevice device(0, cuda_kernel_table());
  const int before = fake_cublaslt::products_computed();
  Linear linear(c);
  linear.run();
  linear.check();
  return fake_cublaslt::products_computed() - before;
}

std::vector<LinearCase> cases() {
  using F = NumberFormat;
  std::vector<LinearCase> all;
  for (const Write write : {Write::overwrite, Write::accumulate})
    for (const auto& [tokens, in, out] : {std::array<std::int64_t, 3>{32, 48, 16}, {5, 3, 7}, {67, 33, 1}}) {
      all.push_back({tokens, in, out, F::fp32, F::fp32, F::fp32, write});
      all.push_back({tokens, in, out, F::tf32, F::tf32, F::fp32, write});
      all.push_back({tokens, in, out, F::bf16, F::bf16, F::bf16, write});
      all.push_back({tokens, in, out, F::fp16, F::fp16, F::fp16, write});
    }
  return all;
}

TEST_CASE("All products of a linear layer and its gradients go through cuBLASLt, of any size and format but fp8") {
  for (const LinearCase& c : cases()) {
    INFO(c.tokens << " x " << c.in << " x " << c.out << " of " << to_text(c.input));
    CHECK(library_products(c) == 3);
  }
}

TEST_CASE("fp8 goes through cuBLASLt where its sizes are multiples of 16, operands down columns turned before") {
  using F = NumberFormat;
  for (const Write write : {Write::overwrite, Write::accumulate}) {
    CHECK(library_products({32, 48, 16, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write}) == 3);
    CHECK(library_products({32, 48, 16, F::fp8_e4m3, F::fp8_e5m2, F::fp16, write}) == 3);
    CHECK(library_products({32, 48, 24, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write}) == 0);
    CHECK(library_products({33, 48, 16, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write}) == 0);
  }
}

TEST_CASE("fp8 with scales of rows goes through cuBLASLt on sm_90, and by our own kernels elsewhere") {
  using F = NumberFormat;
  for (const Write write : {Write::overwrite, Write::accumulate}) {
    CHECK(library_products({32, 48, 16, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write, true}) == 3);
    CHECK(library_products({33, 48, 24, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write, true}) == 0);
    cuda_on_cpu::set_device({.minor = 1});
    // Of other sizes: a thread keeps its plans.
    CHECK(library_products({64, 32, 80, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write, true}) == 0);
    CHECK(refused_products_text().find("with scales of rows: not supported") != std::string::npos);
    cuda_on_cpu::set_device({});
    fake_cublaslt::set_missing("libcublasLt.so.13: cannot open shared object file");
    CHECK(library_products({32, 48, 16, F::fp8_e4m3, F::fp8_e5m2, F::bf16, write, true}) == 0);
    fake_cublaslt::set_missing("");
  }
  forget_refused_products();
}

TEST_CASE("Without cuBLASLt our own kernels compute the same, and no scratch is asked for") {
  fake_cublaslt::set_missing("libcublasLt.so.13: cannot open shared object file");
  for (const LinearCase& c : cases()) CHECK(library_products(c) == 0);
  CHECK(library::matmul_workspace({}) == Bytes(0));
  fake_cublaslt::set_missing("");
  CHECK(library::matmul_workspace({}) == Bytes(std::int64_t{32} << 20));
}

}  // namespace
}  // namespace plumbline
