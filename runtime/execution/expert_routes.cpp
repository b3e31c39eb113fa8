#include "runtime/execution/expert_routes.h"

#include <numeric>

namespace plumbline {
namespace {

/// Sums of runs of `length`.
std::vector<std::int64_t> run_sums(const std::vector<std::int64_t>& values, std::int64_t length) {
  std::vector<std::int64_t> sums;
  for (auto begin = values.begin(); begin != values.end(); begin += length)
    sums.push_back(std::accumulate(begin, begin + length, std::int64_t{0}));
  return sums;
}

}  // namespace

std::vector<std::int64_t> ExpertRoutes::by_rank(std::int64_t ranks) const {
  return run_sums(counts, static_cast<std::int64_t>(counts.size()) / ranks);
}

ExpertRoutes expert_routes(const DeviceKernels& kernels, const ConstTensorView& probabilities, std::int64_t chosen,
                           RouterWeights kind, std::vector<std::int32_t> experts) {
  const auto rows = static_cast<std::size_t>(probabilities.rows * chosen);
  ExpertRoutes routes{chosen, std::move(experts), std::vector<float>(rows), {}, {}, {}};
  if (routes.experts.empty()) {
    routes.experts.resize(rows);
    kernels.router_choice({probabilities, routes.experts.data(), chosen});
  }
  kernels.router_weighing({probabilities, routes.experts.data(), routes.weights.data(), chosen, kind});
  routes.counts.resize(static_cast<std::size_t>(probabilities.columns));
  routes.slots.resize(rows);
  routes.sources.resize(rows);
  kernels.expert_permutation({routes.experts.data(), routes.rows(), probabilities.columns, routes.counts.data(),
                              routes.slots.data(), routes.sources.data()});
  return routes;
}

std::int64_t ExpertArrivals::rows() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

std::vector<std::int64_t> ExpertArrivals::by_rank() const { return run_sums(counts, experts); }

std::vector<std::int64_t> ExpertArrivals::by_expert() const {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(experts));
  for (std::size_t i = 0; i < counts.size(); ++i) sums[i % sums.size()] += counts[i];
  return sums;
}

std::vector<std::int64_t> ExpertArrivals::unsorted() const {
  std::vector<std::int64_t> next = by_expert();
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::int64_t{0});
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::int64_t row = 0; row < counts[i]; ++row) rows.push_back(next[i % next.size()]++);
  return rows;
}

std::vector<std::int64_t> ExpertArrivals::sorted() const {
  const std::vector<std::int64_t> rows = unsorted();
  std::vector<std::int64_t> arrivals(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    arrivals[static_cast<std::size_t>(rows[i])] = static_cast<std::int64_t>(i);
  return arrivals;
}

}  // namespace plumbline
