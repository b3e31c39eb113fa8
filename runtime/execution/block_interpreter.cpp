#include "runtime/execution/block_interpreter.h"

namespace plumbline {

BlockInterpreter::BlockInterpreter(RankEnvironment& environment, const Block& block, const BlockProgram& program,
                                   std::int32_t execution, BlockState& state)
    : env_(environment), block_(block), program_(program), execution_(execution), state_(state) {
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
  for (const Instruction& i : program_.pass(pass)) {
    const KernelCall call(env_, block_, program_, state_, execution_, i);
    const std::int32_t first = program_.operands_of(i).front();
    switch (i.kind) {
      case InstructionKind::allocate: {
        const BlockBuffer& what = program_.buffers[static_cast<std::size_t>(first)];
        buffer(first) = env_.backend.bind(i.memory_class, call.size_of(what), call.size_from(what));
        break;
      }
      case InstructionKind::release: buffer(first) = nullptr; break;
      case InstructionKind::reclassify: call.buffer(0)->count_as(i.memory_class); break;
      case InstructionKind::kernel: run_kernel(call); break;
      case InstructionKind::collective: communicate(call); break;
    }
  }
}

void BlockInterpreter::communicate(const KernelCall& call) {
  if (call.instruction.axis == Axis::expert_tensor) return share_rows(call);
  const TensorId like = call.tensor(0);
  const NumberFormat number = like.is_valid() ? call.format(like) : NumberFormat::fp32;
  switch (call.instruction.collective) {
    case Collective::all_reduce:
      return env_.tensor_all_reduce(span_of(call.buffer(0)), number, call.instruction.reduction);
    case Collective::all_gather:
      return env_.tensor_all_gather(span_of(call.buffer(0)), span_of(call.buffer(1)), number);
    case Collective::reduce_scatter:
      return env_.tensor_reduce_scatter(span_of(call.buffer(0)), span_of(call.buffer(1)), number);
    case Collective::all_to_all: return exchange_rows(call);
    default: check(false, "blocks neither broadcast nor send");
  }
}

}  // namespace plumbline
