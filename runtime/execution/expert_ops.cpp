// Mixtures of experts: the router, tokens to their experts and back, and the experts' products.
#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/expert_routing.h"
#include "kernels/grouped_linear.h"
#include "kernels/linear.h"
#include "runtime/execution/block_runner.h"

namespace plumbline {
namespace {

std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }

}  // namespace

std::int64_t BlockRunner::chosen_of(TensorId probabilities) const {
  return std::get<RouterAttributes>(block_.op(block_.producer(probabilities)).attributes).chosen;
}

/// Token by token, choice by choice, in turn: which token that is, every layout agrees on.
std::vector<std::int32_t> BlockRunner::experts_in_turn(TensorId probabilities) const {
  const std::int64_t chosen = chosen_of(probabilities);
  const std::int64_t experts = columns(probabilities);
  std::vector<std::int32_t> choices;
  env_.for_row_places(rows(probabilities), is_sliced(probabilities), [&](RowPlace place, std::int64_t, std::int64_t n) {
    for (std::int64_t row = 0; row < n; ++row)
      for (std::int64_t k = 0; k < chosen; ++k)
        choices.push_back(static_cast<std::int32_t>((place.whole_row(row) * chosen + k) % experts));
  });
  return choices;
}

ExpertRoutes BlockRunner::routes_of(TensorId probabilities) const {
  const bool is_forced = env_.routing == ExpertRouting::balanced;
  return expert_routes(value(probabilities), chosen_of(probabilities), env_.router_weights(),
                       is_forced ? experts_in_turn(probabilities) : std::vector<std::int32_t>());
}

void BlockRunner::exchange_rows(const ExpertRoutes& routes, RowsGo direction, const Held& leaving, const Held& arriving,
                                TensorId like) {
  if (!env_.granted.expert) return;
  const auto elements = [&](std::vector<std::int64_t> rows) {
    for (std::int64_t& count : rows) count *= columns(like);
    return rows;
  };
  const std::vector<std::int64_t> own = elements(routes.by_rank(env_.shard.expert_parallel));
  const std::vector<std::int64_t> here = elements(state_.arrivals.by_rank());
  const bool to_experts = direction == RowsGo::to_experts;
  env_.groups[Axis::expert].all_to_all(span_of(leaving), to_experts ? own : here, span_of(arriving),
                                       to_experts ? here : own, element_format(format(like)));
}

/// How many rows will come, from whom and for which expert.
ExpertArrivals BlockRunner::announced(const ExpertRoutes& routes) {
  const std::int64_t ranks = env_.shard.expert_parallel;
  ExpertArrivals arrivals{std::ssize(routes.counts) / ranks, routes.rows(), routes.counts};
  if (ranks == 1) return arrivals;
  const std::vector<std::int64_t> bytes(static_cast<std::size_t>(ranks),
                                        arrivals.experts * static_cast<std::int64_t>(sizeof(std::int64_t)));
  env_.groups.expert_counts().all_to_all(std::as_bytes(std::span(routes.counts)), bytes,
                                         std::as_writable_bytes(std::span(arrivals.counts)), bytes,
                                         ElementFormat::bytes);
  return arrivals;
}

void BlockRunner::router_forward(OpId id, const Op& op, const Held& out, SideBuffers& side) {
  const TensorId y = op.outputs[0];
  side[0] = bind(class_of_side(id), bytes(y));
  const LinearPart part = linear_parts(block_, op).front();
  LinearForward call{value(op.inputs[0]), env_.parameters.weight(execution_, part.weight),
                     part.bias.is_valid() ? env_.parameters.weight(execution_, part.bias) : ConstTensorView{},
                     view(side[0], y)};
  call.workspace = env_.backend.workspace(reference::linear_workspace(call));
  reference::linear_forward(call);
  const auto chosen = static_cast<std::size_t>(rows(y) * chosen_of(y));
  std::vector<std::int32_t> experts(chosen);
  std::vector<float> weights(chosen);
  reference::router_forward(
      {call.output, view(out, y), experts.data(), weights.data(), chosen_of(y), env_.router_weights()});
}

