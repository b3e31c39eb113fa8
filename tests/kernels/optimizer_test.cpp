#include "kernels/adagrad.h"
#include "kernels/adamw.h"
#include "kernels/lion.h"
#include "kernels/muon.h"
#include "kernels/rmsprop.h"
#include "kernels/sgd.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

/// A weight with two states that takes the golden case's steps.
struct Trained {
  explicit Trained(const KernelGolden& golden, NumberFormat parameter_format = NumberFormat::fp32)
      : g(golden),
        rows(ConstTensorView(g["start"]).rows),
        columns(ConstTensorView(g["start"]).columns),
        parameter(g["start"].values(), rows, columns, parameter_format),
        master(g["start"]),
        first(rows, columns),
        second(rows, columns) {}

  /// `scale` is a loss scale: gradients arrive multiplied by it and are divided by the gradient factor.
  void run(bool with_master, float scale = 1.0F) {
    for (std::int64_t t = 0; t < g.whole("steps"); ++t) {
      KernelTensor gradient(rows, columns);
      const std::vector<float> all = g["gradients"].values();
      for (std::int64_t i = 0; i < rows * columns; ++i)
        gradient.data()[i] = scale * all[static_cast<std::size_t>(t * rows * columns + i)];
      OptimizedParameter p;
      p.parameter = parameter;
      p.gradient = gradient;
      p.gradient_factor = 1.0F / scale;
      p.learning_rate = g.number("rate");
      p.weight_decay = g.number("decay");
      if (g.numbers.count("limit") > 0) p.gradient_limit = g.number("limit");
      if (with_master) p.master = master;
      step(p, t + 1);
    }
  }
  void step(const OptimizedParameter& p, std::int64_t t) {
    if (g.name == "sgd") reference::sgd_step({p});
    if (g.name == "momentum") reference::sgd_step({p, first, 0.9F});
    if (g.name == "adamw") reference::adamw_step({p, first, second, 0.9F, 0.95F, 1e-8F, t});
    if (g.name == "adagrad") reference::adagrad_step({p, first});
    if (g.name == "rmsprop") reference::rmsprop_step({p, first});
    if (g.name == "lion") reference::lion_step({p, first});
    if (g.name == "muon") {
      MuonStep args{p, first};
      WorkspaceMemory memory(reference::muon_workspace(args));
      args.workspace = memory;
      reference::muon_step(args);
    }
  }
  const KernelGolden& g;
  std::int64_t rows;
  std::int64_t columns;
  KernelTensor parameter;
  KernelTensor master;
  KernelTensor first;
  KernelTensor second;
};

/// All optimizers, and some whose gradients are clamped.
std::vector<KernelGolden> all_optimizers() {
  std::vector<KernelGolden> all = kernel_goldens("optimizers");
  for (KernelGolden& more : kernel_goldens("more_optimizers")) all.push_back(std::move(more));
  return all;
}

TEST_CASE("Ten steps of SGD, momentum, AdaGrad, RMSProp, AdamW, Lion and Muon equal PyTorch's") {
  for (const KernelGolden& g : all_optimizers()) {
    INFO(g.name);
    Trained plain(g);
    plain.run(false);
    const double tolerance = g.name == "muon" ? 1e-4 : 1e-6;  // five products in a row amplify rounding
    CHECK(relative_error(plain.parameter.values(), g["end"].values()) < tolerance);
  }
}

TEST_CASE("A 16-bit parameter is its master copy rounded, which the parameter's rounding never disturbs") {
  for (const KernelGolden& g : all_optimizers()) {
    INFO(g.name);
    Trained plain(g);
    Trained mixed(g, NumberFormat::bf16);
    plain.run(false);
    mixed.run(true);
    CHECK(mixed.master.bytes() == plain.parameter.bytes());
    CHECK(mixed.parameter.bytes() ==
          KernelTensor(mixed.master.values(), mixed.rows, mixed.columns, NumberFormat::bf16).bytes());
  }
}

TEST_CASE("A loss scale that is a power of two changes no bit of a step") {
  for (const KernelGolden& g : all_optimizers()) {
    INFO(g.name);
    Trained plain(g);
    Trained scaled(g);
    plain.run(false);
    scaled.run(false, 1024.0F);
    CHECK(scaled.parameter.bytes() == plain.parameter.bytes());
  }
}

TEST_CASE("Muon sends each singular value through the quintic, by both sides of the matrix") {
  // A rectangular diagonal matrix has its diagonal as singular values and stays diagonal.
  const std::vector<double> values{3.0, 2.0, 1.0, 0.5, 0.1};
  double norm = 0;
  for (const double v : values) norm += v * v;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{5, 40}, {40, 5}}) {
    KernelTensor x(rows, columns);
    for (std::int64_t i = 0; i < 5; ++i)
      x.data()[i * columns + i] = static_cast<float>(values[static_cast<std::size_t>(i)]);
    std::vector<float> scratch(static_cast<std::size_t>(reference::orthogonalise_scratch(rows, columns)));
    reference::orthogonalise(x.data(), rows, columns, 5, scratch.data());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        if (i != j) {
          REQUIRE(x.data()[i * columns + j] == 0.0F);
          continue;
        }
        double s = values[static_cast<std::size_t>(i)] / std::sqrt(norm);
        for (int step = 0; step < 5; ++step) s = 3.4445 * s - 4.7750 * s * s * s + 2.0315 * s * s * s * s * s;
        CHECK(static_cast<double>(x.data()[i * columns + i]) == Approx(s).epsilon(1e-4));
        CHECK(s > 0.6);
        CHECK(s < 1.3);
      }
  }
}

}  // namespace
}  // namespace plumbline
