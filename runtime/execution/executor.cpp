#include "runtime/execution/executor.h"

#include <algorithm>

#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

using Tensors = std::vector<BufferRef>;

const BlockProgram& block_program(const Program& program, std::int32_t execution) {
  return *program.blocks[at(execution)];
}

const Tensor& crossing(const Block& block, const std::vector<TensorId>& tensors) {
  check(tensors.size() == 1, "one tensor crosses between stages");
  return block.tensor(tensors.front());
}

/// The compute lane waits for the others at the optimizer step, and they then have nothing more to do.
bool ends_with_update(const RankProgram& rank) {
  const auto step = std::find_if(rank.actions.begin(), rank.actions.end(),
                                 [](const Action& a) { return a.kind() == ActionKind::optimizer_step; });
  return std::none_of(step, rank.actions.end(),
                      [](const Action& a) { return ActionLanes::lane_of(a) != Stream::compute; });
}

void gather(const Action& action, const RankProgram& rank, WeightGathers& weights) {
  const auto* of_pass = std::get_if<ParameterGather>(&action.what);
  if (of_pass == nullptr) return;  // of matrices: part of the optimizer's step
  UnitSlot slot = of_pass->slot;
  for (const std::int32_t unit : units_of(action, rank)) {
    weights.gather(unit, slot, of_pass->axis);
    slot = other(slot);
  }
}

/// Before the first trained parameter nothing has a gradient.
bool carries_gradient(const Block& block) {
  return std::any_of(block.outputs().begin(), block.outputs().end(),
                     [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; });
}

}  // namespace

Executor::Executor(const ExecutionPlan& plan, ExecutionMode mode, const RankShare& share, RankDevice& device,
                   ParameterStore& parameters, StepValues& values)
    : plan_(plan),
      mode_(mode),
      share_(share),
      device_(device),
      parameters_(parameters),
      scalars_(values.scalars),
      tables_(plan, device),
      batches_(plan.strategy, share, device),
      parts_{plan, mode, share, device, parameters, values, tables_, batches_, pass_},
      stage_(share.groups.index(Axis::pipeline)),
      rank_(plan.program.ranks[at(stage_)]),
      sequence_(plan.graph.sequence()),
      passes_(sequence_.size()),
      reductions_(parameters.gradients, rank_, sequence_.size()),
      buffers_(rank_),
      clock_(device.lanes, rank_.actions.size()),
      messages_(plan, device.calls, device.memory, device.lanes),
      inside_(rank_, device.calls),
      lanes_(rank_, device.lanes),
      ranges_(rank_, device.lanes),
      offload_(device.memory, device.lanes) {
  check(plan.program.blocks.size() == sequence_.size(), "an executed program has the programs of its blocks");
  for (const auto& segments : rank_.chunks)
    for (const Segment& segment : segments) {
      check(segment.last == segment.first + 1, "segments of an executed program are single blocks");
      check(block_program(plan.program, segment.first).constants.empty(),
            "a network that is executed makes all its tensors");
      if (plan.strategy.zero_stage < 3) keep_product_weights(parts_, block(segment.first), segment.first);
    }
  for (const Action& a : rank_.actions)
    if (weight_gradients_of(a) != nullptr) ++passes_[at(execution_of(a))];
  check(ends_with_update(rank_), "no lane works behind an optimizer step");
}

const Block& Executor::block(std::int32_t execution) const { return plan_.graph.block(sequence_[at(execution)]); }
std::int32_t Executor::execution_of(const Action& a) const { return rank_.chunks[at(a.chunk)][at(a.segment())].first; }

void Executor::prepare_as(const Executor& rehearsed) {
  tables_.rotary.prepare_as(rehearsed.tables_.rotary);
  tables_.routes.prepare_as(rehearsed.tables_.routes);
  offload_.prepare_as(rehearsed.offload_);
}

void Executor::run_step(std::int64_t step, const BatchSource& batches, const OptimizerStep& optimizer,
                        const BeforeAction& before) {
  const NamedRange range = ranges_.step(step);
  batches_.begin_step(batches);
  if (graph_.is_due()) {
    give_graph(optimizer, before);
  } else {
    give_step(optimizer, before);
    graph_.note_given();
  }
  clock_.finish();
  graph_.finish();
  clock_.read();
  inside_.book(clock_.times());
}

void Executor::give_graph(const OptimizerStep& optimizer, const BeforeAction& before) {
  if (graph_.is_recorded(device_.memory.reservations())) {
    batches_.put_all();
  } else {
    graph_.record(device_.memory.reservations(), [&] { give_step(optimizer, before); });
  }
  clock_.begin_again();
  graph_.launch();
}

