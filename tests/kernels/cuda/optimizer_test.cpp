#include <cstring>

#include "kernels/adagrad.h"
#include "kernels/adamw.h"
#include "kernels/lion.h"
#include "kernels/muon.h"
#include "kernels/rmsprop.h"
#include "kernels/sgd.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

/// A parameter with master copy and two states, as every optimizer is given it.
struct Trained {
  Trained(const Size& size, NumberFormat format, bool with_master)
      : parameter(random_both(size.rows, size.columns, 1, format, 1)),
        master(random_both(size.rows, size.columns, 2)),
        gradient(random_both(size.rows, size.columns, 3, format, 2)),
        first(random_both(size.rows, size.columns, 4)),
        second(size.rows, size.columns, NumberFormat::fp32, positive(size.rows * size.columns)),
        has_master(with_master) {}

  static std::vector<float> positive(std::int64_t count) {
    std::vector<float> values = random_values(count, 5);
    for (float& value : values) value = std::abs(value);
    return values;
  }
  OptimizedParameter on_host() {
    return settings(parameter.host(), has_master ? master.host() : TensorView{}, gradient.host());
  }
  OptimizedParameter on_device() {
    return settings(parameter.device(), has_master ? master.device() : TensorView{}, gradient.device());
  }
  static OptimizedParameter settings(const TensorView& p, const TensorView& m, const TensorView& g) {
    return {.parameter = p,
            .master = m,
            .gradient = g,
            .gradient_factor = 0.5F,
            .learning_rate = 0.01F,
            .weight_decay = 0.1F,
            .gradient_limit = 0.6F};
  }
  void check_all(NumberFormat format) {
    CHECK(parameter.error() <= tolerance(format));
    CHECK(master.error() <= 1e-6);
    CHECK(first.error() <= 1e-6);
    CHECK(second.error() <= 1e-6);
    CHECK(gradient.is_same());
  }

  BothTensor parameter, master, gradient, first, second;
  bool has_master;
};

/// run(t, stream) does the same on both.
template <class Run>
void check_optimizer(Run run) {
  on_both([&](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : float_formats)
        for (const bool has_master : {false, true}) {
          Trained t(size, format, has_master);
          run(t, stream);
          finish(stream);
          t.check_all(format);
        }
  });
}

TEST_CASE("AdamW over shards with and without master weights is the CPU's") {
  check_optimizer([](Trained& t, cudaStream_t stream) {
    reference::adamw_step(
        {.parameter = t.on_host(), .first_moment = t.first.host(), .second_moment = t.second.host(), .step = 7});
    cuda::adamw_step(
        {.parameter = t.on_device(), .first_moment = t.first.device(), .second_moment = t.second.device(), .step = 7},
        stream);
  });
}

/// Weights of a slice of a box in 16 bits, rounded by a draw: bit for bit as on the CPU.
template <class Run>
void check_draws(Run run) {
  const StochasticRounding rounding{
      .is_on = true, .seed = 5, .parameter = 9, .box = {{3, 90, 300}, {1, 4, 7}, {2, 80, 211}}, .first = 205};
  on_both([&](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16}) {
        Trained t(size, format, false);
        OptimizedParameter host = t.on_host();
        OptimizedParameter device = t.on_device();
        host.rounding = device.rounding = rounding;
        run(t, host, device, stream);
        finish(stream);
        CHECK(t.parameter.is_same());
      }
  });
}

TEST_CASE("Weights that are rounded by a draw have the CPU's bits") {
  check_draws([](Trained& t, const OptimizedParameter& host, const OptimizedParameter& device, cudaStream_t stream) {
    reference::sgd_step({host, t.first.host(), 0.9F});
    cuda::sgd_step({device, t.first.device(), 0.9F}, stream);
  });
  check_draws([](Trained& t, const OptimizedParameter& host, const OptimizedParameter& device, cudaStream_t stream) {
    reference::adamw_step({.parameter = host, .first_moment = t.first.host(), .second_moment = t.second.host()});
    cuda::adamw_step({.parameter = device, .first_moment = t.first.device(), .second_moment = t.second.device()},
                     stream);
  });
}

TEST_CASE("SGD with and without momentum is the CPU's") {
  check_optimizer([](Trained& t, cudaStream_t stream) {
    reference::sgd_step({t.on_host(), t.first.host(), 0.9F});
    cuda::sgd_step({t.on_device(), t.first.device(), 0.9F}, stream);
    reference::sgd_step({.parameter = t.on_host()});
    cuda::sgd_step({.parameter = t.on_device()}, stream);
  });
}

TEST_CASE("Lion is the CPU's") {
  check_optimizer([](Trained& t, cudaStream_t stream) {
    reference::lion_step({t.on_host(), t.first.host()});
    cuda::lion_step({t.on_device(), t.first.device()}, stream);
  });
}

TEST_CASE("AdaGrad is the CPU's") {
  check_optimizer([](Trained& t, cudaStream_t stream) {
    reference::adagrad_step({t.on_host(), t.second.host()});
    cuda::adagrad_step({t.on_device(), t.second.device()}, stream);
  });
}

TEST_CASE("RMSProp is the CPU's") {
  check_optimizer([](Trained& t, cudaStream_t stream) {
    reference::rmsprop_step({t.on_host(), t.second.host()});
    cuda::rmsprop_step({t.on_device(), t.second.device()}, stream);
  });
}

void check_muon(cudaStream_t stream, const Size& size, MuonRatio ratio) {
  Trained t(size, NumberFormat::bf16, true);
  MuonStep host{.parameter = t.on_host(), .momentum_state = t.first.host(), .ratio = ratio};
  MuonStep device{.parameter = t.on_device(), .momentum_state = t.first.device(), .ratio = ratio};
  WorkspaceMemory memory(reference::muon_workspace(host));
  host.workspace = memory;
  device.workspace = device_workspace(cuda::muon_workspace(device));
  reference::muon_step(host);
  cuda::muon_step(device, stream);
  finish(stream);
  CHECK(t.master.error() <= 1e-4);
  CHECK(t.first.error() <= 1e-6);
}

TEST_CASE("Muon is the CPU's, for wide and tall matrices and both ratios") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : {Size{1, 1}, Size{3, 67}, Size{67, 5}})
      for (const MuonRatio ratio : {MuonRatio::shape, MuonRatio::adamw_rms}) check_muon(stream, size, ratio);
  });
}

TEST_CASE("a gradient that is no number makes the weight none") {
  on_both([](cudaStream_t stream) {
    BothTensor w(1, 2, NumberFormat::fp32, {1.0F, 1.0F});
    BothTensor g(1, 2, NumberFormat::fp32, {std::numeric_limits<float>::quiet_NaN(), 1e9F});
    const auto of = [](const TensorView& p, const TensorView& gradient) {
      return OptimizedParameter{.parameter = p, .gradient = gradient, .learning_rate = 1.0F, .gradient_limit = 0.5F};
    };
    reference::sgd_step({.parameter = of(w.host(), g.host())});
    cuda::sgd_step({.parameter = of(w.device(), g.device())}, stream);
    finish(stream);
    std::vector<float> got(2);
    std::memcpy(got.data(), w.on_device().data(), 8);
    CHECK(std::isnan(got[0]));
    CHECK(got[1] == 0.5F);
  });
}

}  // namespace
}  // namespace plumbline
