#include "kernels/layer_norm.h"
#include "kernels/rms_norm.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline::norm_test {
namespace {

constexpr double fp32_tolerance = 1e-5;

TEST_CASE("RMSNorm and its gradients equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("rms_norm")) {
    INFO(g.name);
    const KernelTensor& x = g["x"];
    const std::int64_t rows = x.view().rows;
    const std::int64_t columns = x.view().columns;
    KernelTensor y(rows, columns);
    KernelTensor dx(rows, columns);
    KernelTensor dw(1, columns);
    std::vector<float> inverse_root(static_cast<std::size_t>(rows));
    reference::rms_norm_forward({x, g["w"], y, inverse_root.data(), g.number("epsilon")});
    reference::rms_norm_backward({g["dy"], x, g["w"], inverse_root.data(), dx, dw, Write::accumulate});
    CHECK(relative_error(y.values(), g["y"].values()) < fp32_tolerance);
    CHECK(relative_error(dx.values(), g["dx"].values()) < fp32_tolerance);
    CHECK(relative_error(dw.values(), g["dw"].values()) < fp32_tolerance);
  }
}

TEST_CASE("LayerNorm and its gradients equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("layer_norm")) {
    INFO(g.name);
    const KernelTensor& x = g["x"];
    const std::int64_t rows = x.view().rows;
    const std::int64_t columns = x.view().columns;
    KernelTensor y(rows, columns);
    KernelTensor dx(rows, columns);
    KernelTensor dw(1, columns);
    KernelTensor db(1, columns);
    std::vector<float> mean(static_cast<std::size_t>(rows));
    std::vector<float> inverse(static_cast<std::size_t>(rows));
    reference::layer_norm_forward({x, g["w"], g["b"], y, mean.data(), inverse.data(), g.number("epsilon")});
    reference::layer_norm_backward({g["dy"], x, g["w"], mean.data(), inverse.data(), dx, dw, db, Write::accumulate});
    CHECK(relative_error(y.values(), g["y"].values()) < fp32_tolerance);
    CHECK(relative_error(dx.values(), g["dx"].values()) < fp32_tolerance);
    CHECK(relative_error(dw.values(), g["dw"].values()) < fp32_tolerance);
    CHECK(relative_error(db.values(), g["db"].values()) < fp32_tolerance);
  }
}

TEST_CASE("Parameter gradients of norms add up over calls, and the input's gradient may overwrite the output's") {
  const KernelGolden g = kernel_goldens("rms_norm").back();
  const KernelTensor& x = g["x"];
  KernelTensor y(2, 600);
  std::vector<float> inverse_root(2);
  reference::rms_norm_forward({x, g["w"], y, inverse_root.data(), g.number("epsilon")});
  KernelTensor gradient = g["dy"];
  KernelTensor dw(1, 600);
  reference::rms_norm_backward({g["dy"], x, g["w"], inverse_root.data(), {}, dw, Write::accumulate});
  reference::rms_norm_backward({gradient, x, g["w"], inverse_root.data(), gradient, dw, Write::accumulate});
  std::vector<float> twice = g["dw"].values();
  for (float& v : twice) v *= 2;
  CHECK(relative_error(dw.values(), twice) < fp32_tolerance);
  CHECK(relative_error(gradient.values(), g["dx"].values()) < fp32_tolerance);
}

TEST_CASE("A norm on 16-bit tensors is the fp32 norm of the same numbers, rounded once") {
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16}) {
    const KernelTensor x = random_tensor(5, 700, 1, format);
    const KernelTensor w = random_tensor(1, 700, 2, format);
    KernelTensor y(5, 700, format);
    KernelTensor whole(5, 700);
    std::vector<float> narrow(5);
    std::vector<float> wide(5);
    reference::rms_norm_forward({x, w, y, narrow.data()});
    reference::rms_norm_forward(
        {KernelTensor(x.values(), 5, 700), KernelTensor(w.values(), 1, 700), whole, wide.data()});
    CHECK(y.bytes() == KernelTensor(whole.values(), 5, 700, format).bytes());
    CHECK(narrow == wide);
  }
}

}  // namespace
}  // namespace plumbline::norm_test
