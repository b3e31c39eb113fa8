// Mixtures of experts: the router, tokens to their experts and back, and the experts' products.
#include <algorithm>

#include "runtime/execution/kernel_call.h"

namespace plumbline {
namespace {

std::int64_t chosen_of(const KernelCall& call, TensorId probabilities) {
  return std::get<RouterAttributes>(call.block.op(call.block.producer(probabilities)).attributes).chosen;
}

/// Token by token, choice by choice, in turn: which token that is, every layout agrees on.
std::vector<std::int32_t> experts_in_turn(const KernelCall& call, TensorId probabilities) {
  const std::int64_t chosen = chosen_of(call, probabilities);
  const std::int64_t experts = call.columns(probabilities);
  std::vector<std::int32_t> choices;
  call.env.for_row_places(
      call.rows(probabilities), call.is_sliced(probabilities), [&](RowPlace place, std::int64_t, std::int64_t n) {
        for (std::int64_t row = 0; row < n; ++row)
          for (std::int64_t k = 0; k < chosen; ++k)
            choices.push_back(static_cast<std::int32_t>((place.whole_row(row) * chosen + k) % experts));
      });
  return choices;
}

/// How many rows will come, from whom and for which expert: every rank tells the others what it sends.
ExpertArrivals exchanged_counts(const KernelCall& call) {
  const std::int64_t ranks = call.env.shard.expert_parallel;
  const ExpertRoutes& routes = call.routes();
  ExpertArrivals arrivals{std::ssize(routes.counts) / ranks, routes.rows(), routes.counts};
  if (ranks == 1) return arrivals;
  const std::vector<std::int64_t> bytes(static_cast<std::size_t>(ranks),
                                        arrivals.experts * static_cast<std::int64_t>(sizeof(std::int64_t)));
  call.env.groups.expert_counts().all_to_all(std::as_bytes(std::span(routes.counts)), bytes,
                                             std::as_writable_bytes(std::span(arrivals.counts)), bytes,
                                             ElementFormat::bytes);
  return arrivals;
}

// Operand: the router's probabilities.
void route(const KernelCall& call) {
  const TensorId probabilities = call.tensor(0);
  const bool is_forced = call.env.routing == ExpertRouting::balanced;
  call.routes() = expert_routes(call.kernels(), call.view(0), chosen_of(call, probabilities), call.env.router_weights(),
                                is_forced ? experts_in_turn(call, probabilities) : std::vector<std::int32_t>());
  call.arrivals() = exchanged_counts(call);
}

void router_forward(const KernelCall& call) {
  const TensorId y = call.op.outputs[0];
  const LinearPart part = linear_parts(call.block, call.op).front();
  LinearForward kernel{call.view(0), call.weight(part.weight),
                       part.bias.is_valid() ? call.weight(part.bias) : ConstTensorView{}, call.view(2, y)};
  call.run(call.kernels().linear_forward, kernel);
  const std::int64_t choices = chosen_of(call, y);
  const auto chosen = static_cast<std::size_t>(call.rows(y) * choices);
  std::vector<std::int32_t> experts(chosen);
  std::vector<float> weights(chosen);
  call.kernels().router_forward(
      {kernel.output, call.view(1), experts.data(), weights.data(), choices, call.env.router_weights()});
}

// Operands: gradient of the probabilities, probabilities, gradient of the logits.
void router_backward(const KernelCall& call) {
  const ExpertRoutes& routes = call.routes();
  const std::int64_t experts = call.columns(call.tensor(1));
  const float* of_experts = call.floats(0);
  std::vector<float> of_weights;
  for (std::int64_t i = 0; i < routes.rows(); ++i)
    of_weights.push_back(of_experts[i / routes.chosen * experts + routes.experts[static_cast<std::size_t>(i)]]);
  call.kernels().router_backward(
      {of_weights.data(), call.view(1), routes.experts.data(), call.view(2), routes.chosen, call.env.router_weights()});
}

// Operands: gradient of out, rows, gradient of rows, gradient of probabilities.
void weigh_gradient(const KernelCall& call) {
  const ExpertRoutes& routes = call.routes();
  const TensorId x = call.op.inputs[0];
  std::vector<float> of_weights(static_cast<std::size_t>(routes.rows()));
  call.kernels().combine_backward({call.view(0), call.view(1, x), routes.slots.data(), routes.weights.data(),
                                   routes.chosen, call.view(2), of_weights.data()});
  call.kernels().fill({call.view(3), 0});
  const std::int64_t experts = call.columns(call.tensor(3));
  float* spread = call.floats(3);
  for (std::int64_t i = 0; i < routes.rows(); ++i)
    spread[i / routes.chosen * experts + routes.experts[static_cast<std::size_t>(i)]] =
        of_weights[static_cast<std::size_t>(i)];
}

/// Operands: rows as they lie, rows in `order`.
void reorder(const KernelCall& call, const std::vector<std::int64_t>& order) {
  call.kernels().gather_rows({call.view(0), order.data(), 1, call.view(1)});
}

void grouped_forward(const KernelCall& call) {
  const std::vector<std::int64_t> counts = call.arrivals().by_expert();
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LinearPart& part = parts[i];
    if (!call.has(call.inputs() + i)) continue;  // a replay that skips it
    GroupedLinearForward kernel{{std::ssize(counts), counts.data()},
                                call.view(0),
                                call.weight(part.weight),
                                part.bias.is_valid() ? call.weight(part.bias) : ConstTensorView{},
                                call.view(call.inputs() + i, part.output)};
    call.run(call.kernels().grouped_linear_forward, kernel);
  }
}

void grouped_input_gradient(const KernelCall& call) {
  const std::vector<std::int64_t> counts = call.arrivals().by_expert();
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    GroupedLinearInputGradient kernel{{std::ssize(counts), counts.data()},
                                      call.view(i, parts[i].output),
                                      call.weight(parts[i].weight),
                                      call.view(parts.size()),
                                      i == 0 ? Write::overwrite : Write::accumulate};
    call.run(call.kernels().grouped_linear_input_gradient, kernel);
  }
}

