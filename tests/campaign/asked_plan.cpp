#include "tests/campaign/asked_plan.h"

#include "core/io/output_file.h"
#include "core/training/adaptation_text.h"

namespace plumbline {
namespace {

constexpr const char* network_file = "model.json";
constexpr const char* machine_file = "machine.json";

/// Flags in the order of `plan estimate --help`.
class CommandLine {
 public:
  void add(std::string_view flag, std::string_view value) {
    text_.append(" ").append(flag).append(value.empty() ? "" : " ").append(value);
  }
  void add(std::string_view flag, std::int64_t value) { add(flag, std::to_string(value)); }
  void add_degree(std::string_view flag, std::int64_t value) {
    if (value != 1) add(flag, value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_ = "plan estimate";
};

void add_training(CommandLine& line, const Training& t) {
  line.add("--seq-len", t.sequence_length);
  line.add("--global-batch", t.global_batch);
  if (t.token_budget) line.add("--tokens", *t.token_budget);
  line.add("--precision", to_text(t.precision));
  if (t.gradient_format) line.add("--gradient-precision", to_text(*t.gradient_format));
  if (t.optimizer_format) line.add("--optimizer-precision", to_text(*t.optimizer_format));
  line.add("--optimizer", to_text(t.optimizer));
  if (const std::string frozen = freeze_text(t.adaptation); !frozen.empty()) line.add("--freeze", frozen);
  if (t.adaptation.lora_rank > 0) line.add("--lora-rank", t.adaptation.lora_rank);
}

void add_strategy(CommandLine& line, const Strategy& s) {
  line.add_degree("--tp", s.tensor_parallel);
  line.add_degree("--pp", s.pipeline_stages);
  line.add_degree("--cp", s.context_parallel);
  if (s.context_communication != ContextCommunication::ring) line.add("--cp-comm", to_text(s.context_communication));
  line.add_degree("--ep", s.expert_parallel);
  line.add_degree("--etp", s.expert_tensor_parallel);
  line.add_degree("--virtual-stages", s.virtual_stages);
  if (s.schedule != Schedule::none) line.add("--schedule", to_text(s.schedule));
  line.add("--micro-batch", s.micro_batch);  // a flag of the strategy at least: without one the best is priced
  if (s.zero_stage > 0) line.add("--zero", s.zero_stage);
  if (s.zero_stage > 0 && s.shard_group != s.gradient_ranks()) line.add("--shard-group", s.shard_group);
  if (s.prefetch == ParameterPrefetch::off) line.add("--prefetch", "off");
  line.add_degree("--layers-per-unit", s.layers_per_unit);
  line.add_degree("--secondary-shard-group", s.secondary_shard_group);
  if (s.recompute.mode != RecomputeMode::none) line.add("--recompute", to_text(s.recompute));
  if (s.split != StageSplit::even) line.add("--split", to_text(s.split));
  if (!s.layers_per_stage.empty()) line.add("--layers-per-stage", layers_text(s.layers_per_stage));
  if (s.sequence_parallel == SequenceParallel::on) line.add("--sequence-parallel", "on");
  if (s.flash_attention == FlashAttention::off) line.add("--flash-attention", "off");
}

}  // namespace

QuestionText question_text(const AskedPlan& asked) {
  QuestionText text;
  text.model = asked.network.name.empty() ? network_file : asked.network.name;
  text.machine = asked.machine.name.empty() ? machine_file : asked.machine.name;
  text.devices = device_count(asked.machine.cluster);
  text.training = asked.training;
  text.stack = asked.stack;
  text.choices = asked.choices;
  text.tensor_parallel_across_nodes = asked.tensor_parallel_across_nodes;
  return text;
}

Question question_of(const AskedPlan& asked) {
  return Question(question_text(asked), *asked.network.network, asked.machine.cluster);
}

Question question_of(const AskedPlan& asked, const Cluster& cluster) {
  QuestionText text = question_text(asked);
  text.devices = device_count(cluster);
  return Question(text, *asked.network.network, cluster);
}

Question question_of(const AskedPlan& asked, const Network& network) {
  return Question(question_text(asked), network, asked.machine.cluster);
}

std::string command(const AskedPlan& asked, const std::filesystem::path& folder) {
  CommandLine line;
  line.add("--model", asked.network.name.empty() ? (folder / network_file).string() : asked.network.name);
  line.add("--machine", asked.machine.name.empty() ? (folder / machine_file).string() : asked.machine.name);
  if (!asked.machine.name.empty()) line.add("--gpus", device_count(asked.machine.cluster));
  add_training(line, asked.training);
  if (!asked.stack.empty()) line.add("--stack", asked.stack);
  for (const StackChoiceField& field : stack_choice_fields())
    if (const std::string& word = asked.choices.*field.word; !word.empty()) line.add(field.flag(), word);
  if (asked.tensor_parallel_across_nodes) line.add("--tp-across-nodes", "");
  add_strategy(line, asked.strategy);
  return line.text();
}

void write_files(const AskedPlan& asked, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  if (asked.network.config) write_output_file(folder / network_file, to_json_text(*asked.network.config));
  if (asked.machine.file) write_output_file(folder / machine_file, to_json_text(*asked.machine.file));
}

}  // namespace plumbline