void Executor::give_step(const OptimizerStep& optimizer, const BeforeAction& before) {
  batches_.begin_pass();
  if (memory_ != nullptr) device_.memory.begin_step(memory_->of_step());
  last_pass_ = passes_;
  scalars_.begin();
  parameters_.gradients.begin_step();
  reductions_.begin_step();
  tables_.operands.begin_step();
  inside_.begin_step();
  device_.lanes.forget_times();
  clock_.begin_step();
  lanes_.begin_step();  // behind the step's own mark, from which times count
  routed_.clear();
  offload_.begin_step();
  LiveBytes& live = device_.memory.live();
  bool is_replayed = false;  // what the next backward reads
  for (std::int32_t i = 0; i < std::ssize(rank_.actions); ++i) {
    const Action& action = rank_.actions[at(i)];
    if (before) before(i);
    buffers_.begin(action);
    // A replay and the backward behind it share one working set.
    if (!is_replayed) live.begin_action();
    if (action.issue == Issue::in_order)
      for (const std::int32_t overlapped : lanes_.starting_with(i)) issue(overlapped, optimizer);
    issue(i, optimizer);
    if (action.kind() == ActionKind::offload) {
      lanes_.wait_for(i);
      const Place place{execution_of(action), action.micro_batch};
      offload_.leave(place, states_.at(place));
    }
    live.end_action(i);
    if (computes(action))
      is_replayed = action.kind() == ActionKind::recompute &&
                    block_program(plan_.program, execution_of(action)).replay_outputs.empty();
    if (mode_ == ExecutionMode::strict && computes(action)) buffers_.require_fit(action, live, share_.groups.rank());
    buffers_.end(action);
  }
  if (memory_ != nullptr) device_.memory.end_step();
}

void Executor::issue(std::int32_t index, const OptimizerStep& optimizer) {
  if (lanes_.is_issued(index)) return;
  device_.memory.begin_action(index);
  const Action& action = rank_.actions[at(index)];
  const NamedRange range = ranges_.action(index);
  const Stream lane = ActionLanes::lane_of(action);
  lanes_.begin(index);
  clock_.begin(index, lane);
  run(action, index, optimizer);
  clock_.end(index, lane, sent_by(action) != nullptr);
  lanes_.end(index);
}

void Executor::run(const Action& action, std::int32_t index, const OptimizerStep& optimizer) {
  switch (action.kind()) {
    case ActionKind::forward:
    case ActionKind::recompute:
    case ActionKind::backward:
    case ActionKind::backward_input:
    case ActionKind::backward_weight: return compute(action, index);
    case ActionKind::send_forward:
    case ActionKind::send_backward: return send(action);
    case ActionKind::receive_forward:
    case ActionKind::receive_backward: return messages_.receive(action);
    case ActionKind::all_gather_parameters: return gather(action, rank_, parameters_.weights);
    case ActionKind::release_parameters: return parameters_.weights.release();
    case ActionKind::reduce_gradients:
      return std::holds_alternative<TiedSum>(action.what) ? reductions_.run_tied() : reductions_.run(action);
    case ActionKind::tensor_collective:
      if (std::holds_alternative<PartialSum>(action.what)) reductions_.run_partial();
      return;
    case ActionKind::context_collective:
    case ActionKind::expert_collective: return;  // views of what a block ran
    case ActionKind::optimizer_step:
      lanes_.join();
      reductions_.require_complete();
      return optimizer();
    case ActionKind::offload:
    case ActionKind::fetch: {
      const Place place{execution_of(action), action.micro_batch};
      BlockState& state = states_.at(place);
      return action.kind() == ActionKind::offload ? offload_.copy_out(place, state) : offload_.copy_back(place, state);
    }
  }
}

void Executor::compute(const Action& action, std::int32_t index) {
  const std::int32_t execution = execution_of(action);
  batches_.load(action.micro_batch);
  inside_.begin_block();
  BlockInterpreter interpreter(parts_, block(execution), block_program(plan_.program, execution), execution,
                               states_[{execution, action.micro_batch}]);
  const auto& pass = std::get<ComputePass>(action.what);
  switch (pass.of) {
    case ComputeKind::forward: forward(interpreter, action, execution); break;
    case ComputeKind::recompute:
      if (block_program(plan_.program, execution).replay_outputs.empty()) take_gradients(action, execution);
      replay_rows_.replay(interpreter, {execution, action.micro_batch});
      break;
    case ComputeKind::backward_weight:
      reductions_.open(execution, pass.gradients);
      interpreter.backward_weight();
      break;
    case ComputeKind::backward:
    case ComputeKind::backward_input: backward(interpreter, action, execution);
  }
  if (makes_weight_gradients(pass.of)) {
    finish_unit(action, execution);
    parameters_.weights.drop_secondary();
  }
  inside_.end_block(index, clock_.times());
}

