#include "planner/session/size_points.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/quantity/text.h"
#include "models/machine_catalog.h"

namespace plumbline::session {
namespace {

/// Where nobody says how many GPUs: up to twice the 16 384 on which Llama 3.1 405B was trained (arXiv:2407.21783),
/// and without limits to stop at, far enough to see how a run scales.
constexpr std::int64_t most_doubled_devices = 32'768;
constexpr std::size_t counts_without_limits = 7;

void require_between(const char* where, double value, double smallest, double largest) {
  if (std::isfinite(value) && value >= smallest && value <= largest) return;
  throw InputError({where, fixed(value, 3) + " is out of range",
                    fixed(smallest, smallest == std::floor(smallest) ? 0 : 3) + " to " + fixed(largest, 0), ""});
}

bool can_have(const Cluster& cluster, std::int64_t devices) {
  try {
    (void)with_device_count(cluster, devices);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<std::int64_t> doubled_from(const Cluster& cluster, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> counts;
  for (std::int64_t devices = first; devices <= last && can_have(cluster, devices); devices *= 2)
    counts.push_back(devices);
  return counts;
}

/// Whole nodes, doubled; parts of the node where no network joins several.
std::vector<std::int64_t> usual_counts(const SizeRequest& request) {
  const Cluster cluster = find_machine(request.search.question.machine);
  if (cluster.groups.size() > 1) return {device_count(cluster)};
  const std::int64_t node = cluster.groups.front().node.devices;
  std::vector<std::int64_t> counts = doubled_from(cluster, node, most_doubled_devices);
  if (counts.size() < 2) counts = doubled_from(cluster, 1, node);
  if (!request.limits.any()) counts.resize(std::min(counts.size(), counts_without_limits));
  return counts;
}

std::int64_t batch_of(Scaling scaling, std::int64_t batch, std::int64_t devices, std::int64_t smallest) {
  if (scaling == Scaling::strong || batch < 1) return batch;
  const double grown = static_cast<double>(batch) * static_cast<double>(devices) / static_cast<double>(smallest);
  if (grown > 1e15 || batch % smallest * devices % smallest != 0)
    throw InputError({"--scaling weak",
                      "a global batch of " + std::to_string(batch) + " on " + std::to_string(smallest) +
                          " GPUs is no whole number on " + std::to_string(devices),
                      "a batch that is a multiple of " + std::to_string(smallest), ""});
  return batch / smallest * devices + batch % smallest * devices / smallest;
}

std::vector<std::int64_t> asked_counts(const SizeRequest& request) {
  return request.devices.empty() ? usual_counts(request) : request.devices;
}

}  // namespace

void require_size(const SizeRequest& request) {
  const QuestionText& question = request.search.question;
  if (!question.training.token_budget && !question.sample_budget)
    throw InputError({"--tokens", "is missing", "tokens of the whole run, such as 15T, or --samples", ""});
  check(!request.scalings.empty(), "a size has a scaling");
  if (request.limits.days) require_between("--days", *request.limits.days, least_days, most_days);
  if (request.limits.budget) require_between("--budget", request.limits.budget->value(), least_dollars, most_dollars);
  if (request.power_usage_effectiveness) require_between("--pue", *request.power_usage_effectiveness, 1, highest_pue);
  if (request.grid_grams_per_kwh) require_between("--grid", *request.grid_grams_per_kwh, 0, dirtiest_grid);
}

SizeRequest with_one_stack(SizeRequest request) {
  QuestionText largest = request.search.question;
  if (!largest.stack.empty() || request.search.framework) return request;
  const std::vector<std::int64_t> counts = asked_counts(request);
  largest.devices = *std::max_element(counts.begin(), counts.end());
  request.search.question.stack = Question(largest).usual_stack().taken().stack;
  return request;
}

std::vector<PreparedSize::Point> size_points(const SizeRequest& request) {
  std::vector<std::int64_t> counts = asked_counts(request);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<PreparedSize::Point> points;
  for (const std::int64_t devices : counts)
    for (const Scaling scaling : request.scalings) {
      SearchRequest one = request.search;
      one.question.devices = devices;
      one.question.training.global_batch =
          batch_of(scaling, one.question.training.global_batch, devices, counts.front());
      one.objective = Objective::step_time;
      one.top = 1;
      one.pareto = false;
      one.limits_cost = false;
      points.push_back({scaling, prepare_search(one)});
    }
  return points;
}

}  // namespace plumbline::session
