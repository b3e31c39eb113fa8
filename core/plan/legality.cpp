#include "core/plan/legality.h"

#include <algorithm>
#include <span>

#include "core/plan/pipeline_schedule.h"
#include "core/plan/stage_split.h"

namespace plumbline {
namespace {

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

std::string number(std::int64_t value) { return std::to_string(value); }

/// Divisibility::widths of a network that tensor parallelism divides nothing of.
const std::vector<std::int64_t> undivided{1};

std::string not_divisible(std::string_view what, std::int64_t amount, std::string_view degree, std::int64_t ranks) {
  return number(amount) + " " + std::string(what) + " do not divide over " + std::string(degree) + " " + number(ranks);
}

using Broken = std::optional<std::string>;

struct Asked {
  const Strategy& s;
  const Training& t;
  const Divisibility& facts;
  const LegalityLimits& limits;
};

Broken degrees(const Asked& a) {
  for (const std::int64_t degree :
       {std::int64_t{a.s.pipeline_stages}, std::int64_t{a.s.tensor_parallel}, std::int64_t{a.s.context_parallel},
        std::int64_t{a.s.data_parallel}, std::int64_t{a.s.expert_parallel}, std::int64_t{a.s.expert_tensor_parallel},
        std::int64_t{a.s.virtual_stages}})
    if (degree < 1) return "a degree of " + number(degree);
  return std::nullopt;
}

Broken devices(const Asked& a) {
  if (auto what = degrees(a)) return what;
  if (a.s.devices() == a.limits.devices) return std::nullopt;
  return "tp " + number(a.s.tensor_parallel) + " x cp " + number(a.s.context_parallel) + " x pp " +
         number(a.s.pipeline_stages) + " x dp " + number(a.s.data_parallel) + " = " + number(a.s.devices()) + ", not " +
         number(a.limits.devices) + " GPUs";
}

Broken tensor_parallel_in_domain(const Asked& a) {
  if (a.limits.tensor_parallel_across_domains || a.limits.nvlink_domain % a.s.tensor_parallel == 0) return std::nullopt;
  return "tp " + number(a.s.tensor_parallel) + " does not divide the " + number(a.limits.nvlink_domain) +
         " GPUs that share the fast interconnect";
}

Broken heads_and_widths(const Asked& a) {
  if (a.facts.widths == undivided && a.s.tensor_parallel > 1)
    return "tp " + number(a.s.tensor_parallel) + " for a network none of whose weights is divided";
  for (const std::int64_t heads : a.facts.heads)
    if (heads % a.s.tensor_parallel != 0) return not_divisible("attention heads", heads, "tp", a.s.tensor_parallel);
  for (const std::int64_t heads : a.facts.state_heads)
    if (heads % a.s.tensor_parallel != 0)
      return not_divisible("heads of a recurrent layer", heads, "tp", a.s.tensor_parallel);
  for (const std::int64_t width : a.facts.widths)
    if (width % a.s.tensor_parallel != 0)
      return not_divisible("features of an inner layer", width, "tp", a.s.tensor_parallel);
  return std::nullopt;
}

Broken kv_heads(const Asked& a) {
  for (const std::int64_t groups : a.facts.kv_heads)
    if (groups % a.s.tensor_parallel != 0 && a.s.tensor_parallel % groups != 0)
      return not_divisible("kv heads", groups, "tp", a.s.tensor_parallel);
  return std::nullopt;
}

Broken sequence(const Asked& a) {
  const std::int64_t cp = a.s.context_parallel;
  if (cp > 1 && !a.facts.sequence_symbol) return "cp " + number(cp) + " for a network without sequences";
  if (cp > 1 && a.t.sequence_length % (2 * cp) != 0)
    return not_divisible("tokens", a.t.sequence_length, "2 x cp", 2 * cp);
  if (a.s.sequence_parallel == SequenceParallel::on && a.t.sequence_length % (a.s.tensor_parallel * cp) != 0)
    return not_divisible("tokens", a.t.sequence_length, "tp x cp", a.s.tensor_parallel * cp);
  return std::nullopt;
}

Broken recurrence(const Asked& a) {
  if (a.s.context_parallel == 1 || a.facts.state_heads.empty()) return std::nullopt;
  return "cp " + number(a.s.context_parallel) + " for layers whose state passes from token to token";
}

Broken batch(const Asked& a) {
  if (a.s.micro_batch >= 1 && a.s.micro_batches >= 1 && a.s.batch() == a.t.global_batch) return std::nullopt;
  return "dp " + number(a.s.data_parallel) + " x micro-batch " + number(a.s.micro_batch) + " x " +
         number(a.s.micro_batches) + " micro-batches is not the global batch of " + number(a.t.global_batch);
}

Broken stages(const Asked& a) {
  const std::int64_t chunks = std::int64_t{a.s.pipeline_stages} * a.s.virtual_stages;
  if (chunks <= a.facts.layers + a.facts.fillers || (a.facts.layers == 0 && chunks == 1)) return std::nullopt;
  return "pp " + number(a.s.pipeline_stages) + " x " + number(a.s.virtual_stages) + " virtual stages for " +
         number(a.facts.layers) + " layers";
}

/// The schedules whose ranks have so many chunks; one stage has none.
Broken schedule_with(const Asked& a, RankChunks chunks) {
  if ((a.s.pipeline_stages == 1 ? RankChunks::one : record_of(a.s.schedule).chunks) != chunks) return std::nullopt;
  return schedule_fault(a.s.schedule, a.s.pipeline_stages, a.s.virtual_stages, a.s.micro_batches);
}
Broken interleaving(const Asked& a) { return schedule_with(a, RankChunks::several); }
Broken v_schedules(const Asked& a) { return schedule_with(a, RankChunks::two); }
Broken schedule(const Asked& a) { return schedule_with(a, RankChunks::one); }

Broken zero_stage_range(const Asked& a) {
  if (a.s.zero_stage < 0 || a.s.zero_stage > 3) return "ZeRO stage " + number(a.s.zero_stage);
  return std::nullopt;
}

Broken shard_group(const Asked& a) {
  const std::int64_t ranks = a.s.gradient_ranks();
  if (a.s.shard_group < 1 || ranks % a.s.shard_group != 0)
    return "a shard group of " + number(a.s.shard_group) + " among " + number(ranks) + " ranks";
  if (a.s.zero_stage > 0 && a.s.shard_group == 1)
    return "ZeRO-" + number(a.s.zero_stage) + " over a shard group of 1 rank";
  if (a.s.zero_stage == 0 && a.s.shard_group != 1)
    return "a shard group of " + number(a.s.shard_group) + " without ZeRO";
  return std::nullopt;
}

Broken prefetch(const Asked& a) {
  if (a.s.prefetch == ParameterPrefetch::off && a.s.zero_stage < 3)
    return "no prefetch of parameters under ZeRO-" + number(a.s.zero_stage);
  return std::nullopt;
}

/// Layers of the chunk that holds most. Of a split that is still to be found, the network's.
std::int64_t most_layers_of_chunk(const Asked& a) {
  if (!a.s.layers_per_stage.empty()) return *std::max_element(a.s.layers_per_stage.begin(), a.s.layers_per_stage.end());
  if (a.s.split == StageSplit::balanced || a.s.chunks() < 1) return a.facts.layers;
  const std::vector<std::int64_t> layers =
      layers_per_chunk(a.facts.layers, a.s.chunks(), a.facts.starts_with_input, a.facts.ends_with_output);
  return *std::max_element(layers.begin(), layers.end());
}

Broken units(const Asked& a) {
  const std::int64_t layers = a.s.layers_per_unit;
  if (layers == 1) return std::nullopt;
  if (layers < 1) return "units of " + number(layers) + " layers";
  if (a.s.zero_stage < 3) return "units of " + number(layers) + " layers under ZeRO-" + number(a.s.zero_stage);
  if (const std::int64_t most = most_layers_of_chunk(a); layers > most)
    return "units of " + number(layers) + " layers where a pipeline chunk holds " + number(most);
  return std::nullopt;
}

Broken secondary_shards(const Asked& a) {
  const std::int64_t ranks = a.s.secondary_shard_group;
  if (ranks == 1) return std::nullopt;
  const std::string group = "a secondary shard group of " + number(ranks);
  if (a.s.zero_stage < 3) return group + " under ZeRO-" + number(a.s.zero_stage);
  if (!divides_shard_group(a.s)) return group + " in a shard group of " + number(a.s.shard_group);
  return std::nullopt;
}

Broken counted_layers(const Asked& a) {
  const Recompute& recompute = a.s.recompute;
  const bool is_counted = recompute.mode == RecomputeMode::every_nth || recompute.mode == RecomputeMode::offloaded;
  if (!is_counted || recompute.n <= a.facts.layers) return std::nullopt;
  return "recompute " + to_text(recompute) + " of " + number(a.facts.layers) + " layers";
}

/// What counts the layers of a chunk goes with chunks that are known beforehand.
Broken layers_in_chunk(const Asked& a) {
  const Recompute& recompute = a.s.recompute;
  if (recompute.mode != RecomputeMode::block && !joins_layers(recompute)) return std::nullopt;
  const std::string named = "recompute " + to_text(recompute);
  if (a.s.split == StageSplit::balanced && a.s.pipeline_stages > 1) return named + " and a split that finds its own";
  if (joins_layers(recompute) && a.s.layers_per_unit > 1)
    return named + " and units of " + number(a.s.layers_per_unit) + " layers";
  if (const std::int64_t most = most_layers_of_chunk(a); recompute.n > most)
    return named + " where a pipeline chunk holds " + number(most) + (most == 1 ? " layer" : " layers");
  return std::nullopt;
}

Broken experts(const Asked& a) {
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

Broken sequence_parallel(const Asked& a) {
  if (a.s.sequence_parallel == SequenceParallel::on && a.s.tensor_parallel == 1)
    return "sequence parallelism with tp 1";
  return std::nullopt;
}

/// What speaks against layers that were counted out by hand.
Broken layers_by_hand(const Asked& a) {
  const std::vector<std::int32_t>& layers = a.s.layers_per_stage;
  const std::string given = "layers " + layers_text(layers);
  if (a.s.split != StageSplit::even) return given + " and a split that finds its own";
  if (static_cast<std::int64_t>(layers.size()) != a.s.chunks())
    return given + ": " + number(static_cast<std::int64_t>(layers.size())) + " numbers for " + number(a.s.chunks()) +
           " chunks";
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool holds_more =
        (i == 0 && a.facts.starts_with_input) || (i + 1 == layers.size() && a.facts.ends_with_output);
    if (layers[i] < (holds_more ? 0 : 1))
      return given + ": chunk " + number(static_cast<std::int64_t>(i)) + " is empty";
    sum += layers[i];
  }
  if (sum != a.facts.layers) return given + " sum to " + number(sum) + ", not " + number(a.facts.layers);
  return std::nullopt;
}

Broken split(const Asked& a) {
  if (!a.s.layers_per_stage.empty()) return layers_by_hand(a);
  if (a.s.split == StageSplit::even || a.s.pipeline_stages == 1) return std::nullopt;
  if (a.s.schedule != Schedule::one_f_one_b || a.s.virtual_stages != 1)
    return "a balanced split with the schedule " + std::string(to_text(a.s.schedule)) + " and " +
           number(a.s.virtual_stages) + (a.s.virtual_stages == 1 ? " virtual stage" : " virtual stages");
  return std::nullopt;
}

/// 2^55: at up to 8 bytes each, counted up to 32 times, their bytes stay below 2^63.
constexpr auto most_elements = static_cast<double>(std::int64_t{1} << 55);

double of_length(const std::array<double, 3>& by_power, double length) {
  return by_power[0] + length * (by_power[1] + length * by_power[2]);
}

Broken countable(const Asked& a) {
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

Broken fused_attention(const Asked& a) {
  if (a.s.flash_attention == FlashAttention::off || a.facts.head_features <= a.limits.flash_head) return std::nullopt;
  if (a.limits.flash_head == 0) return "FlashAttention, which has no kernels for these devices";
  return "FlashAttention over heads of " + number(a.facts.head_features) +
         " features, where its kernels for these "
         "devices take at most " +
         number(a.limits.flash_head);
}

Broken head_exchange(const Asked& a) {
  if (a.s.context_communication == ContextCommunication::ring) return std::nullopt;
  if (a.s.context_parallel == 1) return "all-to-all context parallelism with cp 1";
  if (a.facts.has_fixed_attention)
    return "all-to-all context parallelism for attention over tokens that no sequence divides";
  const std::int64_t ranks = std::int64_t{a.s.tensor_parallel} * a.s.context_parallel;
  for (const std::int64_t heads : a.facts.heads)
    if (heads % ranks != 0) return not_divisible("attention heads", heads, "tp x cp", ranks);
  for (const std::int64_t groups : a.facts.kv_heads)
    if (groups % ranks != 0) return not_divisible("kv heads", groups, "tp x cp", ranks);
  return std::nullopt;
}

/// A rule and its check. An id never changes its meaning: users and files name it.
struct RuleRow {
  LegalityRule rule;
  Broken (*check)(const Asked& asked);
};

constexpr std::array rule_rows = std::to_array<RuleRow>(
    {{{"R01", "the degrees multiply up to the GPU count"}, devices},
     {{"R02", "tensor parallelism stays inside the fast interconnect (policy; lift with --tp-across-nodes)"},
      tensor_parallel_in_domain},
     {{"R03", "tensor parallelism divides attention heads and inner widths"}, heads_and_widths},
     {{"R04", "tensor parallelism divides the kv heads, or they divide it and are replicated"}, kv_heads},
     {{"R05", "context parallelism divides the sequence twice over, sequence parallelism once"}, sequence},
     {{"R06", "data parallelism and micro-batch divide the global batch"}, batch},
     {{"R07", "every pipeline chunk holds a layer, the embedding or the head"}, stages},
     {{"R09", "interleaving needs two virtual stages and micro-batches in multiples of the stages"}, interleaving},
     {{"R11", "V-shaped schedules need exactly two virtual stages, and dualpipev a micro-batch for each stage"},
      v_schedules},
     {{"R12", "a pipeline schedule goes with two stages or more, virtual stages with interleaving or a V schedule"},
      schedule},
     {{"R13", "ZeRO stages are 0 to 3"}, zero_stage_range},
     {{"R14", "the shard group divides the data-parallel ranks"}, shard_group},
     {{"R15", "expert parallelism divides the experts and the ranks of a stage"}, experts},
     {{"R18", "sequence parallelism goes with tensor parallelism"}, sequence_parallel},
     {{"R19",
       "layers by hand are a number for each pipeline chunk, their sum the network's; a balanced split goes with "
       "1f1b"},
      split},
     {{"R20",
       "what a data-parallel rank computes and sends in a step is at most 2^55 numbers: fewer or shorter "
       "sequences, or more ranks"},
      countable},
     {{"R21", "context parallelism goes with attention only: recurrent layers (Gated DeltaNet) need whole sequences"},
      recurrence},
     {{"R22", "parameters that are gathered without prefetch go with ZeRO-3"}, prefetch},
     {{"R23", "units of several layers go with ZeRO-3, and hold at most the layers of a pipeline chunk"}, units},
     {{"R24",
       "fused attention goes with devices and heads that it has kernels for (--flash-attention off keeps scores)"},
      fused_attention},
     {{"R25",
       "all-to-all context parallelism goes with cp above 1, and tp x cp divides the attention heads and the kv heads"},
      head_exchange},
     {{"R26", "in every:N and offload:N, N is at most the number of layers"}, counted_layers},
     {{"R27",
       "in uniform:N and block:N, N is at most the layers of a pipeline chunk, whose split is even or by hand; layers "
       "that are replayed together (uniform:N, sqrt) are units by themselves"},
      layers_in_chunk},
     {{"R28", "a secondary shard group goes with ZeRO-3, and divides the shard group into several"},
      secondary_shards}});
static_assert(std::adjacent_find(rule_rows.begin(), rule_rows.end(),
                                 [](const RuleRow& a, const RuleRow& b) { return a.rule.id >= b.rule.id; }) ==
                  rule_rows.end(),
              "ids are in order, each once");

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
  if (!divides_weights(graph)) facts.widths = undivided;
  facts.layers = graph.layer_count();
  facts.starts_with_input = graph.block(graph.runs().front().block).kind() == BlockKind::input;
  facts.ends_with_output = graph.block(graph.runs().back().block).kind() == BlockKind::output;
  return facts;
}

std::vector<LegalityRule> legality_rules() {
  std::vector<LegalityRule> rules;
  for (const RuleRow& row : rule_rows) rules.push_back(row.rule);
  return rules;
}

namespace {

constexpr std::size_t rules_of_degrees = 4;
static_assert(rule_rows[rules_of_degrees - 1].rule.id == "R04");

std::optional<Violation> first_violation_of(std::span<const RuleRow> rows, const Asked& asked) {
  for (const RuleRow& row : rows)
    if (Broken what = row.check(asked)) return Violation{row.rule, std::move(*what)};
  return std::nullopt;
}

}  // namespace

std::optional<Violation> first_violation(const Strategy& strategy, const Training& training, const Divisibility& facts,
                                         const LegalityLimits& limits) {
  return first_violation_of(rule_rows, {strategy, training, facts, limits});
}

std::optional<Violation> first_violation_of_degrees(const Strategy& strategy, const Training& training,
                                                    const Divisibility& facts, const LegalityLimits& limits) {
  return first_violation_of(std::span(rule_rows).first(rules_of_degrees), {strategy, training, facts, limits});
}

}  // namespace plumbline
