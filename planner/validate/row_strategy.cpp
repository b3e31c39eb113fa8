#include "planner/validate/row_strategy.h"

#include <algorithm>
#include <charconv>

#include "core/base/errors.h"
#include "core/training/adaptation_text.h"
#include "models/machine_catalog.h"

namespace plumbline {
namespace {

std::int64_t required(const RowFields& fields, const char* key) {
  const auto number = fields.number(key);
  if (!number) throw InputError({key, "is not published", "", ""});
  return *number;
}

std::int32_t degree(const RowFields& fields, const char* key) {
  return static_cast<std::int32_t>(fields.number(key).value_or(1));
}

/// A field whose text an enum understands.
template <class Read>
auto choice(const RowFields& fields, const char* key, Read read) {
  const std::string text = fields.word(key);
  const auto value = read(text);
  if (!value) throw InputError({key, text.empty() ? "is not published" : "\"" + text + "\" is not modelled", "", ""});
  return *value;
}

/// The text that the aliases made of a published one, else the published one itself.
RowFields understood(const RowFields& fields, const char* key) {
  RowFields result;
  const std::string alias = fields.word(std::string(key) + "_as");
  result.words[key] = alias.empty() ? fields.word(key) : alias;
  return result;
}

bool is_on(const RowFields& fields, const char* key) { return fields.word(key) == "true" || fields.word(key) == "on"; }

/// As published, or what the framework makes of it in such a layout.
std::int32_t zero_stage(const RowFields& fields) {
  const std::string alias = fields.word("zero_stage_as");
  if (alias.size() == 1 && alias.front() >= '0' && alias.front() <= '3') return alias.front() - '0';
  return static_cast<std::int32_t>(required(fields, "zero_stage"));
}

std::int32_t virtual_stages(const RowFields& fields, const Graph& graph) {
  if (degree(fields, "pp") == 1) return 1;
  if (fields.word("vpp") == "layers_per_stage")
    return static_cast<std::int32_t>(std::max<std::int64_t>(1, graph.layer_count() / degree(fields, "pp")));
  return degree(fields, "vpp");
}

/// Megatron-Core's layout strings, "Et*3|(tt|)*6mL": E embedding, t layer, m layer of multi-token prediction, L loss, |
/// the next chunk, *N a repetition of what stands before it.
class LayoutReader {
 public:
  explicit LayoutReader(std::string_view text) : text_(text) {}
  [[nodiscard]] std::vector<std::int32_t> layers() {
    std::vector<std::int32_t> counts{0};
    for (const char c : expanded()) {
      if (c == '|') counts.push_back(0);
      if (c == 't' || c == 'm') ++counts.back();
    }
    if (at_ != text_.size()) refuse();
    return counts;
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError({"layers_per_stage", "\"" + std::string(text_) + "\" is no split of layers",
                      "numbers (4,4,3) or a layout (Et*4|(t*4|)*2tmL)", ""});
  }
  std::string expanded() {
    std::string all;
    while (at_ < text_.size() && text_[at_] != ')') {
      std::string part(1, text_[at_++]);
      if (part == "(") {
        part = expanded();
        if (at_ == text_.size()) refuse();
        ++at_;  // the closing one
      } else if (std::string_view("EtmL|").find(part) == std::string_view::npos) {
        refuse();
      }
      const std::int64_t times = repetitions();
      for (std::int64_t i = 0; i < times; ++i) all += part;
      if (all.size() > longest) refuse();
    }
    return all;
  }
  std::int64_t repetitions() {
    if (at_ == text_.size() || text_[at_] != '*') return 1;
    std::int64_t times = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_ + 1, text_.data() + text_.size(), times);
    if (error != std::errc() || times < 1 || times > static_cast<std::int64_t>(longest)) refuse();
    at_ = static_cast<std::size_t>(end - text_.data());
    return times;
  }

  static constexpr std::size_t longest = 100'000;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<std::int32_t> layers_per_stage(const std::string& text) {
  if (text.empty()) return {};
  if (text.find_first_not_of("0123456789,") != std::string::npos) return LayoutReader(text).layers();
  std::vector<std::int32_t> counts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int32_t count = 0;
    const auto [last, error] = std::from_chars(text.data() + at, text.data() + end, count);
    if (error != std::errc() || last != text.data() + end)
      throw InputError({"layers_per_stage", "\"" + text + "\" is no list of numbers", "4,4,3", ""});
    counts.push_back(count);
    at = end + 1;
  }
  return counts;
}

}  // namespace

