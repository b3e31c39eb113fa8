#include "runtime/execution/block_interpreter.h"

#include <algorithm>

#include "core/program/block_lanes.h"

namespace plumbline {

BlockInterpreter::BlockInterpreter(const KernelParts& parts, const Block& block, const BlockProgram& program,
                                   std::int32_t execution, BlockState& state)
    : parts_(parts), block_(block), program_(program), execution_(execution), state_(state) {
  state_.buffers.resize(program.buffers.size());
}

void BlockInterpreter::accept_inputs(std::vector<BufferRef> inputs) {
  check(inputs.size() == program_.inputs.size(), "a block gets its inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i]->count_as(program_.keeps_input[i] ? MemoryClass::activations : MemoryClass::working_buffers);
    buffer(program_.inputs[i]) = std::move(inputs[i]);
  }
}

std::vector<BufferRef> BlockInterpreter::forward() {
  state_.rows = {};
  run(BlockPass::forward);
  std::vector<BufferRef> outputs;
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    BufferRef& output = buffer(program_.outputs[i]);
    outputs.push_back(output);
    if (!program_.keeps_output[i]) output = nullptr;
  }
  return outputs;
}

std::vector<BufferRef> BlockInterpreter::recompute(std::vector<BufferRef> inputs) {
  check(inputs.size() == program_.replay_inputs.size(), "a replay gets its inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) buffer(program_.replay_inputs[i]) = std::move(inputs[i]);
  run(BlockPass::recompute);
  std::vector<BufferRef> outputs;
  for (std::size_t i = 0; i < program_.replay_outputs.size(); ++i) {
    BufferRef& output = buffer(program_.replay_outputs[i]);
    outputs.push_back(output);
    if (!program_.restores_output[i]) output = nullptr;
  }
  return outputs;
}

std::vector<BufferRef> BlockInterpreter::backward(BlockPass pass, std::vector<BufferRef> output_gradients) {
  const std::vector<std::int32_t>& given = program_.output_gradients_of(pass);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] >= 0) buffer(given[i]) = std::move(output_gradients[i]);
  output_gradients.clear();
  run(pass);
  std::vector<BufferRef> inputs;
  for (const std::int32_t gradient : program_.input_gradients_of(pass))
    inputs.push_back(gradient >= 0 ? buffer(gradient) : nullptr);
  return inputs;
}

void BlockInterpreter::run(BlockPass pass) {
  const std::vector<Instruction>& instructions = program_.pass(pass);
  for (std::int32_t place = 0; place < std::ssize(instructions); ++place) {
    const Instruction& i = instructions[static_cast<std::size_t>(place)];
    if (i.waits_for >= 0) wait_for(i.waits_for);
    const std::int32_t next = place + 1;
    if (lane_of(i) == Stream::compute)
      run(i);
    else
      communicate(place, i,
                  next == std::ssize(instructions) || instructions[static_cast<std::size_t>(next)].waits_for == place);
  }
  if (!running_.empty()) wait_for(running_.back().place);
}

void BlockInterpreter::run(const Instruction& i) {
  const KernelCall call(parts_, block_, program_, state_, execution_, i);
  const std::int32_t first = program_.operands_of(i).front();
  switch (i.kind) {
    case InstructionKind::allocate: {
      const BlockBuffer& what = program_.buffers[static_cast<std::size_t>(first)];
      buffer(first) = parts_.device.memory.bind(i.memory_class, call.size_of(what), call.size_from(what));
      break;
    }
    case InstructionKind::release: buffer(first) = nullptr; break;
    case InstructionKind::reclassify: call.buffer(0)->count_as(i.memory_class); break;
    case InstructionKind::kernel: run_kernel(call); break;
    case InstructionKind::collective:
      if (i.axis == Axis::context)
        exchange_heads(call);
      else if (i.axis == Axis::expert_tensor)
        share_rows(call);
      else
        exchange_rows(call);
      break;
  }
}

void BlockInterpreter::communicate(std::int32_t place, const Instruction& i, bool is_waited_for) {
  ComputeDevice& device = parts_.device.lanes;
  const Mark begin = device.timed_mark(Stream::compute);
  device.wait(Stream::tensor, begin);
  give(KernelCall(parts_, block_, program_, state_, execution_, i));
  const Mark end = device.mark(Stream::tensor);
  if (is_waited_for)
    device.wait(Stream::compute, end);
  else
    running_.push_back({place, end});
  parts_.device.calls.note_timed(i.axis, begin);
}

void BlockInterpreter::give(const KernelCall& call) {
  const TensorId like = call.tensor(0);
  const NumberFormat number = like.is_valid() ? call.format(like) : NumberFormat::fp32;
  switch (call.instruction.collective) {
    case Collective::all_reduce:
      return parts_.device.calls.tensor_all_reduce(span_of(call.buffer(0)), number, call.instruction.reduction);
    case Collective::all_gather:
      return parts_.device.calls.tensor_all_gather(span_of(call.buffer(0)), span_of(call.buffer(1)), number);
    case Collective::reduce_scatter:
      return parts_.device.calls.tensor_reduce_scatter(span_of(call.buffer(0)), span_of(call.buffer(1)), number);
    default: check(false, "tensor-parallel ranks neither exchange rows nor send");
  }
}

void BlockInterpreter::wait_for(std::int32_t place) {
  const auto behind = std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.place > place; });
  if (behind == running_.begin()) return;  // whoever followed it waited at once
  const Mark begin = parts_.device.lanes.timed_mark(Stream::compute);
  parts_.device.lanes.wait(Stream::compute, std::prev(behind)->end);
  parts_.device.calls.note_timed(Axis::tensor, begin);
  running_.erase(running_.begin(), behind);
}

}  // namespace plumbline
