#pragma once
/// \file legality.h: which strategies can run at all, as named rules with the sentence that a user reads.
///
/// Source: Megatron-LM's argument checks, torchtitan's parallel dims, DeepSpeed's pipeline engine; each rule names its.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/plan/strategy.h"
#include "core/training/training.h"

namespace plumbline {

/// What the rules need to know of a network: the units that degrees must divide. Taken from its graph.
struct Divisibility {
  std::int64_t layers = 0;
  std::int64_t fillers = 0;         ///< input and output blocks, each of which may fill a chunk
  std::vector<std::int64_t> heads;  ///< distinct counts of attention heads
  std::vector<std::int64_t> kv_heads;
  std::vector<std::int64_t> widths;  ///< inner widths that tensor parallelism divides (ffn and the like)
  std::vector<std::int64_t> experts;
  std::vector<std::int64_t> expert_widths;
  bool starts_with_input = false;  ///< whether the first chunk holds an input block alongside its layers
  bool ends_with_output = false;   ///< whether the last chunk holds an output block
  bool sequence_symbol = true;     ///< whether anything grows with the sequence length (images do not)
  // How large everything is, as doubles: the rule on them keeps integers of sizes inside 64 bits.
  double parameters = 0;
  std::array<double, 3> elements{};  ///< of all tensors of one sequence that grow as length^0, ^1, ^2
  std::array<double, 3> scores{};    ///< the same of the scores that attention makes where it is not fused
};
[[nodiscard]] Divisibility divisibility(const Graph& graph);

/// The hardware and policy part of the question.
struct LegalityLimits {
  std::int64_t devices = 1;
  std::int64_t nvlink_domain = 1;               ///< devices that the fast interconnect joins
  bool tensor_parallel_across_domains = false;  ///< lifts R02
};

enum class Rule : std::uint8_t {
  R01_devices,
  R02_tensor_parallel_in_domain,
  R03_heads_and_widths,
  R04_kv_heads,
  R05_sequence,
  R06_batch,
  R07_stages,
  R09_interleaving,
  R11_v_schedules,
  R12_schedule,
  R13_zero_stage,
  R14_shard_group,
  R15_experts,
  R18_sequence_parallel,
  R19_split,
  R20_countable,
};
inline constexpr std::array all_rules{Rule::R01_devices,
                                      Rule::R02_tensor_parallel_in_domain,
                                      Rule::R03_heads_and_widths,
                                      Rule::R04_kv_heads,
                                      Rule::R05_sequence,
                                      Rule::R06_batch,
                                      Rule::R07_stages,
                                      Rule::R09_interleaving,
                                      Rule::R11_v_schedules,
                                      Rule::R12_schedule,
                                      Rule::R13_zero_stage,
                                      Rule::R14_shard_group,
                                      Rule::R15_experts,
                                      Rule::R18_sequence_parallel,
                                      Rule::R19_split,
                                      Rule::R20_countable};
/// "R01", ... and the sentence that says what the rule asks.
[[nodiscard]] std::string_view rule_id(Rule rule);
[[nodiscard]] std::string_view rule_sentence(Rule rule);

struct Violation {
  Rule rule;
  std::string what;  ///< with this strategy's numbers
};

/// The first rule that a strategy breaks, in the order of `all_rules`. Pure; no strategy is too absurd to ask about.
[[nodiscard]] std::optional<Violation> first_violation(const Strategy& strategy, const Training& training,
                                                       const Divisibility& facts, const LegalityLimits& limits);

}  // namespace plumbline
