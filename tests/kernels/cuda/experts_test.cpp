#include "kernels/expert_routing.h"
#include "kernels/router.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

std::vector<std::int32_t> random_choices(std::int64_t tokens, std::int64_t experts, std::int64_t chosen) {
  std::mt19937 random(3);
  std::vector<std::int32_t> result;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const auto first = static_cast<std::int64_t>(random() % static_cast<unsigned>(experts));
    for (std::int64_t k = 0; k < chosen; ++k) result.push_back(static_cast<std::int32_t>((first + k * 2) % experts));
  }
  return result;
}

struct RouterCase {
  std::int64_t tokens, experts, chosen;
  NumberFormat format;
  RouterWeights kind;
};

void check_router(cudaStream_t stream, const RouterCase& c) {
  BothTensor logits = random_both(c.tokens, c.experts, 1);
  BothTensor p = random_both(c.tokens, c.experts, 2, c.format, 1);
  BothArray<std::int32_t> experts(c.tokens * c.chosen, -1);
  BothArray<float> weights(c.tokens * c.chosen, -1.0F);
  reference::router_forward({logits.host(), p.host(), experts.host(), weights.host(), c.chosen, c.kind});
  cuda::router_forward({logits.device(), p.device(), experts.device(), weights.device(), c.chosen, c.kind}, stream);
  finish(stream);
  CHECK(p.error() <= tolerance(c.format));
  CHECK(relative_error(weights.on_device(), weights.on_host()) <= tolerance(c.format));
  if (c.format == NumberFormat::fp32) CHECK(experts.is_same());
}

TEST_CASE("a router's probabilities, choices and weights are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const RouterWeights kind : {RouterWeights::probability, RouterWeights::normalised})
      for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16})
        for (const RouterCase& c : {RouterCase{1, 1, 1, format, kind}, RouterCase{13, 5, 2, format, kind},
                                    RouterCase{67, 67, 8, format, kind}, RouterCase{3, 512, 4, format, kind}})
          check_router(stream, c);
  });
}

TEST_CASE("among equal probabilities the lower expert is chosen") {
  on_both([](cudaStream_t stream) {
    BothTensor p(2, 40, NumberFormat::fp32, std::vector<float>(80, 0.025F));
    BothArray<std::int32_t> experts(6, -1);
    cuda::router_choice({p.device(), experts.device(), 3}, stream);
    finish(stream);
    CHECK(experts.on_device() == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
  });
}

void check_router_backward(cudaStream_t stream, const RouterCase& c) {
  BothTensor p(c.tokens, c.experts, c.format, [&] {
    std::vector<float> values = random_values(c.tokens * c.experts, 4);
    for (float& v : values) v = (std::abs(v) + 0.1F) / static_cast<float>(c.experts);
    return values;
  }());
  BothArray<std::int32_t> experts(random_choices(c.tokens, c.experts, c.chosen));
  BothArray<float> dw(random_values(c.tokens * c.chosen, 5));
  BothTensor gradient = random_both(c.tokens, c.experts, 6, NumberFormat::fp32, 1);
  RouterBackward host{dw.host(), p.host(), experts.host(), gradient.host(), c.chosen, c.kind};
  RouterBackward device = host;
  device.weight_gradient = dw.device();
  device.probabilities = p.device();
  device.experts = experts.device();
  device.logit_gradient = gradient.device();
  reference::router_backward(host);
  cuda::router_backward(device, stream);
  finish(stream);
  CHECK(gradient.error() <= 1e-5);
}

TEST_CASE("a router's gradient is the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const RouterWeights kind : {RouterWeights::probability, RouterWeights::normalised})
      for (const RouterCase& c :
           {RouterCase{1, 3, 1, NumberFormat::fp32, kind}, RouterCase{13, 5, 2, NumberFormat::bf16, kind},
            RouterCase{67, 67, 8, NumberFormat::fp32, kind}})
        check_router_backward(stream, c);
  });
}

void check_permutation(cudaStream_t stream, std::int64_t tokens, std::int64_t experts, std::int64_t chosen) {
  BothArray<std::int32_t> choices(random_choices(tokens, experts, chosen));
  BothArray<std::int64_t> counts(experts, std::int64_t{-1});
  BothArray<std::int64_t> slots(tokens * chosen, std::int64_t{-1});
  BothArray<std::int64_t> sources(tokens * chosen, std::int64_t{-1});
  reference::expert_permutation(
      {choices.host(), tokens * chosen, experts, counts.host(), slots.host(), sources.host()});
  cuda::expert_permutation(
      {choices.device(), tokens * chosen, experts, counts.device(), slots.device(), sources.device()}, stream);
  finish(stream);
  CHECK(counts.is_same());
  CHECK(slots.is_same());
  CHECK(sources.is_same());
}