void grouped_weight_gradient(const KernelCall& call) {
  const std::vector<std::int64_t> counts = call.arrivals().by_expert();
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorView weight = call.gradient(parts[i].weight);
    if (!weight.is_there()) continue;
    GroupedLinearWeightGradient kernel{
        {std::ssize(counts), counts.data()}, call.view(0), call.view(1 + i, parts[i].output), weight};
    if (parts[i].bias.is_valid()) kernel.bias_gradient = call.gradient(parts[i].bias);
    call.run(call.kernels().grouped_linear_weight_gradient, kernel);
  }
}

}  // namespace

/// Operands: leaving and arriving rows, in order of the ranks at the other end.
void exchange_rows(const KernelCall& call) {
  const std::int64_t width = call.columns(call.tensor(0));
  const auto elements = [&](std::vector<std::int64_t> rows) {
    for (std::int64_t& count : rows) count *= width;
    return rows;
  };
  const std::vector<std::int64_t> own = elements(call.routes().by_rank(call.env.shard.expert_parallel));
  const std::vector<std::int64_t> here = elements(call.arrivals().by_rank());
  const bool to_experts = call.instruction.direction == ExchangeDirection::to_experts;
  call.env.communicate([leaving = span_of(call.buffer(0)), arriving = span_of(call.buffer(1)),
                        &group = call.env.groups[Axis::expert], sent = to_experts ? own : here,
                        received = to_experts ? here : own, format = element_format(call.format(call.tensor(0)))] {
    group.all_to_all(leaving, sent, arriving, received, format);
  });
}

void run_router(const KernelCall& call) {
  switch (call.instruction.role) {
    case KernelRole::forward: return router_forward(call);
    case KernelRole::backward: return router_backward(call);
    default: return run_linear(call);
  }
}

void run_expert_rows(const KernelCall& call) {
  const ExpertRoutes& routes = call.routes();
  switch (call.instruction.role) {
    case KernelRole::route: return route(call);
    case KernelRole::permute:
      return call.kernels().gather_rows({call.view(0), routes.sources.data(), routes.chosen, call.view(1)});
    case KernelRole::unpermute:
      return call.kernels().combine_forward({call.view(0), routes.slots.data(), nullptr, routes.chosen, call.view(1)});
    case KernelRole::sort_arrivals: return reorder(call, call.arrivals().sorted());
    case KernelRole::unsort_arrivals: return reorder(call, call.arrivals().unsorted());
    case KernelRole::weigh:
      return call.kernels().combine_forward(
          {call.view(0, call.op.inputs[0]), routes.slots.data(), routes.weights.data(), routes.chosen, call.view(1)});
    default: return weigh_gradient(call);
  }
}

void run_grouped_linear(const KernelCall& call) {
  switch (call.instruction.role) {
    case KernelRole::forward: return grouped_forward(call);
    case KernelRole::input_gradient: return grouped_input_gradient(call);
    default: return grouped_weight_gradient(call);
  }
}

}  // namespace plumbline