void BlockRunner::router_backward(OpId id, const Op& op, BackwardPart part) {
  const TensorId y = op.outputs[0];
  const TensorId x = op.inputs[0];
  const ExpertRoutes routes = routes_of(y);
  const auto* of_experts = reinterpret_cast<const float*>(gradient(y)->data());
  std::vector<float> of_weights;
  for (std::int64_t i = 0; i < routes.rows(); ++i)
    of_weights.push_back(of_experts[i / routes.chosen * columns(y) + routes.experts[static_cast<std::size_t>(i)]]);
  Held of_logits = working(bytes(y));
  reference::router_backward(
      {of_weights.data(), value(y), routes.experts.data(), view(of_logits, y), routes.chosen, env_.router_weights()});
  gradient(y) = nullptr;
  std::vector<Held> made{std::move(of_logits)};
  if (carries(x)) linear_input_gradient(id, op, made);
  if (!trains(op)) return;
  if (part == BackwardPart::inputs)
    defer(id, std::move(made));
  else
    linear_weight_gradient(op, made);
}

void BlockRunner::dispatch_forward(const Op& op, Held& out) {
  const TensorId y = op.outputs[0];
  const ExpertRoutes routes = routes_of(op.inputs[1]);
  state_.arrivals = announced(routes);
  const GatherRows permute{value(op.inputs[0]), routes.sources.data(), routes.chosen, {}};
  const auto gather = [&](GatherRows call, const Held& to) {
    call.output = view(to, y);
    reference::gather_rows(call);
  };
  if (env_.shard.expert_parallel == 1) {
    out = bind(class_of(y), bytes(y));
    return gather(permute, out);
  }
  Held leaving = working(row_bytes(y) * routes.rows());
  gather(permute, leaving);
  const Held arriving = working(bytes(y));
  exchange_rows(routes, RowsGo::to_experts, leaving, arriving, y);
  leaving = nullptr;
  out = bind(class_of(y), bytes(y));
  const std::vector<std::int64_t> order = state_.arrivals.sorted();
  gather({view(arriving, y), order.data(), 1, {}}, out);
}

void BlockRunner::dispatch_backward(const Op& op) {
  const TensorId y = op.outputs[0];
  const TensorId x = op.inputs[0];
  if (!carries(x)) return;
  const ExpertRoutes routes = routes_of(op.inputs[1]);
  Held back = gradient(y);
  if (env_.shard.expert_parallel > 1) {
    Held leaving = working(bytes(y));
    const std::vector<std::int64_t> order = state_.arrivals.unsorted();
    reference::gather_rows({view(back, y), order.data(), 1, view(leaving, y)});
    back = gradient(y) = nullptr;
    back = working(row_bytes(y) * routes.rows());
    exchange_rows(routes, RowsGo::to_tokens, leaving, back, y);
  }
  Held dx = working(bytes(x));
  reference::combine_forward({view(back, y), routes.slots.data(), nullptr, routes.chosen, view(dx, x)});
  back = nullptr;
  contribute(x, std::move(dx));
}

void BlockRunner::combine_forward(OpId id, const Op& op, Held& out, SideBuffers& side) {
  const TensorId x = op.inputs[0];
  const ExpertRoutes routes = routes_of(op.inputs[1]);
  ConstTensorView from_experts = value(x);
  if (env_.shard.expert_parallel > 1) {
    side[0] = bind(class_of_side(id), row_bytes(x) * routes.rows());
    const Held leaving = working(bytes(x));
    const std::vector<std::int64_t> order = state_.arrivals.unsorted();
    reference::gather_rows({from_experts, order.data(), 1, view(leaving, x)});
    exchange_rows(routes, RowsGo::to_tokens, leaving, side[0], x);
    from_experts = view(side[0], x);
  }
  out = bind(class_of(op.outputs[0]), bytes(op.outputs[0]));
  reference::combine_forward(
      {from_experts, routes.slots.data(), routes.weights.data(), routes.chosen, view(out, op.outputs[0])});
}