RowFields with_algebra(RowFields fields) {
  const auto number = [&](const char* key) { return fields.number(key); };
  const std::int64_t model_ranks = std::int64_t{degree(fields, "tp")} * degree(fields, "pp") * degree(fields, "cp");
  if (!number("gpus") && number("dp")) fields.numbers["gpus"] = model_ranks * *number("dp");
  if (!number("gpus") && number("nodes") && number("gpus_per_node"))
    fields.numbers["gpus"] = *number("nodes") * *number("gpus_per_node");
  if (!number("gpus") || *number("gpus") % model_ranks != 0) return fields;
  const std::int64_t data = *number("gpus") / model_ranks;
  const auto batch = number("global_batch");
  const auto micro = number("micro_batch");
  const auto accumulated = number("grad_accum");
  if (!batch && micro && accumulated) fields.numbers["global_batch"] = *micro * *accumulated * data;
  if (batch && !micro && accumulated && *batch % (data * *accumulated) == 0)
    fields.numbers["micro_batch"] = *batch / (data * *accumulated);
  return fields;
}

Cluster cluster_of(const RowFields& fields) {
  const std::string machine = fields.word("machine");
  if (machine.empty())
    throw InputError({"hardware", "\"" + fields.word("hardware") + "\" is no machine of the catalogue", "", ""});
  Cluster cluster = find_machine(machine);
  const std::int64_t devices = required(fields, "gpus");
  const std::int64_t per_node = fields.number("gpus_per_node").value_or(0);
  Node& node = cluster.groups.front().node;
  // Nodes that use a part of their devices, or servers with fewer of them.
  if (per_node > 0 && per_node < node.devices && devices > per_node) node.devices = static_cast<std::int32_t>(per_node);
  return with_device_count(cluster, devices);
}

Training training_of(const RowFields& fields) {
  Training training;
  training.sequence_length = required(fields, "seq_len");
  training.global_batch = required(fields, "global_batch");
  training.precision = choice(understood(fields, "precision"), "precision", precision_recipe_from_text);
  training.optimizer = choice(understood(fields, "optimizer"), "optimizer", optimizer_from_text);
  if (const std::string format = fields.word("gradient_format"); !format.empty())
    training.gradient_format = choice(fields, "gradient_format", number_format_from_text);
  if (const std::string format = fields.word("optimizer_format"); !format.empty())
    training.optimizer_format = choice(fields, "optimizer_format", number_format_from_text);
  training.adaptation.lora_rank = fields.number("lora_rank").value_or(0);
  if (!fields.word("lora_targets").empty())
    training.adaptation.lora_targets = choice(fields, "lora_targets", lora_targets_from_text);
  return training;
}

PartialStrategy strategy_of(const RowFields& fields, const Graph& graph) {
  PartialStrategy partial;
  Strategy& s = partial.strategy;
  s.tensor_parallel = degree(fields, "tp");
  s.pipeline_stages = degree(fields, "pp");
  s.context_parallel = degree(fields, "cp");
  if (!divisibility(graph).experts.empty()) {  // sources print an expert degree for dense networks too
    s.expert_parallel = degree(fields, "ep");
    s.expert_tensor_parallel = degree(fields, "etp");
  }
  s.virtual_stages = virtual_stages(fields, graph);
  s.micro_batch = required(fields, "micro_batch");
  s.zero_stage = zero_stage(fields);
  s.sequence_parallel =
      is_on(fields, "sequence_parallel") && s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
  s.flash_attention =
      is_on(understood(fields, "flash_attention"), "flash_attention") ? FlashAttention::on : FlashAttention::off;
  const RowFields recompute = understood(fields, "recompute");
  if (recompute.word("recompute") != "least that fits")
    s.recompute = choice(recompute, "recompute", recompute_from_text);
  const RowFields schedule = understood(fields, "schedule");
  if (!schedule.word("schedule").empty() && s.pipeline_stages > 1) {
    s.schedule = choice(schedule, "schedule", schedule_from_text);
    if (s.schedule == Schedule::one_f_one_b && s.virtual_stages > 1) s.schedule = Schedule::interleaved;
    if (s.schedule == Schedule::interleaved && s.virtual_stages == 1) s.schedule = Schedule::one_f_one_b;
    partial.schedule_given = true;
  }
  if (s.pipeline_stages > 1) s.layers_per_stage = layers_per_stage(fields.word("layers_per_stage"));
  const std::int64_t group = fields.number("fsdp_group").value_or(fields.number("zero1_group").value_or(0));
  if (s.zero_stage > 0 && group > 1) {
    s.shard_group = static_cast<std::int32_t>(group);
    partial.shard_group_given = true;
  }
  return partial;
}

}  // namespace plumbline
