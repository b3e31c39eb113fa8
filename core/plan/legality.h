#pragma once
/// \file legality.h: which strategies can run at all, as named rules with the sentence that a user reads.
///
/// A rule of one axis stands in its row (axis_row.h), one of several in legality.cpp.
///
/// Source: Megatron-LM's argument checks, torchtitan's parallel dims, DeepSpeed's pipeline engine.
/// Checked against: tests/unit/core/plan/legality_test.cpp (each rule, broken).

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/plan/strategy.h"
#include "core/plan/strategy_rule.h"
#include "core/training/training.h"

namespace plumbline {

/// What the rules need to know of a network: the units that degrees must divide. Taken from its graph.
struct Divisibility {
  std::int64_t layers = 0;
  std::int64_t fillers = 0;         ///< input and output blocks, each of which may fill a chunk
  std::vector<std::int64_t> heads;  ///< distinct counts of attention heads
  std::vector<std::int64_t> kv_heads;
  std::int64_t head_features = 0;         ///< of the largest head of attention, its queries' or its values'
  std::vector<std::int64_t> state_heads;  ///< of layers that hand a state from token to token: of keys and of values
  std::vector<std::int64_t> widths;       ///< inner widths that tensor parallelism divides (ffn and the like); of a
                                          ///< network that it divides nothing of, one of 1
  std::vector<std::int64_t> experts;
  std::vector<std::int64_t> expert_widths;
  bool starts_with_input = false;    ///< whether the first chunk holds an input block alongside its layers
  bool ends_with_output = false;     ///< whether the last chunk holds an output block
  bool has_fixed_attention = false;  ///< whether attention reads a number of tokens that no sequence length changes
  bool sequence_symbol = true;       ///< whether anything grows with the sequence length (images do not)
  [[nodiscard]] bool is_undivided() const { return widths.size() == 1 && widths.front() == 1; }
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
  /// The largest head that the devices' fused attention computes (core/machine/abilities.h); 0: they have none.
  std::int64_t flash_head = std::numeric_limits<std::int64_t>::max();
};

struct Violation {
  LegalityRule rule;
  std::string what;  ///< with this strategy's numbers
};

/// In the order in which they are checked, which is that of their ids.
[[nodiscard]] std::vector<LegalityRule> legality_rules();

/// The first rule that a strategy breaks, in the order of `legality_rules`. Pure; no strategy is too absurd to ask
/// about.
[[nodiscard]] std::optional<Violation> first_violation(const Strategy& strategy, const Training& training,
                                                       const Divisibility& facts, const LegalityLimits& limits);

/// The same of the rules that the degrees of tensor, pipeline, context and data parallelism decide, where the others
/// are legal numbers: those that come first.
[[nodiscard]] std::optional<Violation> first_violation_of_degrees(const Strategy& strategy, const Training& training,
                                                                  const Divisibility& facts,
                                                                  const LegalityLimits& limits);

}  // namespace plumbline
