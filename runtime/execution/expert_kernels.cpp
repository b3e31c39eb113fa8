// Mixtures of experts: the router, tokens to their experts and back, and the experts' products.
#include "runtime/execution/kernel_call.h"

namespace plumbline {
namespace {

/// Memory until the next kernel asks for some.
template <class T>
T* scratch(const KernelCall& call, std::int64_t count) {
  return reinterpret_cast<T*>(call.device.memory.workspace(Bytes(count * static_cast<std::int64_t>(sizeof(T)))).data);
}

ChosenValues chosen_of(const RouteTable& routes, float* values, float* of_choices) {
  const RouteShape& shape = routes.shape;
  return {values, routes.experts, shape.tokens, shape.experts, shape.chosen, of_choices};
}

void router_forward(const KernelCall& call) {
  const TensorId y = call.op.outputs[0];
  const LinearPart part = linear_parts(call.block, call.op).front();
  LinearForward kernel{call.view(0), call.weight(part.weight),
                       part.bias.is_valid() ? call.weight(part.bias) : ConstTensorView{}, call.view(2, y)};
  call.run(call.kernels().linear_forward, kernel);
  // The choice is made again where rows are sent; its memory here is the kernel's own.
  const std::int64_t chosen = chosen_experts(call, y);
  const std::int64_t choices = call.rows(y) * chosen;
  auto* const weights = scratch<float>(call, 2 * choices);
  call.kernels().router_forward({kernel.output, call.view(1), reinterpret_cast<std::int32_t*>(weights + choices),
                                 weights, chosen, router_weights(call)});
}

// Operands: gradient of the probabilities, probabilities, gradient of the logits.
void router_backward(const KernelCall& call) {
  const RouteTable& routes = call.routes();
  auto* const of_weights = scratch<float>(call, routes.shape.choices());
  call.kernels().chosen_values(chosen_of(routes, call.floats(0), of_weights));
  call.kernels().router_backward(
      {of_weights, call.view(1), routes.experts, call.view(2), routes.shape.chosen, router_weights(call)});
}

// Operands: gradient of out, rows, gradient of rows, gradient of probabilities.
void weigh_gradient(const KernelCall& call) {
  const RouteTable& routes = call.routes();
  auto* const of_weights = scratch<float>(call, routes.shape.choices());
  call.kernels().combine_backward({call.view(0), call.view(1, call.op.inputs[0]), routes.slots, routes.weights,
                                   routes.shape.chosen, call.view(2), of_weights});
  call.kernels().spread_chosen(chosen_of(routes, call.floats(3), of_weights));
}

/// Operands: rows as they lie, rows in another order.
void reorder(const KernelCall& call, ArrivalIndex of) {
  const RouteTable& routes = call.routes();
  auto* const index = scratch<std::int64_t>(call, call.exchanged().rows());
  call.kernels().arrival_order({routes.arrivals, routes.shape.sources, routes.shape.local_experts, of, index});
  call.kernels().gather_rows({call.view(0), index, 1, call.view(1)});
}

ExpertRows rows_of_experts(const KernelCall& call) {
  return {call.routes().shape.local_experts, call.routes().by_expert};
}

void grouped_forward(const KernelCall& call) {
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LinearPart& part = parts[i];
    if (!call.has(call.inputs() + i)) continue;  // a replay that skips it
    GroupedLinearForward kernel{rows_of_experts(call), call.view(0), call.weight(part.weight),
                                part.bias.is_valid() ? call.weight(part.bias) : ConstTensorView{},
                                call.view(call.inputs() + i, part.output)};
    call.run(call.kernels().grouped_linear_forward, kernel);
  }
}

void grouped_input_gradient(const KernelCall& call) {
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    GroupedLinearInputGradient kernel{rows_of_experts(call), call.view(i, parts[i].output),
                                      call.weight(parts[i].weight), call.view(parts.size()),
                                      i == 0 ? Write::overwrite : Write::accumulate};
    call.run(call.kernels().grouped_linear_input_gradient, kernel);
  }
}

void grouped_weight_gradient(const KernelCall& call) {
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorView weight = call.gradient(parts[i].weight);
    if (!weight.is_there()) continue;
    GroupedLinearWeightGradient kernel{rows_of_experts(call), call.view(0), call.view(1 + i, parts[i].output), weight};
    if (parts[i].bias.is_valid()) kernel.bias_gradient = call.gradient(parts[i].bias);
    call.run(call.kernels().grouped_linear_weight_gradient, kernel);
  }
}

}  // namespace

void run_router(const KernelCall& call) {
  switch (call.instruction.role) {
    case KernelRole::forward: return router_forward(call);
    case KernelRole::backward: return router_backward(call);
    default: return run_linear(call);
  }
}

void run_expert_rows(const KernelCall& call) {
  if (call.instruction.role == KernelRole::route) return route_tokens(call);
  const RouteTable& routes = call.routes();
  const std::int64_t chosen = routes.shape.chosen;
  switch (call.instruction.role) {
    case KernelRole::permute: return call.kernels().gather_rows({call.view(0), routes.sources, chosen, call.view(1)});
    case KernelRole::unpermute:
      return call.kernels().combine_forward({call.view(0), routes.slots, nullptr, chosen, call.view(1)});
    case KernelRole::sort_arrivals: return reorder(call, ArrivalIndex::sorted);
    case KernelRole::unsort_arrivals: return reorder(call, ArrivalIndex::arrived);
    case KernelRole::weigh:
      return call.kernels().combine_forward(
          {call.view(0, call.op.inputs[0]), routes.slots, routes.weights, chosen, call.view(1)});
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
