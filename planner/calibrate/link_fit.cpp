#include "planner/calibrate/link_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/errors.h"
#include "core/cost/collective_time.h"
#include "core/quantity/text.h"
#include "planner/calibrate/shipped_fit.h"
#include "planner/validate/summary.h"

namespace plumbline {
namespace {

constexpr double bandwidth_sigma = 0.5;  // sources: link_fit.h
constexpr double latency_sigma = 0.7;
/// A bandwidth cannot be twice what the datasheets say of the links: the timings are of another machine.
constexpr double most_over_datasheet = 2;
constexpr double loss_scale = 0.05;  // runs of nccl-tests repeat within a few per cent

using TimedGroup = std::tuple<Collective, std::int32_t, std::int32_t>;  // kind, ranks, nodes
TimedGroup group_of(const TimedCollective& t) { return {t.kind, t.ranks, t.nodes}; }

bool is_latency(LinkFactor factor) {
  return factor == LinkFactor::node_latency || factor == LinkFactor::network_latency;
}

/// The nodes that the ranks ran on: a part of one, or whole ones of which every one holds as many ranks.
Cluster nodes_of(const TimedCollective& t, const Cluster& cluster) {
  const std::int32_t devices = cluster.groups.front().node.devices;
  const std::int32_t per_node = t.ranks / t.nodes;
  if (per_node > devices)
    throw InputError({"ranks", std::to_string(t.ranks) + " on " + std::to_string(t.nodes) + " nodes of " + cluster.name,
                      "at most " + std::to_string(devices) + " on each", ""});
  return with_device_count(cluster, t.nodes == 1 ? t.ranks : std::int64_t{t.nodes} * devices);
}

CollectiveParts parts_of(const TimedCollective& t, const Cluster& cluster) {
  const Cluster nodes = nodes_of(t, cluster);
  const auto stride = static_cast<std::int32_t>(device_count(nodes) / t.ranks);
  return collective_parts(t.kind, t.bytes, group_span(t.ranks, stride, nodes), nodes);
}

class LinkFitting {
 public:
  LinkFitting(const std::vector<TimedCollective>& timings, const Cluster& cluster) : timings_(timings) {
    for (const TimedCollective& t : timings) {
      parts_.push_back(parts_of(t, cluster));
      ++sizes_[group_of(t)];
    }
    for (const CollectiveParts& parts : parts_) {
      unknown(parts.latency_factor, cluster.link_factors);
      unknown(parts.bandwidth_factor, cluster.link_factors);
    }
    observe();
    problem_.predict = [this](std::size_t i, std::span<const double> at) { return log_time(i, at); };
  }

  LinkFit fitted(const LinkFactors& before, const std::string& source) {
    FitOptions options;
    options.loss_scale = loss_scale;
    options.most_iterations = 50;
    options.threads = 1;
    const FitResult result = fit(problem_, options);
    LinkFit answer{before, residuals(result)};
    for (const auto& [factor, index] : unknowns_) {
      const double value = std::exp(result.unknowns[index]);
      if (!is_latency(factor) && value > most_over_datasheet)
        throw InputError(
            {"--collectives",
             "make " + std::string(to_text(factor)) + " " + fixed(value, 1) + " times what the machine's links carry",
             "timings of this machine, in microseconds", ""});
      if (result.sigma(index) < identified_below * problem_.priors[index].sigma)
        answer.factors.set(factor, {value, source, SourceKind::measured, ""});
    }
    return answer;
  }

 private:
  void unknown(LinkFactor factor, const LinkFactors& before) {
    if (!unknowns_.emplace(factor, static_cast<std::uint32_t>(problem_.unknowns.size())).second) return;
    const double start = std::log(before[factor]);
    problem_.priors.push_back({static_cast<std::uint32_t>(problem_.unknowns.size()), std::nullopt, start,
                               is_latency(factor) ? latency_sigma : bandwidth_sigma});
    problem_.unknowns.push_back({start, std::log(least_link_factor), std::log(most_link_factor)});
  }

  void observe() {
    for (std::size_t i = 0; i < timings_.size(); ++i) {
      std::vector<std::uint32_t> depends{unknowns_.at(parts_[i].latency_factor),
                                         unknowns_.at(parts_[i].bandwidth_factor)};
      std::sort(depends.begin(), depends.end());
      problem_.observations.push_back({std::log(timings_[i].time.value()),
                                       1.0 / static_cast<double>(sizes_.at(group_of(timings_[i]))),
                                       std::move(depends)});
    }
  }

  [[nodiscard]] double log_time(std::size_t i, std::span<const double> at) const {
    const CollectiveParts& parts = parts_[i];
    return std::log(parts.latency.value() * std::exp(at[unknowns_.at(parts.latency_factor)]) +
                    parts.transfer.value() * std::exp(-at[unknowns_.at(parts.bandwidth_factor)]));
  }

  [[nodiscard]] std::vector<LinkResidual> residuals(const FitResult& result) const {
    std::map<TimedGroup, std::size_t> numbers;
    std::vector<std::size_t> groups;
    for (const TimedCollective& t : timings_)
      groups.push_back(numbers.emplace(group_of(t), numbers.size()).first->second);
    const std::vector<LeftOutError> left_out = left_out_errors(problem_, result, groups, loss_scale);
    std::vector<double> start;
    for (const FitUnknown& unknown : problem_.unknowns) start.push_back(unknown.start);
    std::vector<LinkResidual> all;
    for (const auto& [group, number] : numbers) {
      std::vector<double> before;
      std::vector<double> fitted;
      std::vector<double> apart;
      for (std::size_t i = 0; i < timings_.size(); ++i) {
        if (groups[i] != number) continue;
        const double measured = problem_.observations[i].log_measured;
        before.push_back(std::abs(std::expm1(log_time(i, start) - measured)));
        fitted.push_back(std::abs(std::expm1(result.log_predicted[i] - measured)));
        apart.push_back(std::abs(std::expm1(left_out[i].error)));
      }
      all.push_back({std::get<0>(group), std::get<1>(group), std::get<2>(group), std::ssize(before), median(before),
                     median(fitted), median(apart)});
    }
    return all;
  }

  const std::vector<TimedCollective>& timings_;
  std::vector<CollectiveParts> parts_;
  std::map<TimedGroup, std::int64_t> sizes_;
  std::map<LinkFactor, std::uint32_t> unknowns_;
  FitProblem problem_;
};

}  // namespace

LinkFit fit_links(const std::vector<TimedCollective>& timings, const Cluster& cluster, const std::string& source) {
  return LinkFitting(timings, cluster).fitted(cluster.link_factors, source);
}

}  // namespace plumbline
