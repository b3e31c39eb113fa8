// Blocks of random networks on random layouts, lowered with random choices of what runs again: every buffer is there
// when it is used and gone when the block is done, and collectives are those of Megatron-LM's formulas, in kind and
// in bytes.
#include "core/program/block_program.h"

#include <map>
#include <optional>
#include <tuple>

#include "core/program/block_sends.h"
#include "core/program/known_programs.h"
#include "tests/catch.h"
#include "tests/random_strategies.h"
#include "tests/tensor_parallel_points.h"

namespace plumbline {
namespace {

using Held = std::map<std::int32_t, MemoryClass>;

/// What is allocated while passes run, one after another; a use of anything else fails.
class Lives {
 public:
  explicit Lives(const BlockProgram& program) : program_(program), was_allocated_(program.buffers.size(), false) {}

  void hold(std::int32_t buffer, MemoryClass c) {
    if (buffer < 0) return;
    REQUIRE_FALSE(was_allocated_[static_cast<std::size_t>(buffer)]);
    was_allocated_[static_cast<std::size_t>(buffer)] = true;
    held_[buffer] = c;
  }
  void hand_over(std::int32_t buffer) { held_.erase(buffer); }
  void run(BlockPass pass) {
    for (const Instruction& i : program_.pass(pass)) {
      const auto operands = program_.operands_of(i);
      REQUIRE_FALSE(operands.empty());
      if (i.kind == InstructionKind::allocate) {
        hold(operands.front(), i.memory_class);
        continue;
      }
      for (const std::int32_t operand : operands) REQUIRE((operand < 0 || held_.count(operand) == 1));
      if (i.kind != InstructionKind::kernel) REQUIRE(operands.front() >= 0);
      if (i.kind == InstructionKind::release) held_.erase(operands.front());
      if (i.kind == InstructionKind::reclassify) held_[operands.front()] = i.memory_class;
    }
  }
  [[nodiscard]] const Held& held() const { return held_; }

 private:
  const BlockProgram& program_;
  std::vector<bool> was_allocated_;
  Held held_;
};

void require_kept(const Held& held) {
  for (const auto& [buffer, memory_class] : held) REQUIRE(memory_class != MemoryClass::working_buffers);
}

void require_lives(const BlockProgram& program) {
  Lives forward(program);
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    forward.hold(program.inputs[i], program.keeps_input[i] ? MemoryClass::activations : MemoryClass::working_buffers);
  for (const std::int32_t constant : program.constants) forward.hold(constant, MemoryClass::activations);
  forward.run(BlockPass::forward);
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    REQUIRE(forward.held().count(program.outputs[i]) == 1);
    if (!program.keeps_output[i]) forward.hand_over(program.outputs[i]);
  }
  require_kept(forward.held());

