#include "core/plan/legality.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/errors.h"
#include "core/plan/asked_strategy.h"
#include "core/plan/strategy_axes.h"

namespace plumbline {
namespace {

using axes::Broken;
using axes::not_divisible;
using axes::number;

void add_distinct(std::vector<std::int64_t>& values, std::int64_t value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void collect(Divisibility& facts, const Op& op) {
  if (const auto* attention = std::get_if<AttentionAttributes>(&op.attributes)) {
    add_distinct(facts.heads, attention->heads);
    add_distinct(facts.kv_heads, attention->kv_heads);
    facts.head_features = std::max({facts.head_features, attention->qk_head_dim, attention->v_head_dim});
  } else if (const auto* rule = std::get_if<DeltaRuleAttributes>(&op.attributes)) {
    add_distinct(facts.state_heads, rule->key_heads);
    add_distinct(facts.state_heads, rule->value_heads);
  } else if (const auto* linear = std::get_if<LinearAttributes>(&op.attributes)) {
    if (linear->partition == WeightPartition::row) add_distinct(facts.widths, linear->in_features);
  } else if (const auto* grouped = std::get_if<GroupedLinearAttributes>(&op.attributes)) {
    add_distinct(facts.experts, grouped->experts);
    if (grouped->partition == WeightPartition::row) add_distinct(facts.expert_widths, grouped->in_features);
  }
}

std::size_t growth(const Dimension& dimension) { return dimension.symbol == Symbol::sequence ? 1 : 0; }

/// Elements of a tensor for one sequence of one token, and the power of the length that they grow with.
void add_elements(Divisibility& facts, const Tensor& tensor, double count) {
  std::size_t power = 0;
  for (const Dimension& dimension : tensor.shape) {
    count *= static_cast<double>(dimension.factor);
    power += growth(dimension);
  }
  if (tensor.role == TensorRole::parameter)
    facts.parameters += count;
  else
    facts.elements[std::min<std::size_t>(power, 2)] += count;
}

void add_scores(Divisibility& facts, const Block& block, const Op& op, double count) {
  const auto* attention = std::get_if<AttentionAttributes>(&op.attributes);
  if (attention == nullptr) return;
  const Dimension queries = block.tensor(op.inputs[0]).shape[1];
  const Dimension keys = block.tensor(op.inputs[1]).shape[1];
  facts.has_fixed_attention = facts.has_fixed_attention || growth(queries) == 0 || growth(keys) == 0;
  facts.scores[growth(queries) + growth(keys)] += count * static_cast<double>(attention->heads) *
                                                  static_cast<double>(queries.factor) *
                                                  static_cast<double>(keys.factor);
}

/// Whether tensor parallelism divides anything: graphs of foreign files and convolutions hold every weight whole.
bool divides_weights(const Graph& graph) {
  const auto is_divided = [](const Op& op) {
    const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
    return std::holds_alternative<GroupedLinearAttributes>(op.attributes) ||
           (linear != nullptr && linear->partition != WeightPartition::replicated);
  };
  return std::any_of(graph.blocks().begin(), graph.blocks().end(), [&](const Block& block) {
    return std::any_of(block.ops().begin(), block.ops().end(), is_divided);
  });
}

Broken degrees(const AskedStrategy& a) {
  for (const std::int64_t degree :
       {std::int64_t{a.s.pipeline_stages}, std::int64_t{a.s.tensor_parallel}, std::int64_t{a.s.context_parallel},
        std::int64_t{a.s.data_parallel}, std::int64_t{a.s.expert_parallel}, std::int64_t{a.s.expert_tensor_parallel},
        std::int64_t{a.s.virtual_stages}})
    if (degree < 1) return "a degree of " + number(degree);
  return std::nullopt;
}

Broken devices(const AskedStrategy& a) {
  if (auto what = degrees(a)) return what;
  if (a.s.devices() == a.limits.devices) return std::nullopt;
  return "tp " + number(a.s.tensor_parallel) + " x cp " + number(a.s.context_parallel) + " x pp " +
         number(a.s.pipeline_stages) + " x dp " + number(a.s.data_parallel) + " = " + number(a.s.devices()) + ", not " +
         number(a.limits.devices) + " GPUs";
}

Broken sequence(const AskedStrategy& a) {
  const std::int64_t cp = a.s.context_parallel;
  if (cp > 1 && !a.facts.sequence_symbol) return "cp " + number(cp) + " for a network without sequences";
  if (cp > 1 && a.t.sequence_length % (2 * cp) != 0)
    return not_divisible("tokens", a.t.sequence_length, "2 x cp", 2 * cp);
  if (a.s.sequence_parallel == SequenceParallel::on && a.t.sequence_length % (a.s.tensor_parallel * cp) != 0)
    return not_divisible("tokens", a.t.sequence_length, "tp x cp", a.s.tensor_parallel * cp);
  return std::nullopt;
}

Broken batch(const AskedStrategy& a) {
  if (a.s.micro_batch >= 1 && a.s.micro_batches >= 1 && a.s.batch() == a.t.global_batch) return std::nullopt;
  return "dp " + number(a.s.data_parallel) + " x micro-batch " + number(a.s.micro_batch) + " x " +
         number(a.s.micro_batches) + " micro-batches is not the global batch of " + number(a.t.global_batch);
}

Broken stages(const AskedStrategy& a) {
  const std::int64_t chunks = std::int64_t{a.s.pipeline_stages} * a.s.virtual_stages;
  if (chunks <= a.facts.layers + a.facts.fillers || (a.facts.layers == 0 && chunks == 1)) return std::nullopt;
  return "pp " + number(a.s.pipeline_stages) + " x " + number(a.s.virtual_stages) + " virtual stages for " +
         number(a.facts.layers) + " layers";
}

Broken experts(const AskedStrategy& a) {
  const std::int64_t ep = a.s.expert_parallel;
  const std::int64_t etp = a.s.expert_tensor_parallel;
  if (a.facts.experts.empty()) {
    if (ep == 1 && etp == 1) return std::nullopt;
    return "ep " + number(ep) + " for a network without experts";
  }
  for (const std::int64_t count : a.facts.experts)
    if (count % ep != 0) return not_divisible("experts", count, "ep", ep);
  for (const std::int64_t width : a.facts.expert_widths)
    if (width % etp != 0) return not_divisible("features of an expert", width, "etp", etp);
  const std::int64_t ranks = std::int64_t{a.s.gradient_ranks()} * a.s.tensor_parallel;
  if (ranks % (ep * etp) != 0)
    return "ep " + number(ep) + " x etp " + number(etp) + " among " + number(ranks) + " ranks of a stage";
  if (a.s.tensor_parallel % etp != 0)
    return "etp " + number(etp) + " does not divide tp " + number(a.s.tensor_parallel);
  if (ep > 1 && a.s.tensor_parallel > 1 && a.s.sequence_parallel == SequenceParallel::off)
    return "ep " + number(ep) + " and tp " + number(a.s.tensor_parallel) + " without sequence parallelism";
  return std::nullopt;
}

/// 2^55: at up to 8 bytes each, counted up to 32 times, their bytes stay below 2^63.
constexpr auto most_elements = static_cast<double>(std::int64_t{1} << 55);

double of_length(const std::array<double, 3>& by_power, double length) {
  return by_power[0] + length * (by_power[1] + length * by_power[2]);
}

Broken countable(const AskedStrategy& a) {
  const auto length = static_cast<double>(a.t.sequence_length);
  const double sequences = static_cast<double>(a.s.micro_batch) * static_cast<double>(a.s.micro_batches);
  const double scores = a.s.flash_attention == FlashAttention::off ? of_length(a.facts.scores, length) : 0;
  if (sequences * (of_length(a.facts.elements, length) + scores) > most_elements)
    return number(a.s.micro_batch) + " x " + number(a.s.micro_batches) + " sequences of " +
           number(a.t.sequence_length) + " tokens on each data-parallel rank are too much for this network";
  if (static_cast<double>(a.s.micro_batches) * a.facts.parameters > most_elements)
    return number(a.s.micro_batches) + " micro-batches are too many for this network's parameters";
  return std::nullopt;
}

/// Those that several axes decide; those of one stand in its row (axis_row.h).
constexpr std::array rules_of_several = std::to_array<StrategyRule>(
    {{{"R01", "the degrees multiply up to the GPU count"}, devices},
     {{"R05", "context parallelism divides the sequence twice over, sequence parallelism once"}, sequence},
     {{"R06", "data parallelism and micro-batch divide the global batch"}, batch},
     {{"R07", "every pipeline chunk holds a layer, the embedding or the head"}, stages},
     {{"R15", "expert parallelism divides the experts and the ranks of a stage"}, experts},
     {{"R20",
       "what a data-parallel rank computes and sends in a step is at most 2^55 numbers: fewer or shorter "
       "sequences, or more ranks"},
      countable}});

std::vector<StrategyRule> rules_by_id() {
  std::vector<StrategyRule> rules(rules_of_several.begin(), rules_of_several.end());
  for (const StrategyAxis& axis : strategy_axes()) rules.insert(rules.end(), axis.rules.begin(), axis.rules.end());
  const auto by_id = [](const StrategyRule& a, const StrategyRule& b) { return a.rule.id < b.rule.id; };
  std::sort(rules.begin(), rules.end(), by_id);
  const auto same = std::adjacent_find(rules.begin(), rules.end(),
                                       [&](const StrategyRule& a, const StrategyRule& b) { return !by_id(a, b); });
  check(same == rules.end(), "each id of a rule stands once");
  return rules;
}

const std::vector<StrategyRule>& all_rules() {
  static const std::vector<StrategyRule> rules = rules_by_id();
  return rules;
}

}  // namespace

Divisibility divisibility(const Graph& graph) {
  Divisibility facts;
  facts.sequence_symbol = false;
  for (const BlockRun& run : graph.runs()) {
    const Block& block = graph.block(run.block);
    if (block.kind() != BlockKind::layer) ++facts.fillers;
    const auto count = static_cast<double>(run.count);
    for (const Op& op : block.ops()) {
      collect(facts, op);
      add_scores(facts, block, op, count);
    }
    for (const Tensor& tensor : block.tensors()) {
      facts.sequence_symbol = facts.sequence_symbol || depends_on(tensor.shape, Symbol::sequence);
      add_elements(facts, tensor, count);
    }
  }
  if (!divides_weights(graph)) facts.widths = {1};
  facts.layers = graph.layer_count();
  facts.starts_with_input = graph.block(graph.runs().front().block).kind() == BlockKind::input;
  facts.ends_with_output = graph.block(graph.runs().back().block).kind() == BlockKind::output;
  return facts;
}

std::vector<LegalityRule> legality_rules() {
  std::vector<LegalityRule> rules;
  for (const StrategyRule& one : all_rules()) rules.push_back(one.rule);
  return rules;
}

namespace {

constexpr std::string_view last_rule_of_degrees = "R04";

std::span<const StrategyRule> rules_of_degrees() {
  static const auto end = std::find_if(all_rules().begin(), all_rules().end(),
                                       [](const StrategyRule& r) { return r.rule.id > last_rule_of_degrees; });
  return {all_rules().begin(), end};
}

std::optional<Violation> first_violation_of(std::span<const StrategyRule> rules, const AskedStrategy& asked) {
  for (const StrategyRule& one : rules)
    if (Broken what = one.check(asked)) return Violation{one.rule, std::move(*what)};
  return std::nullopt;
}

}  // namespace

std::optional<Violation> first_violation(const Strategy& strategy, const Training& training, const Divisibility& facts,
                                         const LegalityLimits& limits) {
  return first_violation_of(all_rules(), {strategy, training, facts, limits});
}

std::optional<Violation> first_violation_of_degrees(const Strategy& strategy, const Training& training,
                                                    const Divisibility& facts, const LegalityLimits& limits) {
  return first_violation_of(rules_of_degrees(), {strategy, training, facts, limits});
}

}  // namespace plumbline
