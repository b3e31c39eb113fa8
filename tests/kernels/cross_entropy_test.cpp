#include "kernels/cross_entropy.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

/// The three numbers per token, and arguments that point at them.
struct Loss {
  Loss(ConstTensorView logits, const std::vector<std::int32_t>& targets, TensorView gradient, float gradient_scale)
      : values(static_cast<std::size_t>(3 * logits.rows)) {
    args = {logits,   targets.data(), values.data(), values.data() + logits.rows, values.data() + 2 * logits.rows,
            gradient, gradient_scale};
  }
  std::vector<float> values;
  CrossEntropy args;
};

TEST_CASE("Losses of several calls add up") {
  const KernelTensor x = random_tensor(3, 8, 1);
  const std::vector<std::int32_t> targets{1, -1, 7};
  Loss loss(x, targets, {}, 1.0F);
  const CrossEntropyLoss once = reference::cross_entropy(loss.args);
  CrossEntropyLoss sum{0.5, 10};
  reference::cross_entropy_add(loss.args, &sum);
  CHECK(sum.sum == 0.5 + once.sum);
  CHECK(sum.tokens == 12);
}

TEST_CASE("A loss scale in memory multiplies the gradient, and not the loss") {
  const std::vector<std::int32_t> targets{1, -1, 7};
  KernelTensor plain = random_tensor(3, 8, 1);
  KernelTensor scaled = random_tensor(3, 8, 1);
  Loss once(plain, targets, plain, 0.5F);
  Loss loss(scaled, targets, scaled, 0.5F);
  const double scale = 1024;
  loss.args.loss_scale = &scale;
  CHECK(reference::cross_entropy(loss.args).sum == reference::cross_entropy(once.args).sum);
  std::vector<float> expected = plain.values();
  for (float& value : expected) value *= 1024.0F;
  CHECK(scaled.values() == expected);
}

TEST_CASE("Cross entropy and its gradient equal PyTorch's; tokens without a target count for nothing") {
  for (const KernelGolden& g : kernel_goldens("cross_entropy")) {
    INFO(g.name);
    KernelTensor x = g["x"];
    const std::vector<std::int32_t> targets = g.ids("targets");
    Loss loss(x, targets, x, g.number("gradient_scale"));  // the gradient overwrites the logits
    const CrossEntropyLoss got = reference::cross_entropy(loss.args);
    CHECK(got.sum == Approx(g.numbers.at("loss")).epsilon(1e-6));
    CHECK(got.tokens == static_cast<std::int64_t>(targets.size()) - 1);
    CHECK(relative_error(x.values(), g["dx"].values()) < 1e-6);
  }
}

/// Max- or sum-reduces what the ranks computed, as an all-reduce would.
template <class Reduce>
void all_reduce(std::vector<Loss>& ranks, float* CrossEntropy::*what, std::int64_t tokens, Reduce reduce) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    float value = (ranks.front().args.*what)[t];
    for (std::size_t r = 1; r < ranks.size(); ++r) value = reduce(value, (ranks[r].args.*what)[t]);
    for (Loss& rank : ranks) (rank.args.*what)[t] = value;
  }
}

TEST_CASE("Vocabulary-parallel cross entropy is the whole one: its loss on each rank, its gradient in slices") {
  const KernelGolden g = kernel_goldens("cross_entropy").back();
  const ConstTensorView x = g["x"];
  const std::vector<std::int32_t> targets = g.ids("targets");
  KernelTensor gradient(x.rows, x.columns);
  std::vector<Loss> ranks;
  for (const auto& [first, count] : {std::pair{0, 150}, std::pair{150, 300}, std::pair{450, 150}}) {
    ranks.emplace_back(x.columns_from(first, count), targets, gradient.view().columns_from(first, count),
                       g.number("gradient_scale"));
    ranks.back().args.first_class = first;
  }
  for (Loss& rank : ranks) reference::cross_entropy_local_maximum(rank.args);
  all_reduce(ranks, &CrossEntropy::maximum, x.rows, [](float a, float b) { return std::max(a, b); });
  for (Loss& rank : ranks) reference::cross_entropy_local_sum(rank.args);
  all_reduce(ranks, &CrossEntropy::sum, x.rows, std::plus<float>());
  all_reduce(ranks, &CrossEntropy::target_logit, x.rows, std::plus<float>());
  for (Loss& rank : ranks)
    CHECK(reference::cross_entropy_combine(rank.args).sum == Approx(g.numbers.at("loss")).epsilon(1e-6));
  CHECK(relative_error(gradient.values(), g["dx"].values()) < 1e-6);
}

TEST_CASE("A logit that is infinite or no number makes the loss no number, so that loss scaling sees it") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    KernelTensor x(std::vector<float>{1, bad, 2}, 1, 3);
    const std::vector<std::int32_t> targets{0};
    Loss loss(x, targets, {}, 1.0F);
    CHECK_FALSE(std::isfinite(reference::cross_entropy(loss.args).sum));
  }
}

}  // namespace
}  // namespace plumbline
