#include "kernels/router.h"
#include "kernels/expert_routing.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline::router_test {
namespace {

constexpr double fp32_tolerance = 1e-6;

/// A golden case's router, run forward.
struct Router {
  explicit Router(const KernelGolden& golden)
      : g(golden),
        chosen(g.whole("chosen")),
        tokens(ConstTensorView(g["logits"]).rows),
        expert_count(ConstTensorView(g["logits"]).columns),
        kind(g.whole("normalised") != 0 ? RouterWeights::normalised : RouterWeights::probability),
        probabilities(tokens, expert_count),
        experts(static_cast<std::size_t>(tokens * chosen)),
        weights(tokens, chosen) {
    reference::router_forward({g["logits"], probabilities, experts.data(), weights.data(), chosen, kind});
  }
  const KernelGolden& g;
  std::int64_t chosen;
  std::int64_t tokens;
  std::int64_t expert_count;
  RouterWeights kind;
  KernelTensor probabilities;
  std::vector<std::int32_t> experts;
  KernelTensor weights;
};

TEST_CASE("A router's choice, weights and gradient equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("router")) {
    INFO(g.name);
    Router router(g);
    CHECK(router.experts == g.ids("experts"));
    CHECK(relative_error(router.probabilities.values(), g["probabilities"].values()) < fp32_tolerance);
    CHECK(relative_error(router.weights.values(), g["weights"].values()) < fp32_tolerance);
    std::vector<std::int32_t> again(router.experts.size());
    reference::router_choice({router.probabilities, again.data(), router.chosen});
    CHECK(again == router.experts);
    KernelTensor dweights = g["dweights"];
    KernelTensor dlogits(router.tokens, router.expert_count);
    reference::router_backward(
        {dweights.data(), router.probabilities, router.experts.data(), dlogits, router.chosen, router.kind});
    CHECK(relative_error(dlogits.values(), g["dlogits"].values()) < fp32_tolerance);
  }
}

TEST_CASE("Dispatch, experts and combine, and their gradients, equal PyTorch's sum over chosen experts") {
  for (const KernelGolden& g : kernel_goldens("router")) {
    INFO(g.name);
    Router router(g);
    const ConstTensorView x = g["x"];
    const std::int64_t rows = router.tokens * router.chosen;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(router.expert_count));
    std::vector<std::int64_t> slots(static_cast<std::size_t>(rows));
    std::vector<std::int64_t> sources(static_cast<std::size_t>(rows));
    reference::expert_permutation(
        {router.experts.data(), rows, router.expert_count, counts.data(), slots.data(), sources.data()});
    KernelTensor dispatched(rows, x.columns);
    reference::gather_rows({x, sources.data(), router.chosen, dispatched});
    // Each expert multiplies its rows by its vector, as the script's experts do.
    const auto experts_multiply = [&](KernelTensor& tensor) {
      std::int64_t row = 0;
      for (std::int64_t e = 0; e < router.expert_count; ++e)
        for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(e)]; ++i, ++row)
          for (std::int64_t c = 0; c < x.columns; ++c)
            tensor.data()[row * x.columns + c] *= reference::load_one(g["expert_weight"], e, c);
    };
    experts_multiply(dispatched);
    KernelTensor y(router.tokens, x.columns);
    reference::combine_forward({dispatched, slots.data(), router.weights.data(), router.chosen, y});
    CHECK(relative_error(y.values(), g["y"].values()) < fp32_tolerance);
    KernelTensor drows(rows, x.columns);
    KernelTensor dweights(router.tokens, router.chosen);
    reference::combine_backward(
        {g["dy"], dispatched, slots.data(), router.weights.data(), router.chosen, drows, dweights.data()});
    CHECK(relative_error(dweights.values(), g["dweights"].values()) < fp32_tolerance);
    experts_multiply(drows);
    KernelTensor dx(router.tokens, x.columns);
    reference::combine_forward({drows, slots.data(), nullptr, router.chosen, dx});
    CHECK(relative_error(dx.values(), g["dx"].values()) < fp32_tolerance);
  }
}

TEST_CASE("An expert permutation sorts by expert, keeps the tokens' order, and is undone by its inverse") {
  std::mt19937 random(3);
  std::vector<std::int32_t> experts(200);
  for (std::int32_t& e : experts) e = static_cast<std::int32_t>(random() % 7);
  std::vector<std::int64_t> counts(7);
  std::vector<std::int64_t> slots(200);
  std::vector<std::int64_t> sources(200);
  reference::expert_permutation({experts.data(), 200, 7, counts.data(), slots.data(), sources.data()});
  for (std::int32_t e = 0; e < 7; ++e)
    CHECK(counts[static_cast<std::size_t>(e)] == std::count(experts.begin(), experts.end(), e));
  for (std::size_t row = 0; row < 200; ++row) {
    REQUIRE(slots[static_cast<std::size_t>(sources[row])] == static_cast<std::int64_t>(row));
    if (row == 0) continue;
    const auto before = static_cast<std::size_t>(sources[row - 1]);
    const auto here = static_cast<std::size_t>(sources[row]);
    REQUIRE(std::pair(experts[before], before) < std::pair(experts[here], here));
  }
  const KernelTensor x = random_tensor(200, 5, 1, NumberFormat::bf16);
  KernelTensor sorted(200, 5, NumberFormat::bf16);
  KernelTensor back(200, 5, NumberFormat::bf16);
  reference::gather_rows({x, sources.data(), 1, sorted});
  reference::gather_rows({sorted, slots.data(), 1, back});
  CHECK(back.bytes() == x.bytes());
}

TEST_CASE("Equal probabilities choose the lower experts") {
  const KernelTensor logits(2, 4);
  KernelTensor probabilities(2, 4);
  std::vector<std::int32_t> experts(4);
  std::vector<float> weights(4);
  reference::router_forward({logits, probabilities, experts.data(), weights.data(), 2});
  CHECK(experts == std::vector<std::int32_t>{0, 1, 0, 1});
  CHECK(weights == std::vector<float>{0.5F, 0.5F, 0.5F, 0.5F});
}

}  // namespace
}  // namespace plumbline::router_test
