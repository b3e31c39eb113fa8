#include "planner/pricing/trust.h"

#include <algorithm>
#include <cmath>

#include "core/cost/network_share.h"
#include "core/cost/stack_shard.h"
#include "core/quantity/text.h"
#include "models/calibration_catalog.h"
#include "planner/pricing/priced.h"
#include "planner/question/run_features.h"

namespace plumbline {
namespace {

Picoseconds step_on(const Cluster& cluster, const Question& question, const Strategy& s) {
  const BlockPricer pricer(cluster, question.calibration());
  const Shard shard = shard_of(s, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(s);
  std::vector<BlockCost> blocks;
  for (const Block& block : question.graph().blocks()) blocks.push_back(pricer.price(block, shard, groups));
  const StageLayout layout = layout_of(question, s, blocks);
  return StepPricer(pricer, question.training()).total(StageTable(question.graph(), layout, blocks), s);
}

/// A stack whose runs had this kind of network: one that a question may get by default, else the last by name; empty:
/// none.
std::string stack_with_runs_of(const std::string& network, const Question& question) {
  const auto has_runs = [&](const Residuals& residuals) {
    const std::vector<std::string>& networks = residuals.measured.networks;
    return std::find(networks.begin(), networks.end(), network) != networks.end();
  };
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const StackCandidate& one : question.usual_stack().candidates)
    if (has_runs(set.stack(one.stack).residuals)) return one.stack;
  std::string last;
  for (const SoftwareStack& stack : set.stacks())
    if (stack.residuals && has_runs(*stack.residuals)) last = std::max(last, stack.name);
  return last;
}

}  // namespace

RunFeatures run_features(const Question& question, const Strategy& s) {
  RunFeatures run = question_features(question.graph(), question.facts(), question.training(), question.cluster());
  if (const std::int64_t tokens = run[RunScale::sequence]; tokens > 0)
    run[RunScale::tokens_per_micro_batch] = std::max<std::int64_t>(1, s.micro_batch * tokens / s.context_parallel);
  run[RunScale::tp] = s.tensor_parallel;
  run[RunScale::pp] = s.pipeline_stages;
  run[RunScale::cp] = s.context_parallel;
  run[RunScale::ep] = s.expert_parallel;
  return run;
}

Uncertainty uncertainty_of(const Question& question, const Strategy& strategy, double host_share) {
  RunFeatures features = run_features(question, strategy);
  features.host_share = host_share;
  features.network_share =
      network_share(question.cluster(), [&](const Cluster& cluster) { return step_on(cluster, question, strategy); });
  Uncertainty found = uncertainty(question.calibration(), features);
  for (Beyond& beyond : found.beyond) {
    if (!beyond.of_network) continue;
    if (const std::string other = stack_with_runs_of(features.network, question); !other.empty())
      beyond.what += " (they were with --stack " + other + ")";
  }
  return found;
}

Interval interval_of(double expected, double sigma) {
  const double factor = std::exp(deviations_90_percent * sigma);
  return {expected / factor, expected, expected * factor};
}

double chance_to_fit(Bytes expected, double sigma, Bytes capacity) {
  constexpr double parts = 10'000;
  if (sigma <= 0 || expected <= Bytes(0)) return expected <= capacity ? 1 : 0;
  if (capacity <= Bytes(0)) return 0;
  const double room = std::log(static_cast<double>(capacity.value()) / static_cast<double>(expected.value()));
  return std::round(parts * 0.5 * std::erfc(-room / sigma / std::sqrt(2.))) / parts;
}

std::string chance_text(double chance) {
  constexpr double nearly = 0.999;  // a model of errors says nothing of its far tails
  if (chance > nearly) return "> 99.9 %";
  if (chance < 1 - nearly) return "< 0.1 %";
  return fixed(100 * chance, chance > 0.99 || chance < 0.01 ? 1 : 0) + " %";
}

Trust trust_in(const Uncertainty& uncertainty) {
  Trust trust;
  trust.regime = std::string(to_text(uncertainty.regime));
  trust.time_sigma = uncertainty.time_sigma;
  trust.memory_sigma = uncertainty.memory_sigma;
  for (const Beyond& beyond : uncertainty.beyond) {
    trust.beyond.push_back(beyond.what);
    trust.is_far = trust.is_far || beyond.doublings == 0 || beyond.doublings >= 1;
  }
  return trust;
}

}  // namespace plumbline
