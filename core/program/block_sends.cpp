#include "core/program/block_sends.h"

#include "core/base/errors.h"
#include "core/quantity/number_format.h"

namespace plumbline {
namespace {

class Sends {
 public:
  Sends(const BlockProgram& program, const Block& block, const Shard& shard)
      : program_(program), block_(block), shard_(shard) {}

  std::vector<BlockSend> run(BlockPass pass) {
    for (const Instruction& i : program_.pass(pass)) {
      const bool is_ring = i.role == KernelRole::ring_forward || i.role == KernelRole::ring_backward;
      if (i.kind == InstructionKind::collective) collective(i);
      if (i.kind == InstructionKind::kernel && is_ring) ring(i);
    }
    return std::move(sends_);
  }

 private:
  [[nodiscard]] const BlockBuffer& buffer(const Instruction& i, std::size_t operand) const {
    const std::int32_t id = program_.operands_of(i)[operand];
    check(id >= 0, "what is sent has a buffer");
    return program_.buffers[static_cast<std::size_t>(id)];
  }

  void collective(const Instruction& i) {
    const Bytes first = buffer(i, 0).bytes;
    const OpId op(i.op);
    switch (i.collective) {
      case Collective::all_reduce: return all_reduce(op, padded_bytes(buffer(i, 0)));
      case Collective::all_gather:
        sends_.push_back({i.collective, i.axis, buffer(i, static_cast<std::size_t>(i.operand_count) - 1).bytes, 1, op});
        return;
      case Collective::reduce_scatter: sends_.push_back({i.collective, i.axis, first, 1, op}); return;
      case Collective::all_to_all: {
        if (i.axis == Axis::context) {
          sends_.push_back({i.collective, i.axis, first, 1, op});
          return;
        }
        // What leaves experts has the rows of all ranks that divide them; each returns its part of the sum.
        const bool is_of_experts = i.direction == ExchangeDirection::to_tokens;
        const Bytes own = is_of_experts ? first / std::int64_t{shard_.expert_tensor_parallel} : first;
        sends_.push_back({i.collective, i.axis, own, 1, op});
        return;
      }
      default: check(false, "blocks neither broadcast nor send");
    }
  }

  void all_reduce(OpId op, Bytes bytes) {
    const bool goes_on = !sends_.empty() && sends_.back().kind == Collective::all_reduce && sends_.back().op == op;
    if (goes_on)
      sends_.back().bytes += bytes;
    else
      sends_.push_back({Collective::all_reduce, Axis::tensor, bytes, 1, op});
  }
  [[nodiscard]] Bytes padded_bytes(const BlockBuffer& whole) const {
    const NumberFormat format =
        whole.like.is_valid() ? storage_format(block_.tensor(whole.like), shard_.formats) : NumberFormat::fp32;
    const std::int64_t elements = whole.bytes.value() / storage(1, format).value();
    return storage(padded(elements, shard_.tensor_parallel), format);
  }

  void ring(const Instruction& i) {
    const bool is_forward = i.role == KernelRole::ring_forward;
    const std::size_t inputs = is_forward ? 0 : block_.op(OpId(i.op)).outputs.size();
    const Bytes keys_and_values = buffer(i, inputs + 1).bytes + buffer(i, inputs + 2).bytes;
    const std::int64_t hops = (is_forward ? 1 : 2) * std::int64_t{shard_.context_parallel - 1};
    sends_.push_back({Collective::send_receive, Axis::context, keys_and_values, hops, OpId(i.op)});
  }

  const BlockProgram& program_;
  const Block& block_;
  const Shard& shard_;
  std::vector<BlockSend> sends_;
};

}  // namespace

std::vector<BlockSend> block_sends(const BlockProgram& program, BlockPass pass, const Block& block,
                                   const Shard& shard) {
  return Sends(program, block, shard).run(pass);
}

}  // namespace plumbline
