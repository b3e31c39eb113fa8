#include "runtime/run/capability_check.h"

#include <algorithm>

#include "runtime/execution/kernel_call.h"
#include "runtime/execution/rotary_frequencies.h"

namespace plumbline {
namespace {

void refuse(bool holds, const std::string& what, const std::string& expected) {
  if (!holds) throw InputError({"--plan", what, expected, ""});
}

bool has_tied_parameter(const Graph& graph) {
  for (const Block& block : graph.blocks())
    for (const Tensor& tensor : block.tensors())
      if (tensor.role == TensorRole::parameter && tensor.tied) return true;
  return false;
}

/// Every expert gets as many rows of each rank's tokens.
bool balances(const RouterAttributes& router, const Strategy& s, const Training& training) {
  const std::int64_t sequence = training.sequence_length / s.context_parallel;
  const std::int64_t ranks = s.sequence_parallel == SequenceParallel::on ? s.tensor_parallel : 1;
  return sequence * router.chosen % router.experts == 0 &&
         s.micro_batch * sequence / ranks * router.chosen % router.experts == 0;
}

void check_experts(const TrainingJob& job) {
  const Strategy& s = job.strategy;
  for (const Block& block : job.graph.blocks())
    for (const Op& op : block.ops()) {
      const auto* router = std::get_if<RouterAttributes>(&op.attributes);
      if (router == nullptr) continue;
      // As Megatron-LM: else every tensor-parallel rank would send the same tokens.
      refuse(s.tensor_parallel == 1 || s.sequence_parallel == SequenceParallel::on,
             "experts and tensor parallelism without sequence parallelism are not executed", "sequence parallelism");
      refuse(job.routing == ExpertRouting::learned || balances(*router, s, job.training),
             "a rank's tokens cannot be dealt out to " + std::to_string(router->experts) + " experts equally",
             "longer sequences or micro-batches, or learned routing");
    }
}

bool has_experts(const Graph& graph) {
  for (const Block& block : graph.blocks())
    for (const Op& op : block.ops())
      if (op.kind == OpKind::grouped_linear) return true;
  return false;
}

/// Copies that are no actions alongside others: of checkpoints that are replayed, or around the optimizer step.
bool copies_in_order(const Program& program) {
  for (const RankProgram& rank : program.ranks)
    for (const Action& action : rank.actions)
      if (action.kind == ActionKind::offload || action.kind == ActionKind::fetch)
        if (action.issue == Issue::in_order || action.pass == Pass::step) return true;
  return false;
}

void check_strategy(const TrainingJob& job) {
  refuse(!copies_in_order(job.program), "checkpoints and optimizer states in host memory are not executed",
         "offload:N, or all on the device");
  const Strategy& s = job.strategy;
  const bool ends_meet = placement(s.schedule) == StagePlacement::v_shaped;
  refuse(!(has_tied_parameter(job.graph) && s.zero_stage >= 2 && ends_meet),
         "a tied embedding with ZeRO-" + std::to_string(s.zero_stage) +
             " and its head on one rank of a V-shaped schedule is not executed",
         "ZeRO-0 or ZeRO-1, one pipeline stage, or a pipeline whose ends are two ranks");
  const OptimizerFacts& optimizer = facts(job.training.optimizer);
  refuse(optimizer.executed == IsExecuted::yes, std::string(optimizer.name) + " has no update that is executed",
         "another optimizer");
  refuse(job.training.precision != PrecisionRecipe::nvfp4, "products in nvfp4 are not executed",
         "fp32, tf32, bf16, fp16 or fp8");
  refuse(job.training.precision != PrecisionRecipe::fp8 || !has_experts(job.graph), "experts in fp8 are not executed",
         "fp32, tf32, bf16 or fp16");
  refuse(s.devices() <= 1024, "it has " + std::to_string(s.devices()) + " ranks", "at most 1024");
}

/// Refuses in the name of one operator.
class OperatorCheck {
 public:
  OperatorCheck(const TrainingJob& job, const Block& block, const Op& op) : job_(job), block_(block), op_(op) {}

  void check_all() const {
    require(is_executed(op_.kind), "a " + std::string(to_text(op_.kind)), "decoder language models");
    switch (op_.kind) {
      case OpKind::attention: return check_attention(std::get<AttentionAttributes>(op_.attributes));
      case OpKind::gated_activation:
        return require(width(op_.inputs[0]) == width(op_.inputs[1]), "a gate of one feature for all",
                       "gates as wide as what they scale");
      case OpKind::grouped_linear:
        return require(op_.parameters.size() == op_.outputs.size(), "a bias of experts", "experts without biases");
      case OpKind::position_embedding: return check_positions();
      case OpKind::rotary: return check_rotary();
      case OpKind::router: {
        const std::int64_t experts = std::get<RouterAttributes>(op_.attributes).experts;
        return require(experts <= reference::most_experts, "a choice among " + std::to_string(experts) + " experts",
                       "at most " + std::to_string(reference::most_experts));
      }
      default: return;
    }
  }

 private:
  void require(bool holds, const std::string& what, const std::string& expected) const {
    if (!holds)
      throw InputError({job_.graph.name(),
                        what + " (operator " + op_.name + " of block " + block_.name() + ") is not executed", expected,
                        ""});
  }
  [[nodiscard]] std::int64_t width(TensorId id) const { return block_.tensor(id).shape.back().factor; }

  void check_attention(const AttentionAttributes& a) const {
    require(op_.parameters.empty(), "attention with parameters of its own", "attention without sinks and biases");
    require(a.causal, "attention to later tokens", "causal attention");
  }
  void check_positions() const {
    const Tensor& table = block_.tensor(op_.parameters.front());
    const std::int64_t rows = table.shape.front().factor - job_.constants.first_position;
    require(rows >= job_.training.sequence_length,
            std::to_string(job_.training.sequence_length) + " tokens in a row with " + std::to_string(rows) +
                " learned positions",
            "sequences of at most " + std::to_string(rows) + " tokens");
  }
  void check_rotary() const {
    const Tensor& tensor = block_.tensor(op_.inputs.front());
    const std::int64_t head = width(op_.inputs.front()) / std::max<std::int64_t>(1, tensor.partition_units);
    const std::int64_t turned = rotary_features(job_.constants.rotary, head);
    require(turned >= 2 && turned % 2 == 0,
            "a rotation of " + std::to_string(turned) + " of a head's " + std::to_string(head) + " features",
            "pairs of features");
  }

  const TrainingJob& job_;
  const Block& block_;
  const Op& op_;
};

void check_network(const TrainingJob& job) {
  if (!job.constants.not_executed.empty()) throw InputError(job.constants.not_executed.front());
  for (const Block& block : job.graph.blocks()) {
    if (block.inputs().size() > 1)
      throw InputError({job.graph.name(),
                        "block " + block.name() + " takes " + std::to_string(block.inputs().size()) +
                            " tensors from the one before, which is not executed",
                        "one", ""});
    for (const Op& op : block.ops()) OperatorCheck(job, block, op).check_all();
  }
}

}  // namespace

void check_capability(const TrainingJob& job, const RunOptions& options) {
  check_network(job);
  check_strategy(job);
  check_experts(job);
  refuse(options.data.vocabulary >= 1 && !options.data.tokens.empty(), "there is no data", "tokens");
  check_learning_rate(job.learning_rate, "learning rate");
}

}  // namespace plumbline