TEST_CASE("rows are sorted by expert as on the CPU, in the order of their tokens") {
  on_both([](cudaStream_t stream) {
    check_permutation(stream, 1, 1, 1);
    check_permutation(stream, 67, 5, 2);
    check_permutation(stream, 600, 67, 3);
    check_permutation(stream, 0, 3, 2);
  });
}

TEST_CASE("balanced experts and the orders of rows that arrive are the CPU's") {
  on_both([](cudaStream_t stream) {
    BothArray<std::int32_t> in_turn(21, -1);
    reference::experts_in_turn({7, 5, 4, 3, in_turn.host()});
    cuda::experts_in_turn({7, 5, 4, 3, in_turn.device()}, stream);
    BothArray<std::int64_t> counts(std::vector<std::int64_t>{2, 0, 300, 1, 5, 0, 0, 4, 3});
    BothArray<std::int64_t> by_expert(3, std::int64_t{-1});
    reference::arrival_counts({counts.host(), 3, 3, by_expert.host()});
    cuda::arrival_counts({counts.device(), 3, 3, by_expert.device()}, stream);
    finish(stream);
    CHECK(in_turn.is_same());
    CHECK(by_expert.is_same());
    for (const ArrivalIndex of : {ArrivalIndex::sorted, ArrivalIndex::arrived}) {
      BothArray<std::int64_t> index(315, std::int64_t{-1});
      reference::arrival_order({counts.host(), 3, 3, of, index.host()});
      cuda::arrival_order({counts.device(), 3, 3, of, index.device()}, stream);
      finish(stream);
      CHECK(index.is_same());
    }
  });
}

TEST_CASE("values of chosen experts are taken and spread as on the CPU") {
  on_both([](cudaStream_t stream) {
    BothArray<std::int32_t> experts(random_choices(67, 5, 2));
    BothArray<float> values(random_values(335, 1));
    BothArray<float> taken(134, -1.0F);
    reference::chosen_values({values.host(), experts.host(), 67, 5, 2, taken.host()});
    cuda::chosen_values({values.device(), experts.device(), 67, 5, 2, taken.device()}, stream);
    finish(stream);
    CHECK(taken.is_same());
    reference::spread_chosen({values.host(), experts.host(), 67, 5, 2, taken.host()});
    cuda::spread_chosen({values.device(), experts.device(), 67, 5, 2, taken.device()}, stream);
    finish(stream);
    CHECK(values.is_same());
  });
}

void check_combine(cudaStream_t stream, NumberFormat format, std::int64_t columns) {
  BothArray<std::int64_t> slots(std::vector<std::int64_t>{3, 0, 1, 5, 2, 4});
  BothArray<float> weights(random_values(6, 2));
  BothTensor rows = random_both(6, columns, 1, format, 1);
  BothTensor output = random_both(3, columns, 2, format);
  BothTensor plain = random_both(3, columns, 3, format);
  BothArray<float> dw(6, -1.0F);
  reference::combine_forward({rows.host(), slots.host(), weights.host(), 2, output.host()});
  cuda::combine_forward({rows.device(), slots.device(), weights.device(), 2, output.device()}, stream);
  reference::combine_forward({rows.host(), slots.host(), nullptr, 2, plain.host()});
  cuda::combine_forward({rows.device(), slots.device(), nullptr, 2, plain.device()}, stream);
  reference::combine_backward({output.host(), rows.host(), slots.host(), weights.host(), 2, rows.host(), dw.host()});
  cuda::combine_backward(
      {output.device(), rows.device(), slots.device(), weights.device(), 2, rows.device(), dw.device()}, stream);
  finish(stream);
  CHECK(output.is_same());
  CHECK(plain.is_same());
  CHECK(rows.is_same());
  CHECK(relative_error(dw.on_device(), dw.on_host()) <= 1e-5);
}

TEST_CASE("rows of experts are weighed and summed as on the CPU, and so are the gradients in place") {
  on_both([](cudaStream_t stream) {
    for (const NumberFormat format : float_formats)
      for (const std::int64_t columns : {1, 67, 300}) check_combine(stream, format, columns);
  });
}

TEST_CASE("gathered rows are the CPU's, zeros where an index is negative") {
  on_both([](cudaStream_t stream) {
    BothTensor input = random_both(4, 67, 1, NumberFormat::bf16, 1);
    BothTensor output = random_both(5, 67, 2, NumberFormat::fp32, 2);
    BothArray<std::int64_t> index(std::vector<std::int64_t>{7, 0, -1, 3, 6});
    reference::gather_rows({input.host(), index.host(), 2, output.host()});
    cuda::gather_rows({input.device(), index.device(), 2, output.device()}, stream);
    finish(stream);
    CHECK(output.is_same());
  });
}

}  // namespace
}  // namespace plumbline
