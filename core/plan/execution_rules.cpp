#include "core/plan/execution_rules.h"

#include <algorithm>

#include "core/plan/divided_dimensions.h"
#include "core/plan/executed_network.h"

namespace plumbline {
namespace {

bool has_parts(const DividedSize& dimension, std::int64_t ranks) {
  return dimension.size % ranks == 0 && (dimension.heads == 0 || dimension.heads % ranks == 0);
}
bool any_without_parts(const std::vector<DividedSize>& dimensions, std::int64_t ranks) {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [ranks](const DividedSize& dimension) { return !has_parts(dimension, ranks); });
}
InputProblem without_parts(const std::vector<DividedSize>& dimensions, std::int64_t ranks) {
  const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                  [ranks](const DividedSize& dimension) { return !has_parts(dimension, ranks); });
  check(found != dimensions.end(), "a broken rule has a dimension that the ranks do not divide");
  if (found->heads > 0 && found->heads % ranks != 0)
    return not_executed(found->parameter + " has " + std::to_string(found->heads) + " heads for " +
                            std::to_string(ranks) + " tensor-parallel ranks",
                        "ranks that divide the heads");
  return not_executed(found->parameter + " has " + std::to_string(found->size) + " rows or columns, which " +
                          std::to_string(ranks) + " ranks cannot share",
                      "a multiple of the ranks");
}

/// The ranks of a degree do not all get equal parts of each dimension that they divide.
template <auto Dimensions, auto Degree>
bool has_uneven_parts(const Strategy& s, const NetworkFacts& n) {
  return any_without_parts(n.*Dimensions, s.*Degree);
}
template <auto Dimensions, auto Degree>
InputProblem uneven_parts(const Strategy& s, const NetworkFacts& n) {
  return without_parts(n.*Dimensions, s.*Degree);
}
template <auto Dimensions, auto Degree>
ExecutionRule even_parts(std::string_view sentence) {
  return {sentence, has_uneven_parts<Dimensions, Degree>, uneven_parts<Dimensions, Degree>};
}

bool ties_ends_of_a_v(const Strategy& s, const NetworkFacts& n) {
  return n.ties_embedding && s.zero_stage >= 2 && placement(s.schedule) == StagePlacement::v_shaped;
}
InputProblem tied_ends_of_a_v(const Strategy& s, const NetworkFacts&) {
  return not_executed("a tied embedding with ZeRO-" + std::to_string(s.zero_stage) +
                          " and its head on one rank of a V-shaped schedule is not executed",
                      "ZeRO-0 or ZeRO-1, one pipeline stage, or a pipeline whose ends are two ranks");
}

// As Megatron-LM: else every tensor-parallel rank would send the same tokens.
bool repeats_tokens(const Strategy& s, const NetworkFacts& n) {
  return n.has_experts && s.tensor_parallel > 1 && s.sequence_parallel == SequenceParallel::off;
}
InputProblem repeated_tokens(const Strategy&, const NetworkFacts&) {
  return not_executed("experts and tensor parallelism without sequence parallelism are not executed",
                      "sequence parallelism");
}

bool copies_checkpoints(const Strategy& s, const NetworkFacts& n) {
  return n.keeps_checkpoints_on_host &&
         (s.recompute.mode == RecomputeMode::full || s.recompute.mode == RecomputeMode::every_nth ||
          s.recompute.mode == RecomputeMode::block || joins_layers(s.recompute));
}
InputProblem copied_checkpoints(const Strategy&, const NetworkFacts&) {
  return not_executed("checkpoints and optimizer states in host memory are not executed",
                      "offload:N, or all on the device");
}

bool has_more_ranks(const Strategy& s, const NetworkFacts&) { return s.devices() > most_executed_ranks; }
InputProblem more_ranks(const Strategy& s, const NetworkFacts&) {
  return not_executed("it has " + std::to_string(s.devices()) + " ranks", "at most 1024");
}
static_assert(most_executed_ranks == 1024, "as the sentences say");

}  // namespace

NetworkFacts network_facts(const Graph& graph, const OperatorConstants& constants, const Training& training) {
  NetworkFacts facts;
  facts.optimizer = training.optimizer;
  facts.precision = training.precision;
  facts.has_experts = has_experts(graph);
  for (const Block& block : graph.blocks())
    for (const Tensor& tensor : block.tensors())
      facts.ties_embedding = facts.ties_embedding || (tensor.role == TensorRole::parameter && tensor.tied);
  add_divided_dimensions(facts, graph);
  facts.not_executed = network_problem(graph, constants, training);
  return facts;
}

const std::vector<ExecutionRule>& execution_rules() {
  static const std::vector<ExecutionRule> rules{
      {"does not execute checkpoints of layers in host memory (a feature of a stack)", copies_checkpoints,
       copied_checkpoints},
      {"executes a tied embedding with ZeRO-2 or 3 where its head is on another rank, or in the same pass: not with a "
       "V-shaped schedule",
       ties_ends_of_a_v, tied_ends_of_a_v},
      {"executes at most 1024 ranks", has_more_ranks, more_ranks},
      {"executes experts under tensor parallelism with sequence parallelism alone", repeats_tokens, repeated_tokens},
      even_parts<&NetworkFacts::by_tensor, &Strategy::tensor_parallel>(
          "executes tensor parallelism that divides the vocabulary, the heads and every width that it shares out"),
      even_parts<&NetworkFacts::by_expert, &Strategy::expert_parallel>(
          "executes expert parallelism that divides the experts"),
      even_parts<&NetworkFacts::by_expert_tensor, &Strategy::expert_tensor_parallel>(
          "executes tensor parallelism inside experts that divides their width")};
  return rules;
}

std::optional<InputProblem> first_not_executed(const Strategy& strategy, const NetworkFacts& network) {
  if (network.not_executed) return network.not_executed;
  for (const ExecutionRule& rule : execution_rules())
    if (rule.is_broken(strategy, network)) return rule.problem(strategy, network);
  return std::nullopt;
}

}  // namespace plumbline
