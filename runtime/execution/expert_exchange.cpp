// Who goes where, and rows on their way to experts and back.
#include "runtime/execution/kernel_call.h"

namespace plumbline {
namespace {

RouteShape shape_of(const KernelCall& call, TensorId probabilities) {
  const std::int64_t experts = call.columns(probabilities);
  const Shard& shard = call.share.shard;
  return {call.rows(probabilities), chosen_experts(call, probabilities), experts, experts / shard.expert_parallel,
          std::int64_t{shard.expert_parallel} * shard.expert_tensor_parallel};
}

// Operand: the router's probabilities.
void choose(const KernelCall& call, const RouteTable& routes) {
  const RouteShape& shape = routes.shape;
  const TensorId probabilities = call.tensor(0);
  if (call.parts.plan.routing == ExpertRouting::learned)
    call.kernels().router_choice({call.view(0), routes.experts, shape.chosen});
  else
    call.for_row_places(
        shape.tokens, call.is_sliced(probabilities), [&](RowPlace place, std::int64_t row, std::int64_t tokens) {
          call.kernels().experts_in_turn(
              {tokens, place.whole_row(0), shape.experts, shape.chosen, routes.experts + row * shape.chosen});
        });
  call.kernels().router_weighing({call.view(0), routes.experts, routes.weights, shape.chosen, router_weights(call)});
  call.kernels().expert_permutation(
      {routes.experts, shape.choices(), shape.experts, routes.counts, routes.slots, routes.sources});
}

std::span<std::byte> bytes_of(std::int64_t* first, std::int64_t count) {
  return std::as_writable_bytes(std::span(first, static_cast<std::size_t>(count)));
}

/// Every rank tells the others how many rows it sends, and those that divide its experts how many it gets.
void exchange_counts(const KernelCall& call, const RouteTable& routes, const ExpertPlace& place) {
  const std::int64_t received = place.ranks * routes.shape.local_experts;
  const std::span<std::byte> here = bytes_of(routes.arrivals + place.part * received, received);
  const std::vector<std::int64_t> bytes(static_cast<std::size_t>(place.ranks), std::ssize(here) / place.ranks);
  call.device.calls.communicate(
      [&group = call.share.groups.expert_counts(), here, bytes, own = bytes_of(routes.counts, routes.shape.experts)] {
        group.all_to_all(own, bytes, here, bytes, ElementFormat::bytes);
      });
  if (place.parts == 1) return;
  call.device.calls.communicate(
      [&group = call.share.groups.expert_tensor_counts(), here,
       all = bytes_of(routes.arrivals, place.parts * received)] { group.all_gather(here, all, ElementFormat::bytes); });
}

/// An all-to-all takes its counts from the host: the one wait inside of a step.
ExchangedRows downloaded_rows(const KernelCall& call, const RouteTable& routes, const ExpertPlace& place) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(routes.shape.counts()));
  ComputeDevice& device = call.device.lanes;
  device.download(Stream::compute, counts.data(), routes.counts,
                  Bytes(routes.shape.counts() * static_cast<std::int64_t>(sizeof(std::int64_t))));
  device.finish(device.mark(Stream::compute));
  return exchanged_rows(place, routes.shape, counts);
}

/// Counts that are known without asking.
void upload_balance(const KernelCall& call, const RouteTable& routes) {
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(routes.shape.sources * routes.shape.local_experts),
                                         routes.shape.choices() / routes.shape.experts);
  call.device.lanes.upload(Stream::compute, routes.arrivals, counts.data(),
                           Bytes(std::ssize(std::as_bytes(std::span(counts)))));
}