  for (const BlockPass pass : {BlockPass::backward, BlockPass::backward_input}) {
    Lives lives = forward;
    for (const std::int32_t gradient : program.output_gradients_of(pass))
      lives.hold(gradient, MemoryClass::working_buffers);
    lives.run(BlockPass::recompute);
    lives.run(pass);
    for (const std::int32_t gradient : program.input_gradients_of(pass))
      REQUIRE((gradient < 0 || lives.held().count(gradient) == 1));
    if (pass == BlockPass::backward) continue;
    lives.run(BlockPass::keep_for_weights);
    require_kept(lives.held());
    lives.run(BlockPass::weight);
    require_kept(lives.held());
  }
}

/// Bytes by kind, as wire_bytes takes them; how often each runs.
struct Sent {
  std::map<Collective, int> calls;
  std::map<Collective, Bytes> bytes;
  void add(Collective kind, Bytes of_one, int count = 1) {
    calls[kind] += count;
    bytes[kind] += of_one;
  }
  bool operator==(const Sent&) const = default;
};

Sent tensor_collectives(const BlockProgram& program, BlockPass pass, const Block& block, const Shard& shard) {
  Sent sent;
  for (const Instruction& i : program.pass(pass)) {
    if (i.kind != InstructionKind::collective || i.axis != Axis::tensor) continue;
    sent.add(i.collective, Bytes(0));
    const auto operands = program.operands_of(i);
    const auto bytes = [&](std::size_t n) { return program.buffers[static_cast<std::size_t>(operands[n])].bytes; };
    if (i.collective == Collective::all_gather) REQUIRE(bytes(0) < bytes(1));
    if (i.collective == Collective::reduce_scatter) REQUIRE(bytes(0) > bytes(1));
  }
  for (const BlockSend& send : block_sends(program, pass, block, shard))
    if (send.axis == Axis::tensor) sent.add(send.kind, send.bytes, 0);
  return sent;
}

/// Of the formulas (tests/tensor_parallel_points.h).
void require_collectives(const BlockProgram& program, const Block& block, const Shard& shard) {
  const bool slices = shard.sequence_ranks() > 1;
  Sent forward;
  Sent backward;
  for (const TensorParallelPoint& point : tensor_parallel_points(block, shard)) {
    switch (point.kind) {
      case PointKind::enter:
        if (slices) forward.add(Collective::all_gather, point.bytes);
        if (slices && point.trains) backward.add(Collective::all_gather, point.bytes);
        if (point.needs_gradient)
          backward.add(slices ? Collective::reduce_scatter : Collective::all_reduce, point.bytes);
        break;
      case PointKind::leave:
        forward.add(slices ? Collective::reduce_scatter : Collective::all_reduce, point.bytes);
        if (slices && point.needs_gradient) backward.add(Collective::all_gather, point.bytes);
        break;
      case PointKind::loss:
        forward.add(Collective::all_reduce, point.bytes, 2);  // maxima, then sums
        break;
    }
  }
  CHECK(tensor_collectives(program, BlockPass::forward, block, shard) == forward);
  CHECK(tensor_collectives(program, BlockPass::backward, block, shard) == backward);
}

std::vector<Replay> some_replays(const Block& block, Dice& dice) {
  std::vector<Replay> replays(1);
  if (block.kind() != BlockKind::layer) return replays;
  const std::size_t ops = block.ops().size();
  replays.push_back({std::vector<bool>(ops, true), RecomputeMode::full});
  Replay drawn{std::vector<bool>(ops, false), RecomputeMode::modules};
  for (std::size_t i = 0; i < ops; ++i) drawn.replayed[i] = dice.one_in(2);
  replays.push_back(drawn);
  return replays;
}

void require_programs(std::uint64_t seed, int runs) {
  RandomRuns random(seed);
  Dice dice(seed);
  for (int n = 0; n < runs; ++n) {
    const RandomRun run = random.next();
    Shard shard = shard_of(run.strategy, run.training);
    shard.kept.product_inputs =
        dice.one_of({ProductInputs::as_read, ProductInputs::as_multiplied, ProductInputs::shared});
    if (dice.one_in(2)) shard.kept.expert_weighting = ExpertWeighting::of_activations;
    Shard keeping = shard;
    keeping.kept.gathered_inputs = GatheredInputs::kept;
    INFO(run.network << "; " << to_text(run.strategy));
    for (const Block& block : run.graph.blocks()) {
      const BlockLowering lowering(block, shard);
      const BlockLowering lowering_kept(block, keeping);
      for (const Replay& replay : some_replays(block, dice)) {
        const BlockProgram program = lowering.lower(replay);
        INFO(block.name() << '\n' << to_text(program, block));
        require_lives(program);
        require_collectives(program, block, shard);
        require_lives(lowering_kept.lower(replay));
      }
    }
  }
}

/// The same degrees of parallelism are one or more than one: so many shards have the same instructions.
Shard drawn_shard(Shard shard, Dice& dice) {
  shard.tensor_parallel = dice.one_of({1, 2, 4, 8});
  shard.sequence_parallel = shard.tensor_parallel > 1 && dice.one_in(2) ? SequenceParallel::on : SequenceParallel::off;
  shard.context_parallel = dice.one_of({1, 2, 4});
  shard.expert_parallel = dice.one_of({1, 2, 4, 8});
  shard.expert_tensor_parallel = dice.one_of({1, 2});
  shard.flash_attention = dice.one_in(2) ? FlashAttention::on : FlashAttention::off;
  shard.lengths.batch = dice.one_of<std::int64_t>({1, 2, 3});
  return shard;
}

auto parts(const Instruction& i) {
  return std::tuple(i.kind, i.role, i.collective, i.reduction, i.axis, i.direction, i.memory_class, i.accumulates, i.op,
                    i.waits_for, i.first_operand, i.operand_count);
}

void require_equal(const BlockProgram& known, const BlockProgram& own) {
  for (std::size_t p = 0; p < block_pass_count; ++p)
    REQUIRE(std::equal(known.passes[p].begin(), known.passes[p].end(), own.passes[p].begin(), own.passes[p].end(),
                       [](const Instruction& a, const Instruction& b) { return parts(a) == parts(b); }));
  REQUIRE(known.operands == own.operands);
  REQUIRE(known.buffers.size() == own.buffers.size());
  for (std::size_t b = 0; b < own.buffers.size(); ++b) {
    REQUIRE(known.buffers[b].bytes == own.buffers[b].bytes);
    REQUIRE(known.buffers[b].rows == own.buffers[b].rows);
    REQUIRE(known.buffers[b].like == own.buffers[b].like);
  }
  REQUIRE(known.keeps_input == own.keeps_input);
  REQUIRE(known.keeps_output == own.keeps_output);
}

TEST_CASE("a block that was lowered for another shard has the instructions and the bytes of its own") {
  RandomRuns random(3);
  Dice dice(3);
  for (int n = 0; n < 60; ++n) {
    const RandomRun run = random.next();
    for (const Block& block : run.graph.blocks()) {
      KnownPrograms known;
      const std::vector<Replay> replays = some_replays(block, dice);
      for (int drawn = 0; drawn < 12; ++drawn) {
        const Shard shard = drawn_shard(shard_of(run.strategy, run.training), dice);
        for (const Replay& replay : replays)
          require_equal(BlockLowering(block, shard, &known).lower(replay), BlockLowering(block, shard).lower(replay));
      }
    }
  }
}

TEST_CASE("a copy of known programs, which is for other blocks, begins empty") {
  RandomRuns random(4);
  const RandomRun run = random.next();
  const Block& block = run.graph.blocks().front();
  KnownPrograms known;
  const KnownPrograms::Key key{&block, {1, 2}};
  known.keep(key, BlockLowering(block, shard_of(run.strategy, run.training)).lower({}));
  CHECK(known.find(key) != nullptr);
  const KnownPrograms copy = known;
  CHECK(copy.find(key) == nullptr);
  known = copy;
  CHECK(known.find(key) == nullptr);
}

TEST_CASE("instructions of a block use what is allocated and leave what is kept") { require_programs(1, 200); }

TEST_CASE("instructions of five thousand random layouts use what is allocated", "[long]") { require_programs(2, 5000); }

}  // namespace
}  // namespace plumbline
