#include "core/sharding/keep_rule.h"

#include <algorithm>

#include "core/graph/slot.h"

namespace plumbline {
namespace {

void keep_without_replay(KeepRule& rule, const std::vector<SavedTensor>& saved) {
  for (const SavedTensor& s : saved) {
    if (s.tensor.is_valid())
      (s.kind == SavedKind::gathered ? rule.keeps_gathered : rule.keeps_tensor)[slot(s.tensor)] = true;
    if (s.op.is_valid()) rule.keeps_side[slot(s.op)] = true;
  }
}

/// A product that does not run again, but whose input does, saves nothing of it and casts what the replay brings, which
/// stays until then (Transformer Engine: save_original_input).
void drop_copies(KeepRule& rule, const Block& block, const std::vector<SavedTensor>& saved) {
  for (const SavedTensor& s : saved) {
    if (s.kind != SavedKind::input_copy) continue;
    const TensorId input = block.op(s.op).inputs.front();
    const OpId producer = block.producer(input);
    if (!producer.is_valid() || !rule.replays[slot(producer)] || rule.replays[slot(s.op)]) continue;
    rule.keeps_side[slot(s.op)] = false;
    rule.restores_tensor[slot(input)] = true;
  }
}

/// What a replay makes again, it gathers again where it reads it so; otherwise the backward does, from this rank's
/// rows.
void make_gathered_again(KeepRule& rule, const Block& block) {
  const auto gathers = [&](OpId reader) { return rule.replays[slot(reader)] && is_column_parallel(block.op(reader)); };
  for (std::size_t t = 0; t < rule.keeps_gathered.size(); ++t) {
    const TensorId tensor(static_cast<std::int32_t>(t));
    const OpId producer = block.producer(tensor);
    if (!rule.keeps_gathered[t] || !producer.is_valid() || !rule.replays[slot(producer)]) continue;
    const auto& readers = block.consumers(tensor);
    const bool is_gathered = std::any_of(readers.begin(), readers.end(), gathers);
    rule.keeps_gathered[t] = false;
    (is_gathered ? rule.restores_gathered : rule.restores_tensor)[t] = true;
  }
}

/// The replay of the block before brings the inputs again, so that none is kept.
void give_inputs(KeepRule& rule, const Block& block, const std::vector<bool>& read_by_backward) {
  for (const TensorId input : block.inputs()) {
    rule.restores_tensor[slot(input)] = read_by_backward[slot(input)];
    rule.restores_gathered[slot(input)] = rule.keeps_gathered[slot(input)];
    rule.keeps_tensor[slot(input)] = rule.keeps_gathered[slot(input)] = false;
  }
}

}  // namespace

bool KeepRule::replays_anything() const { return std::find(replays.begin(), replays.end(), true) != replays.end(); }

KeepRule keep_rule(const Block& block, const Shard& shard, const Replay& replay) {
  return keep_rule(block, saved_tensors(block, shard), replay);
}

KeepRule keep_rule(const Block& block, const std::vector<SavedTensor>& saved, const Replay& replay) {
  const std::size_t tensors = block.tensors().size();
  const std::size_t ops = block.ops().size();
  KeepRule rule{std::vector<bool>(tensors), std::vector<bool>(ops), std::vector<bool>(ops),
                std::vector<bool>(tensors), std::vector<bool>(ops), std::vector<bool>(tensors),
                std::vector<bool>(tensors), !replay.kept.empty(),   replay.place};
  keep_without_replay(rule, saved);
  const std::vector<bool> read_by_backward = rule.keeps_tensor;
  for (std::size_t i = 0; i < replay.replayed.size(); ++i)
    rule.replays[slot(block.execution_order()[i])] = replay.replayed[i];
  if (replay.mode == RecomputeMode::selective) {
    for (const SavedTensor& s : saved)
      if (s.kind == SavedKind::attention_core) {
        rule.keeps_side[slot(s.op)] = false;
        rule.restores_side[slot(s.op)] = true;
        for (const TensorId input : block.op(s.op).inputs) rule.keeps_tensor[slot(input)] = true;
      }
    return rule;
  }
  for (std::size_t op = 0; op < ops; ++op) {
    if (!rule.replays[op]) continue;
    rule.restores_side[op] = rule.keeps_side[op];
    rule.keeps_side[op] = false;
    for (const TensorId output : block.ops()[op].outputs) {
      rule.restores_tensor[slot(output)] = rule.keeps_tensor[slot(output)];
      rule.keeps_tensor[slot(output)] = false;
    }
  }
  drop_copies(rule, block, saved);
  make_gathered_again(rule, block);
  for (std::size_t op = 0; op < ops; ++op) {
    if (!rule.replays[op]) continue;
    for (const TensorId input : block.ops()[op].inputs) {
      const OpId producer = block.producer(input);
      const bool is_made_again = producer.is_valid() && rule.replays[slot(producer)];
      if (!is_made_again && block.tensor(input).element != ElementKind::index) rule.keeps_tensor[slot(input)] = true;
    }
  }
  if (is_given_input(replay.place)) give_inputs(rule, block, read_by_backward);
  for (std::size_t t = 0; t < replay.kept.size(); ++t) {
    if (!replay.kept[t]) continue;
    rule.keeps_tensor[t] = true;
    rule.restores_tensor[t] = false;
  }
  return rule;
}

}  // namespace plumbline
