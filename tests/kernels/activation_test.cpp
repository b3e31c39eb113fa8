#include "kernels/gated_activation.h"
#include "kernels/gelu.h"
#include "kernels/relu.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

constexpr double fp32_tolerance = 1e-6;

void check_gelu(const KernelGolden& g, Gelu form) {
  const ConstTensorView x = g["x"];
  KernelTensor y(x.rows, x.columns);
  KernelTensor dx(x.rows, x.columns);
  reference::gelu_forward({x, y, form});
  reference::gelu_backward({g["dy"], x, dx, form});
  CHECK(relative_error(y.values(), g["y"].values()) < fp32_tolerance);
  CHECK(relative_error(dx.values(), g["dx"].values()) < fp32_tolerance);
}

void check_swiglu(const KernelGolden& g) {
  const ConstTensorView gate = g["gate"];
  KernelTensor y(gate.rows, gate.columns);
  KernelTensor dgate(gate.rows, gate.columns);
  KernelTensor dup(gate.rows, gate.columns);
  reference::swiglu_forward({gate, g["up"], y});
  reference::swiglu_backward({g["dy"], gate, g["up"], dgate, dup});
  CHECK(relative_error(y.values(), g["y"].values()) < fp32_tolerance);
  CHECK(relative_error(dgate.values(), g["dgate"].values()) < fp32_tolerance);
  CHECK(relative_error(dup.values(), g["dup"].values()) < fp32_tolerance);
}

TEST_CASE("GELU in both forms and SwiGLU, with their gradients, equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("activations")) {
    INFO(g.name);
    if (g.name == "swiglu")
      check_swiglu(g);
    else
      check_gelu(g, g.name == "gelu tanh" ? Gelu::tanh : Gelu::erf);
  }
}

TEST_CASE("ReLU and its gradient equal PyTorch's, at zero too") {
  const KernelGolden g = kernel_goldens("relu").front();
  const ConstTensorView x = g["x"];
  KernelTensor y(x.rows, x.columns);
  KernelTensor dx(x.rows, x.columns);
  reference::relu_forward({x, y});
  reference::relu_backward({g["dy"], x, dx});
  CHECK(g["x"].values().front() == 0.0F);
  CHECK(y.values() == g["y"].values());
  CHECK(dx.values() == g["dx"].values());
}

TEST_CASE("The two forms of GELU are two functions") {
  const KernelTensor x(std::vector<float>{2.0F}, 1, 1);
  KernelTensor exact(1, 1);
  KernelTensor approximate(1, 1);
  reference::gelu_forward({x, exact, Gelu::erf});
  reference::gelu_forward({x, approximate, Gelu::tanh});
  // 2 * Phi(2) = 2 * 0.9772498681; u = 0.7978845608 * (2 + 0.044715 * 8) = 1.881191, 2 / (1 + e^-2u) = 1.9545976941.
  CHECK(exact.values().front() == Approx(1.9544997361).epsilon(1e-7));
  CHECK(approximate.values().front() == Approx(1.9545976941).epsilon(1e-7));
}

TEST_CASE("Activations of large numbers are the numbers or zero, and their slopes one or zero") {
  const KernelTensor x(std::vector<float>{-3e38F, -200.0F, 200.0F, 3e38F}, 1, 4);
  const KernelTensor one(std::vector<float>{1, 1, 1, 1}, 1, 4);
  for (const Gelu form : {Gelu::tanh, Gelu::erf}) {
    KernelTensor y(1, 4);
    KernelTensor dx(1, 4);
    reference::gelu_forward({x, y, form});
    reference::gelu_backward({one, x, dx, form});
    CHECK(y.values() == std::vector<float>{0, 0, 200.0F, 3e38F});
    CHECK(dx.values() == std::vector<float>{0, 0, 1, 1});
  }
  KernelTensor y(1, 4);
  reference::swiglu_forward({x, one, y});
  CHECK(y.values() == std::vector<float>{0, 0, 200.0F, 3e38F});
}

TEST_CASE("Gradients of an activation may overwrite what they were computed from") {
  KernelGolden g = kernel_goldens("activations")[2];
  REQUIRE(g.name == "swiglu");
  KernelTensor gate = g["gate"];
  KernelTensor up = g["up"];
  reference::swiglu_backward({g["dy"], gate, up, gate, up});
  CHECK(relative_error(gate.values(), g["dgate"].values()) < fp32_tolerance);
  CHECK(relative_error(up.values(), g["dup"].values()) < fp32_tolerance);
}

}  // namespace
}  // namespace plumbline