void Executor::forward(BlockInterpreter& interpreter, const Action& action, std::int32_t execution) {
  const Block& of = block(execution);
  const Place place{execution, action.micro_batch};
  std::vector<BufferRef> waited;
  if (!of.inputs().empty()) {
    const bool enters_stage = action.segment() == 0 && messages_.network_stage(action) > 0;
    std::vector<BufferRef> inputs;
    if (enters_stage && messages_.is_elsewhere(messages_.network_stage(action) - 1)) {
      inputs = {messages_.copied(messages_.received(Pass::forward), crossing(of, of.inputs()))};
    } else if (enters_stage) {
      auto transferred = activations_.extract(place);
      check(!transferred.empty(), "a stage's input was made before it runs");
      waited = std::move(transferred.mapped());
      inputs = {messages_.copied(waited.front(), crossing(of, of.inputs()))};
    } else {
      const auto transferred = activations_.extract(place);
      check(!transferred.empty(), "a block's inputs were made before it runs");
      inputs = std::move(transferred.mapped());
    }
    interpreter.accept_inputs(std::move(inputs));
    device_.memory.live().begin_action();  // what was transferred over is the block's own from here
  }
  std::vector<BufferRef> outputs = interpreter.forward();
  if (!parts_.pass.is_evaluating) parameters_.weights.keep_secondary(execution);
  const ExchangedRows& rows = states_[place].rows;
  if (share_.shard.experts_exchange() && rows.is_known()) routed_[place] = rows.moved();
  if (outputs.empty()) return;
  const std::int32_t next = messages_.network_stage(action) + 1;
  const bool stays =
      messages_.ends_chunk(action) && next < plan_.program.shape.stages() && !messages_.is_elsewhere(next);
  activations_[{execution + 1, action.micro_batch}] =
      stays ? Tensors{messages_.parked(outputs.front())} : std::move(outputs);
}

/// What came from the stage behind moves out of the receive buffer when the backward begins.
void Executor::take_gradients(const Action& action, std::int32_t execution) {
  const Block& of = block(execution);
  if (!carries_gradient(of)) return;
  const std::int32_t next = messages_.network_stage(action) + 1;
  const bool arrives = messages_.ends_chunk(action) && messages_.is_elsewhere(next);
  const Place place{execution, action.micro_batch};
  if (messages_.ends_chunk(action) && next < plan_.program.shape.stages() && !arrives && !parked_gradients_.empty()) {
    const auto transferred = parked_gradients_.extract(place);
    if (!transferred.empty()) {
      gradients_[place] = {messages_.copied(transferred.mapped().front(), crossing(of, of.outputs()))};
      waiting_ = transferred.mapped();
    }
  }
  if (arrives && of.kind() != BlockKind::output && !gradients_.contains(place))
    gradients_[place] = {messages_.copied(messages_.received(Pass::backward), crossing(of, of.outputs()))};
}

void Executor::backward(BlockInterpreter& interpreter, const Action& action, std::int32_t execution) {
  if (!carries_gradient(block(execution))) return;
  take_gradients(action, execution);
  std::vector<BufferRef> of_outputs;
  if (block(execution).kind() != BlockKind::output) {
    auto transferred = gradients_.extract({execution, action.micro_batch});
    check(!transferred.empty(), "gradients of a block's outputs were made before it runs backward");
    of_outputs = std::move(transferred.mapped());
  }
  const auto& pass = std::get<ComputePass>(action.what);
  const bool is_split = pass.of == ComputeKind::backward_input;
  if (!is_split) reductions_.open(execution, pass.gradients);
  std::vector<BufferRef> of_inputs =
      interpreter.backward(is_split ? BlockPass::backward_input : BlockPass::backward, std::move(of_outputs));
  if (!of_inputs.empty() && of_inputs.front()) {
    const std::int32_t before = messages_.network_stage(action) - 1;
    const bool stays = pass.segment == 0 && before >= 0 && !messages_.is_elsewhere(before);
    (stays ? parked_gradients_ : gradients_)[{execution - 1, action.micro_batch}] =
        stays ? Tensors{messages_.parked(of_inputs.front())} : std::move(of_inputs);
  }
  if (is_split) interpreter.keep_for_weights();
  waiting_.clear();
}

/// A block's gradients of this pass, or of the step, are complete.
void Executor::finish_unit(const Action& action, std::int32_t execution) {
  states_.erase({execution, action.micro_batch});
  if (plan_.strategy.zero_stage >= 2) reductions_.wait_for_scatter(execution);
  if (--last_pass_[at(execution)] == 0) reductions_.wait_for_reduction(execution);
}

void Executor::send(const Action& action) {
  const bool is_forward = action.pass() == Pass::forward;
  const auto& segments = rank_.chunks[at(action.chunk)];
  Transferred& from = is_forward ? activations_ : gradients_;
  const std::int32_t execution = is_forward ? segments.back().last : segments.front().first - 1;
  const auto transferred = from.extract({execution, action.micro_batch});
  // Programs send gradients that nobody needs, where what comes before is frozen: zeros.
  check(!transferred.empty() || !is_forward, "what a stage sends was made");
  messages_.send(action, transferred.empty() ? nullptr : transferred.mapped().front());
}

}  // namespace plumbline
