#include "runtime/run/capability_check.h"

#include "core/plan/execution_rules.h"
#include "kernels/router.h"
#include "runtime/run/message_order.h"

namespace plumbline {
namespace {

static_assert(most_executed_experts == reference::most_experts,
              "what is said to be executed is what kernels have room for");

void refuse(bool holds, const std::string& what, const std::string& expected) {
  if (!holds) throw InputError({"--plan", what, expected, ""});
}

/// Every expert gets as many rows of each rank's tokens.
bool balances(const RouterAttributes& router, const Strategy& s, const Training& training) {
  const std::int64_t sequence = training.sequence_length / s.context_parallel;
  const std::int64_t ranks = s.sequence_parallel == SequenceParallel::on ? s.tensor_parallel : 1;
  return sequence * router.chosen % router.experts == 0 &&
         s.micro_batch * sequence / ranks * router.chosen % router.experts == 0;
}

void check_routing(const TrainingJob& job) {
  if (job.routing == ExpertRouting::learned) return;
  for (const Block& block : job.graph.blocks())
    for (const Op& op : block.ops())
      if (const auto* router = std::get_if<RouterAttributes>(&op.attributes))
        refuse(balances(*router, job.strategy, job.training),
               "a rank's tokens cannot be dealt out to " + std::to_string(router->experts) + " experts equally",
               "longer sequences or micro-batches, or learned routing");
}

/// Copies that are no actions alongside others: of checkpoints that are replayed.
bool copies_in_order(const Program& program) {
  for (const RankProgram& rank : program.ranks)
    for (const Action& action : rank.actions)
      if (const auto* copy = std::get_if<HostCopy>(&action.what))
        if (action.issue == Issue::in_order || copy->is_of_states()) return true;
  return false;
}

/// What one rank records, another one's host and device cannot be part of.
void check_launch(const TrainingJob& job, const RunOptions& options) {
  const std::int64_t ranks = job.strategy.devices();
  if (options.device.launch == StepLaunch::calls || ranks == 1) return;
  const std::string why =
      options.ranks.transport == Transport::nccl
          ? "NCCL's calls are not recorded"
          : "ranks that share a GPU hand each other events while a step is given, and those cross from graph to graph";
  throw InputError({"--graph", "the plan has " + std::to_string(ranks) + " ranks, and " + why,
                    "a plan of one rank, or no --graph", ""});
}

}  // namespace

void check_capability(const TrainingJob& job, const RunOptions& options) {
  // By the program, which is what would run, and not by what the stack says of its checkpoints.
  refuse(!copies_in_order(job.program), "checkpoints and optimizer states in host memory are not executed",
         "offload:N, or all on the device");
  if (auto problem = first_not_executed(job.strategy, network_facts(job.graph, job.constants, job.training)))
    throw InputError(std::move(*problem));
  const CheckpointOptions& asked = options.checkpoints;
  refuse(!facts(job.training.optimizer).quantizes_states || (asked.folder.empty() && asked.resume.empty()),
         "checkpoints have no states of one byte, which " + std::string(to_text(job.training.optimizer)) + " keeps",
         "no --checkpoint and no --resume, or --optimizer adamw");
  check_routing(job);
  refuse(options.data.vocabulary >= 1 && !options.data.tokens.empty(), "there is no data", "tokens");
  check_learning_rate(job.learning_rate, "learning rate");
  check_launch(job, options);
  if (options.ranks.transport != Transport::nccl) return;
  if (const auto message = first_reordered_message(job.program))
    throw InputError({"--ranks", "nccl knows messages by their order, and in this schedule " + *message,
                      "--ranks local, or another schedule", ""});
}

}  // namespace plumbline
