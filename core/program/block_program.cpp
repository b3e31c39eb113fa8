#include "core/program/block_program.h"

#include <algorithm>
#include <utility>

#include "core/program/block_lanes.h"
#include "core/program/block_passes.h"
#include "core/program/known_programs.h"
#include "core/sharding/logits.h"
#include "core/sharding/side_tensors.h"

namespace plumbline {

BlockLowering::BlockLowering(const Block& block, const Shard& shard, KnownPrograms* known)
    : block_(block),
      shard_(shard),
      known_(known),
      saved_(saved_tensors(block, shard)),
      sides_(block.ops().size()),
      position_(block.ops().size()) {
  for (std::size_t t = 0; t < block.tensors().size(); ++t) {
    const TensorId id(static_cast<std::int32_t>(t));
    const Tensor& tensor = block.tensors()[t];
    const bool are_logits = is_logits(block, id);
    const Bytes bytes = are_logits ? logit_bytes(tensor, shard) : local_bytes(tensor, shard);
    tensors_.push_back({tensor.role == TensorRole::parameter ? Bytes(0) : bytes, is_sliced(tensor, shard), are_logits});
  }
  for (const SavedTensor& side : side_tensors(block, shard)) sides_[slot(side.op)].push_back(side.bytes);
  for (std::size_t i = 0; i < block.ops().size(); ++i)
    position_[slot(block.execution_order()[i])] = static_cast<std::int32_t>(i);
}

namespace {

void set_sizes(BlockProgram& program, const BlockFacts& facts) {
  for (BlockBuffer& buffer : program.buffers) buffer.bytes = facts.bytes(buffer, program.buffers);
}

/// A buffer that is like another one comes behind it, whose size was compared before.
bool has_sizes(const BlockProgram& program, const BlockFacts& facts) {
  return std::all_of(program.buffers.begin(), program.buffers.end(),
                     [&](const BlockBuffer& buffer) { return buffer.bytes == facts.bytes(buffer, program.buffers); });
}

}  // namespace

BlockProgram BlockLowering::lower(const Replay& replay, BackwardForm form) const {
  const KeepRule rule = keep_rule(block_, saved_, replay);
  const BlockFacts facts(*this, rule);
  BlockProgram program = known_ == nullptr ? lower(facts, form) : *known(facts, replay, form);
  set_sizes(program, facts);
  return program;
}

BlockProgram BlockLowering::in_sizes(BlockProgram program) const {
  const KeepRule nothing{};  // sizes of buffers do not depend on what is kept
  set_sizes(program, BlockFacts(*this, nothing));
  return program;
}

std::shared_ptr<const BlockProgram> BlockLowering::shared(const Replay& replay, BackwardForm form) const {
  if (known_ == nullptr) return std::make_shared<const BlockProgram>(lower(replay, form));
  const KeepRule rule = keep_rule(block_, saved_, replay);
  const BlockFacts facts(*this, rule);
  std::shared_ptr<const BlockProgram> found = known(facts, replay, form);
  if (has_sizes(*found, facts)) return found;
  BlockProgram own = *found;
  set_sizes(own, facts);
  return std::make_shared<const BlockProgram>(std::move(own));
}

BlockProgram BlockLowering::lower(const BlockFacts& facts, BackwardForm form) const {
  BlockProgram program = lower_in_order(facts, form);
  if (shard_.tensor_parallel > 1) add_waits(program);
  return program;
}

std::shared_ptr<const BlockProgram> BlockLowering::known(const BlockFacts& facts, const Replay& replay,
                                                         BackwardForm form) const {
  KnownPrograms::Key key{&block_, shape()};
  std::vector<std::int32_t>& shape = key.second;
  shape.push_back(static_cast<std::int32_t>(form));
  shape.push_back(replay.mode == RecomputeMode::selective ? 1 : 0);  // all of the mode that keep_rule asks
  shape.push_back(static_cast<std::int32_t>(replay.replayed.size()));
  shape.insert(shape.end(), replay.replayed.begin(), replay.replayed.end());
  shape.insert(shape.end(), replay.kept.begin(), replay.kept.end());
  shape.push_back(static_cast<std::int32_t>(replay.place));
  if (auto program = known_->find(key)) return program;
  BlockProgram made = lower(facts, form);
  set_sizes(made, facts);
  return known_->keep(std::move(key), std::move(made));
}

std::vector<std::int32_t> BlockLowering::shape() const {
  const auto divides = [](std::int64_t ranks) { return ranks > 1 ? 1 : 0; };
  std::vector<std::int32_t> shape{
      divides(shard_.tensor_parallel),        divides(shard_.sequence_ranks()),
      divides(shard_.context_parallel),       divides(shard_.expert_parallel),
      divides(shard_.expert_tensor_parallel), static_cast<std::int32_t>(shard_.flash_attention),
      shard_.exchanges_heads() ? 1 : 0};
  for (const std::vector<Bytes>& sides : sides_) shape.push_back(static_cast<std::int32_t>(sides.size()));
  for (const SavedTensor& saved : saved_)
    shape.insert(shape.end(), {static_cast<std::int32_t>(saved.kind), saved.tensor.index(), saved.op.index()});
  return shape;
}

namespace {

void lower_replay(const BlockFacts& facts, BlockEmitter& emit, BlockValues& values, BlockProgram& program) {
  const KeepRule& rule = facts.rule;
  if (is_given_input(rule.place))
    for (const TensorId id : facts.block.inputs())
      program.replay_inputs.push_back(values.tensors[slot(id)] = emit.given({id}));
  lower_forward(facts, emit, values, BlockPass::recompute);
  if (!hands_on(rule.place)) return;
  for (const TensorId id : facts.block.outputs()) {
    std::int32_t& value = values.tensors[slot(id)];
    program.replay_outputs.push_back(value);
    program.restores_output.push_back(rule.restores_tensor[slot(id)] || rule.keeps_tensor[slot(id)]);
    if (program.restores_output.back()) continue;
    emit.hand_over(value);
    value = no_buffer;
  }
}

}  // namespace

BlockProgram BlockLowering::lower_in_order(const BlockFacts& facts, BackwardForm form) const {
  const KeepRule& rule = facts.rule;
  BlockProgram program;
  // About what a layer needs, so that nothing grows.
  const std::size_t ops = block_.ops().size();
  program.operands.reserve(32 * ops);
  program.buffers.reserve(8 * ops);
  for (std::vector<Instruction>& pass : program.passes) pass.reserve(4 * ops);
  BlockEmitter emit(program);
  BlockValues values(block_.tensors().size(), block_.ops().size());
  const auto local = [&](TensorId id) { return emit.given({id}); };
  for (const TensorId id : block_.inputs()) {
    program.inputs.push_back(values.tensors[slot(id)] = local(id));
    program.keeps_input.push_back(rule.keeps_tensor[slot(id)]);
  }
  for (std::size_t t = 0; t < values.tensors.size(); ++t) {
    const TensorId id(static_cast<std::int32_t>(t));
    const bool is_made = block_.producer(id).is_valid() || block_.tensor(id).role == TensorRole::parameter;
    if (is_made || !rule.keeps_tensor[t] || values.tensors[t] != no_buffer) continue;
    program.constants.push_back(values.tensors[t] = local(id));
  }
  lower_forward(facts, emit, values, BlockPass::forward);
  if (block_.kind() != BlockKind::output) {
    for (const TensorId id : block_.outputs()) {
      std::int32_t& value = values.tensors[slot(id)];
      program.outputs.push_back(value);
      program.keeps_output.push_back(rule.keeps_tensor[slot(id)]);
      if (program.keeps_output.back()) continue;
      emit.hand_over(value);
      value = no_buffer;
    }
  }
  const auto given_gradients = [&] {
    std::vector<std::int32_t> gradients;
    if (block_.kind() == BlockKind::output) return gradients;
    for (const TensorId id : block_.outputs()) gradients.push_back(facts.carries(id) ? local(id) : no_buffer);
    return gradients;
  };
  if (rule.replays_anything()) lower_replay(facts, emit, values, program);
  program.output_gradients[0] = given_gradients();
  program.input_gradients[0] =
      lower_backward(facts, emit, values, program.output_gradients[0], BlockPass::backward).input_gradients;
  if (form == BackwardForm::whole) return program;
  program.output_gradients[1] = given_gradients();
  BackwardResult split = lower_backward(facts, emit, values, program.output_gradients[1], BlockPass::backward_input);
  program.input_gradients[1] = split.input_gradients;
  lower_weights(facts, emit, values, std::move(split));
  return program;
}

}  // namespace plumbline