ExchangedRows arrive(const KernelCall& call, const RouteTable& routes) {
  const ExpertPlace place = call.share.expert_place();
  const bool is_balanced = call.parts.plan.routing == ExpertRouting::balanced;
  if (place.sources() == 1) {
    call.device.lanes.copy(Stream::compute, routes.arrivals, routes.counts,
                           Bytes(std::ssize(bytes_of(routes.counts, routes.shape.experts))));
    return balanced_rows(place, routes.shape.choices());
  }
  if (is_balanced) {
    upload_balance(call, routes);
    return balanced_rows(place, routes.shape.choices());
  }
  if (call.parts.mode == ExecutionMode::rehearsal) return equal_shares(place, routes.shape.choices());
  exchange_counts(call, routes, place);
  return downloaded_rows(call, routes, place);
}

/// Elements of operand 0's width.
std::vector<std::int64_t> elements(const KernelCall& call, std::span<const std::int64_t> rows) {
  const std::int64_t width = call.columns(call.tensor(0));
  std::vector<std::int64_t> counts;
  for (const std::int64_t row : rows) counts.push_back(row * width);
  return counts;
}

/// Of a buffer with the rows of all ranks that divide the same experts, those that this one received.
std::span<std::byte> received_part(const KernelCall& call, std::size_t operand) {
  const ExchangedRows& rows = call.exchanged();
  const std::vector<std::int64_t> parts = rows.by_part();
  const std::span<std::byte> all = span_of(call.buffer(operand));
  if (rows.rows() == 0) return all;
  const auto row = static_cast<std::int64_t>(all.size()) / rows.rows();
  std::int64_t first = 0;
  for (std::int32_t part = 0; part < rows.place.part; ++part) first += parts[static_cast<std::size_t>(part)];
  return all.subspan(static_cast<std::size_t>(first * row),
                     static_cast<std::size_t>(parts[static_cast<std::size_t>(rows.place.part)] * row));
}

}  // namespace

RouterWeights router_weights(const KernelCall& call) {
  return call.parts.plan.constants.expert_weights == ExpertWeights::normalised ? RouterWeights::normalised
                                                                               : RouterWeights::probability;
}

std::int64_t chosen_experts(const KernelCall& call, TensorId probabilities) {
  return std::get<RouterAttributes>(call.block.op(call.block.producer(probabilities)).attributes).chosen;
}

void route_tokens(const KernelCall& call) {
  BlockState& state = call.state();
  if (state.rows.is_known()) return;  // made again, rows go where they went
  state.routes = call.parts.tables.routes.take(shape_of(call, call.tensor(0)));
  choose(call, *state.routes);
  state.rows = arrive(call, *state.routes);
  const RouteTable& routes = *state.routes;
  call.kernels().arrival_counts({routes.arrivals, routes.shape.sources, routes.shape.local_experts, routes.by_expert});
}

// Operands: leaving and arriving rows.
void exchange_rows(const KernelCall& call) {
  const bool to_experts = call.instruction.direction == ExchangeDirection::to_experts;
  std::vector<std::int64_t> own = elements(call, call.exchanged().leaving);
  std::vector<std::int64_t> here = elements(call, call.exchanged().received());
  call.device.calls.communicate(
      Axis::expert, [leaving = to_experts ? span_of(call.buffer(0)) : received_part(call, 0),
                     arriving = to_experts ? received_part(call, 1) : span_of(call.buffer(1)),
                     &group = call.share.groups[Axis::expert], sent = to_experts ? own : here,
                     received = to_experts ? here : own, format = element_format(call.format(call.tensor(0)))] {
        group.all_to_all(leaving, sent, arriving, received, format);
      });
}

// Operand: rows of all ranks that divide the same experts.
void share_rows(const KernelCall& call) {
  const bool gathers = call.instruction.collective == Collective::all_gather;
  call.device.calls.communicate(Axis::expert_tensor, [all = span_of(call.buffer(0)), own = received_part(call, 0),
                                                      gathers, &group = call.share.groups[Axis::expert_tensor],
                                                      counts = elements(call, call.exchanged().by_part()),
                                                      format = element_format(call.format(call.tensor(0)))] {
    if (gathers)
      group.all_gather(own, all, counts, format);
    else
      group.reduce_scatter(all, own, counts, format, Reduction::sum);
  });
}

}  // namespace plumbline
