#include "runtime/execution/expert_routes.h"

#include <numeric>

#include "core/base/errors.h"

namespace plumbline {
namespace {

std::int64_t sum(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

/// Sums of runs of `length`.
std::vector<std::int64_t> run_sums(std::span<const std::int64_t> values, std::int64_t length) {
  const auto size = static_cast<std::size_t>(length);
  std::vector<std::int64_t> sums;
  for (std::size_t first = 0; first < values.size(); first += size) sums.push_back(sum(values.subspan(first, size)));
  return sums;
}

}  // namespace

std::shared_ptr<const RouteTable> RouteTables::take(const RouteShape& shape) {
  std::vector<RouteTable>& idle = idle_[shape];
  if (idle.empty()) idle.push_back(make(shape));
  const auto give_back = [&idle](const RouteTable* table) {
    idle.push_back(*table);
    delete table;
  };
  std::shared_ptr<const RouteTable> taken(new RouteTable(idle.back()), give_back);
  idle.pop_back();
  return taken;
}

void RouteTables::prepare_as(const RouteTables& rehearsed) {
  for (const auto& [shape, count] : rehearsed.made_)
    while (made_[shape] < count) idle_[shape].push_back(make(shape));
}

RouteTable RouteTables::make(const RouteShape& shape) {
  ++made_[shape];
  const auto reserve = [&]<class T>(T*& memory, std::int64_t count) {
    memory = static_cast<T*>(backend_.reserve(Bytes(count * static_cast<std::int64_t>(sizeof(T)))));
  };
  RouteTable table;
  table.shape = shape;
  reserve(table.experts, shape.choices());
  reserve(table.weights, shape.choices());
  reserve(table.slots, shape.choices());
  reserve(table.sources, shape.choices());
  reserve(table.counts, shape.counts());
  reserve(table.by_expert, shape.local_experts);
  table.arrivals = table.counts + shape.experts;
  return table;
}

std::int64_t ExchangedRows::chosen() const { return sum(leaving); }
std::int64_t ExchangedRows::rows() const { return sum(arriving); }

std::span<const std::int64_t> ExchangedRows::received() const {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  return std::span(arriving).subspan(static_cast<std::size_t>(place.part) * ranks, ranks);
}

std::vector<std::int64_t> ExchangedRows::by_part() const { return run_sums(arriving, place.ranks); }

RoutedRows ExchangedRows::moved() const {
  const auto own = static_cast<std::size_t>(place.rank);
  const std::int64_t here = sum(received());
  return {chosen() - leaving[own], here - received()[own], here * (place.parts - 1), rows() - here};
}

ExchangedRows exchanged_rows(const ExpertPlace& place, const RouteShape& shape, std::span<const std::int64_t> counts) {
  check(std::ssize(counts) == shape.counts(), "a table of routes has its counts");
  const auto experts = static_cast<std::size_t>(shape.experts);
  return {place, run_sums(counts.first(experts), shape.local_experts),
          run_sums(counts.subspan(experts), shape.local_experts)};
}

ExchangedRows balanced_rows(const ExpertPlace& place, std::int64_t choices) {
  check(choices % place.ranks == 0, "in balance every rank gets as many rows");
  return {place, std::vector<std::int64_t>(static_cast<std::size_t>(place.ranks), choices / place.ranks),
          std::vector<std::int64_t>(static_cast<std::size_t>(place.sources()), choices / place.ranks)};
}

ExchangedRows equal_shares(const ExpertPlace& place, std::int64_t choices) {
  const auto share = [&](std::int32_t rank) { return choices / place.ranks + (rank < choices % place.ranks ? 1 : 0); };
  ExchangedRows rows{place, {}, {}};
  for (std::int32_t rank = 0; rank < place.ranks; ++rank) rows.leaving.push_back(share(rank));
  rows.arriving.assign(static_cast<std::size_t>(place.sources()), share(place.rank));
  return rows;
}

}  // namespace plumbline
