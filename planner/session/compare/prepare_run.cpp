#include "planner/session/compare/prepare_run.h"

#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/quantity/text.h"
#include "models/this_computer.h"
#include "planner/question/fingerprint.h"
#include "planner/session/compare/compare.h"
#include "planner/session/plan_file.h"

namespace plumbline::session {
namespace {

void require_same_network(const PlanRequest& request, const Plan& now) {
  const std::string& expected = request.plan.model.fingerprint;
  if (expected.empty() || expected == now.model.fingerprint) return;
  throw InputError({request.name + ":/model/fingerprint",
                    "the network " + now.model.name + " is not the one that the plan was made for",
                    "fingerprint " + now.model.fingerprint + "; make the plan anew", ""});
}

/// All that the ranks hold at their peaks.
Bytes peak_of_all_ranks(const PreparedRun& run) {
  Bytes sum(0);
  for (const MemoryPeak& peak : run.simulated.simulation.memory) sum += peak.memory.device_total();
  return sum * (run.asked.strategy.devices() / run.asked.strategy.pipeline_stages);
}

}  // namespace

std::optional<PreparedRun> prepare_run(const PlanRequest& request, const Task& task) {
  PricedQuestion asked = estimate(request);
  require_same_network(request, asked.plan);
  if (task.is_stopped()) return std::nullopt;
  SimulatedPlan simulated = simulated_as_run(asked);
  if (task.is_stopped()) return std::nullopt;
  const Network& network = asked.question.network();
  const std::string constants = canonical_text(network.constants);
  std::string training_fingerprint = fingerprint(fingerprint(asked.plan) + constants);
  std::string network_fingerprint = fingerprint(asked.plan.model.fingerprint + constants);
  std::string config = config_of(asked);
  return PreparedRun{std::move(asked), std::move(simulated), std::move(training_fingerprint),
                     std::move(network_fingerprint), std::move(config)};
}

void require_room(const PreparedRun& run, const std::string& plan_name, std::int64_t ranks_here, Bytes memory) {
  const std::int64_t ranks = run.asked.strategy.devices();
  if (ranks_here > most_local_ranks)
    throw InputError({plan_name + ":/strategy", "the plan has " + std::to_string(ranks) + " ranks",
                      "at most " + std::to_string(most_local_ranks) + " on this computer", ""});
  const Bytes needed = peak_of_all_ranks(run) * ranks_here / ranks;
  if (needed > memory)
    throw InputError({plan_name, "the ranks here need " + to_text(needed) + " together",
                      "at most this computer's " + to_text(memory), ""});
}

void sign(RunRecord& record, const Plan& plan) {
  record.program_version = program_version();
  record.plan_fingerprint = fingerprint(plan);
  record.model = plan.model.name;
  record.model_fingerprint = plan.model.fingerprint;
  record.machine = plan.machine.name;
}

}  // namespace plumbline::session
