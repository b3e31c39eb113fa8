#include "python/flag_reader.h"

#include "core/base/errors.h"
#include "planner/question/value_text.h"
#include "planner/session/foreign_flags.h"

namespace plumbline::python {

void FlagReader::take(const char* flag, std::optional<std::string>& value) {
  known_.emplace_back(flag);
  auto node = given_.extract(flag);
  if (!node) return;
  if (node.mapped().empty()) throw InputError({flag, "its value is empty", "a value", ""});
  value = std::move(node.mapped());
}

void FlagReader::take(const char* flag, bool& value) {
  std::optional<std::string> text;
  take(flag, text);
  if (text) value = on_or_off(flag, *text);
}

void FlagReader::refuse_rest() const {
  if (given_.empty()) return;
  const std::string& flag = given_.begin()->first;
  throw InputError({flag, "unknown argument of plumbline." + function_, "", session::nearest_flag(flag, known_)});
}

void take(FlagReader& reader, session::QuestionFlags& flags) {
  reader.take("--model", flags.model);
  std::optional<std::string> dimensions;
  reader.take("--dim", dimensions);
  if (dimensions) flags.dimensions = list_of("--dim", *dimensions);
  reader.take("--machine", flags.machine);
  reader.take("--gpus", flags.gpus);
  reader.take("--seq-len", flags.sequence_length);
  reader.take("--global-batch", flags.global_batch);
  reader.take("--tokens", flags.tokens);
  reader.take("--samples", flags.samples);
  reader.take("--price", flags.price);
  reader.take("--precision", flags.precision);
  reader.take("--gradient-precision", flags.gradient_precision);
  reader.take("--optimizer-precision", flags.optimizer_precision);
  reader.take("--optimizer", flags.optimizer);
  reader.take("--freeze", flags.freeze);
  reader.take("--lora-rank", flags.lora_rank);
  reader.take("--lora-targets", flags.lora_targets);
  reader.take("--stack", flags.stack);
  for (std::size_t i = 0; i < flags.of_stack.size(); ++i)
    reader.take(stack_choice_fields()[i].flag().c_str(), flags.of_stack[i]);
  reader.take("--headroom", flags.headroom);
  reader.take("--tp-across-nodes", flags.tensor_parallel_across_nodes);
}

void take(FlagReader& reader, session::StrategyFlags& flags) {
  session::for_each_flag(
      flags, [&](const StrategyAxis& axis, std::optional<std::string>& text) { reader.take(axis.flag.c_str(), text); });
}

void take_ranking(FlagReader& reader, session::SearchFlags& flags) {
  reader.take("--objective", flags.objective);
  reader.take("--top", flags.top);
  reader.take("--all", flags.all);
  reader.take("--pareto", flags.pareto);
}

void take(FlagReader& reader, session::SearchFlags& flags) {
  reader.take("--fix", flags.fixes);
  reader.take("--flash-attention", flags.flash_attention);
  reader.take("--for", flags.framework);
  reader.take("--executable", flags.executable);
  reader.take("--split", flags.split);
  reader.take("--threads", flags.threads);
  reader.take("--time-limit", flags.time_limit);
}

void take(FlagReader& reader, session::SimulationFlags& flags) {
  reader.take("--order-csv", flags.order_file);
  reader.take("--stage-speed", flags.stage_speed);
  reader.take("--by-block", flags.by_block);
}

void take(FlagReader& reader, session::SizeFlags& flags) {
  reader.take("--days", flags.days);
  reader.take("--budget", flags.budget);
  reader.take("--scaling", flags.scaling);
  reader.take("--pue", flags.pue);
  reader.take("--grid", flags.grid);
}

}  // namespace plumbline::python