void BlockRunner::combine_backward(OpId id, const Op& op) {
  const TensorId x = op.inputs[0];
  const TensorId probabilities = op.inputs[1];
  const bool exchanges = env_.shard.expert_parallel > 1;
  const ExpertRoutes routes = routes_of(probabilities);
  const Held& returned = state_.side[slot(id)][0];
  Held of_experts = working(bytes(probabilities));
  Held of_rows = working(row_bytes(x) * routes.rows());
  std::vector<float> of_weights(static_cast<std::size_t>(routes.rows()));
  reference::combine_backward({view(gradient(op.outputs[0]), op.outputs[0]),
                               exchanges ? ConstTensorView(view(returned, x)) : value(x), routes.slots.data(),
                               routes.weights.data(), routes.chosen, view(of_rows, x), of_weights.data()});
  if (exchanges) {
    Held arriving = working(bytes(x));
    exchange_rows(routes, RowsGo::to_experts, of_rows, arriving, x);
    of_rows = nullptr;
    of_rows = working(bytes(x));
    const std::vector<std::int64_t> order = state_.arrivals.sorted();
    reference::gather_rows({view(arriving, x), order.data(), 1, view(of_rows, x)});
  }
  reference::fill({view(of_experts, probabilities), 0});
  auto* spread = reinterpret_cast<float*>(of_experts->data());
  for (std::int64_t i = 0; i < routes.rows(); ++i)
    spread[i / routes.chosen * columns(probabilities) + routes.experts[static_cast<std::size_t>(i)]] =
        of_weights[static_cast<std::size_t>(i)];
  contribute(x, std::move(of_rows));
  contribute(probabilities, std::move(of_experts));
}

void BlockRunner::grouped_forward(const Op& op, const std::vector<Held>& out) {
  const std::vector<std::int64_t> counts = state_.arrivals.by_expert();
  const std::vector<LinearPart> parts = linear_parts(block_, op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LinearPart& part = parts[i];
    GroupedLinearForward call{{std::ssize(counts), counts.data()},
                              value(op.inputs[0]),
                              env_.parameters.weight(execution_, part.weight),
                              part.bias.is_valid() ? env_.parameters.weight(execution_, part.bias) : ConstTensorView{},
                              view(out[i], part.output)};
    call.workspace = env_.backend.workspace(reference::grouped_linear_workspace(call));
    reference::grouped_linear_forward(call);
  }
}

void BlockRunner::grouped_backward(OpId id, const Op& op, BackwardPart part) {
  const TensorId x = op.inputs[0];
  std::vector<Held> gradients;
  for (const TensorId output : op.outputs) gradients.push_back(std::move(gradient(output)));
  if (carries(x)) {
    Held dx = working(bytes(x));
    grouped_input_gradient(op, gradients, view(dx, x));
    contribute(x, std::move(dx));
  }
  if (!trains(op)) return;
  if (part == BackwardPart::inputs)
    defer(id, std::move(gradients));
  else
    grouped_weight_gradient(op, gradients);
}

void BlockRunner::grouped_input_gradient(const Op& op, const std::vector<Held>& gradients, const TensorView& dx) {
  const std::vector<std::int64_t> counts = state_.arrivals.by_expert();
  const std::vector<LinearPart> parts = linear_parts(block_, op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    GroupedLinearInputGradient call{{std::ssize(counts), counts.data()},
                                    view(gradients[i], parts[i].output),
                                    env_.parameters.weight(execution_, parts[i].weight),
                                    dx,
                                    i == 0 ? Write::overwrite : Write::accumulate};
    call.workspace = env_.backend.workspace(reference::grouped_linear_workspace(call));
    reference::grouped_linear_input_gradient(call);
  }
}

void BlockRunner::grouped_weight_gradient(const Op& op, const std::vector<Held>& gradients) {
  const std::vector<std::int64_t> counts = state_.arrivals.by_expert();
  const std::vector<LinearPart> parts = linear_parts(block_, op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorView weight = env_.parameters.gradient(execution_, parts[i].weight);
    if (!weight.is_there()) continue;
    GroupedLinearWeightGradient call{
        {std::ssize(counts), counts.data()}, value(op.inputs[0]), view(gradients[i], parts[i].output), weight};
    if (parts[i].bias.is_valid()) call.bias_gradient = env_.parameters.gradient(execution_, parts[i].bias);
    call.workspace = env_.backend.workspace(reference::grouped_linear_workspace(call));
    reference::grouped_linear_weight_gradient(call);
  }
}

}  // namespace plumbline
