// Random plans whose program is read four times: its blocks' instructions summed up, simulated, executed, and in closed
// form. Bytes held and sent are the same in all of them. What is not executed is counted by its sentence.
#include <chrono>
#include <cstdio>

#include "core/cost/stage_memory.h"
#include "tests/closed_form_bounds.h"
#include "tests/execution_checks.h"
#include "tests/instruction_fold.h"
#include "tests/random_strategies.h"

namespace plumbline {
namespace {

/// Of what runs inside of a step's micro-batches.
Bytes sent_in_passes(const RankProgram& rank, ActionKind kind) {
  Bytes sum(0);
  for (const Action& a : rank.actions)
    if (a.kind() == kind && a.pass() != Pass::step) sum += a.bytes();
  return sum;
}

/// A rank's instructions against its program, which is simulated and executed: bytes held while each block runs, and
/// bytes sent in a step.
void require_folded(const LoweredPlan& plan, const RankProgram& rank) {
  const Shard shard = shard_of(plan.strategy, plan.training);
  const RankBlocks blocks(plan.graph, shard, plan.replays, rank, plan.strategy.schedule);
  InstructionMemory instructions(blocks);
  BlockBuffers buffers(rank);
  for (const Action& action : rank.actions) {
    const MemoryBreakdown of_program = buffers.most_during(action);
    const auto held = instructions.most_during(action);
    if (!held) continue;
    INFO(to_text(action) << " of chunk " << action.chunk << ", block " << action.segment());
    for (const MemoryClass c : {MemoryClass::activations, MemoryClass::working_buffers, MemoryClass::logits_and_loss}) {
      INFO(to_text(c));
      REQUIRE((*held)[c].value() == of_program[c].value());
    }
  }
  REQUIRE(instructions.is_empty());
  const WireBytes sent = sent_by_instructions(blocks, rank);
  CHECK(sent.tensor == sent_in_passes(rank, ActionKind::tensor_collective));
  CHECK(sent.context == sent_in_passes(rank, ActionKind::context_collective));
  CHECK(sent.expert == sent_in_passes(rank, ActionKind::expert_collective));
}

/// The time of one byte in each of a step's gathers and reductions: a program divides them by whole bytes, the closed
/// form exactly, which shows where a rank trains a hundred parameters.
Picoseconds of_whole_bytes(const Program& program, const ActionTimes& times) {
  Picoseconds sum(0);
  for (std::size_t r = 0; r < program.ranks.size(); ++r)
    for (std::size_t i = 0; i < program.ranks[r].actions.size(); ++i) {
      const Action& a = program.ranks[r].actions[i];
      if (a.stream() == Stream::data && a.bytes() > Bytes(0)) sum += times.of_rank[r][i] / a.bytes().value();
    }
  return sum;
}

class OneProgram {
 public:
  explicit OneProgram(std::int64_t seed) : seed_(seed) {}

  void add(std::int64_t number) {
    const RandomRun run = random_run(seed_, number);
    INFO("seed " << seed_ << ", run " << number << ": " << text_of(run));
    ++drawn_;
    try {
      compare(run);
      ++equal_;
    } catch (const InputError& refused) {
      ++refused_[without_numbers(refused.what())];
    } catch (const std::exception& failed) {
      FAIL_CHECK(failed.what());
    }
  }
  [[nodiscard]] std::int64_t equal() const { return equal_; }
  [[nodiscard]] std::int64_t drawn() const { return drawn_; }

  void print() const {
    std::printf(
        "%ld plans drawn, %ld folded, simulated and executed with the same bytes; %ld of them share no states\n",
        static_cast<long>(drawn_), static_cast<long>(equal_), static_cast<long>(alike_));
    std::printf("  simulated step against closed form: at most %.2g where no states are shared, else %.2g\n",
                furthest_alike_, furthest_shared_);
    for (const auto& [sentence, count] : refused_) std::printf("%6d refused: %s\n", count, sentence.c_str());
  }

 private:
  void compare(const RandomRun& run) {
    const LoweredPlan plan(run.graph, run.strategy, run.training, runtime_calibration(run.scatters()));
    RunOptions one_step = options(1);
    one_step.data = random_tokens(run.vocabulary, 4000);
    one_step.ranks.deadline = std::chrono::milliseconds(120'000);
    const RunRecord record = train(routed(plan, ExpertRouting::balanced), one_step);
    require_bytes(plan, record);
    for (std::size_t stage = 0; stage < plan.program.ranks.size(); ++stage) {
      INFO("stage " << stage);
      require_folded(plan, plan.program.ranks[stage]);
    }
    require_closed_form(plan);
  }

  /// Of the program of chunks (docs/simulate.md, "How near the closed form is").
  void require_closed_form(const LoweredPlan& plan) {
    const Strategy& s = plan.strategy;
    const StackCalibration& stack = plan.calibration.stack;
    const StageTable ranks(plan.graph, plan.layout, plan.blocks);
    const PricedPlan priced{plan.graph, s, plan.training, stack, plan.steps, ranks, plan.blocks};
    const SizedPlan sizes = priced.sizes();
    const SegmentTable segments(sizes, Granularity::chunk);
    const Program program = lower(lowering_input(sizes, segments));
    const ActionTimes times = action_times(priced, segments, program);
    const Simulation simulated = simulate(program, times, stack.memory.fragmentation_fraction);
    for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const MemoryBreakdown closed =
          stage_memory(ranks[r], rank_load(ranks, s, rank, kept_gradients(s, stack.features, plan.training.formats())),
                       s, plan.training.formats(), plan.training.optimizer, stack);
      INFO("stage " << rank);
      CHECK(simulated.memory[r].memory.by_class == closed.by_class);
    }
    const Picoseconds closed = plan.steps.price(ranks, s).breakdown.total();
    CHECK(simulated.time.total() == simulated.step());
    CHECK(plan.steps.lower_bound(ranks, s) <= closed);
    const double apart = std::abs(to_seconds(simulated.step()) / to_seconds(closed) - 1);
    double& furthest = shares_states(s) ? furthest_shared_ : furthest_alike_;
    furthest = std::max(furthest, apart);
    if (!shares_states(s)) ++alike_;
    const double rounded = to_seconds(of_whole_bytes(program, times)) / to_seconds(closed);
    CHECK(apart <= documented_bound(s) + rounded);
  }

  std::int64_t seed_;
  std::int64_t drawn_ = 0;
  std::int64_t equal_ = 0;
  std::int64_t alike_ = 0;
  double furthest_alike_ = 0;
  double furthest_shared_ = 0;
  std::map<std::string, int> refused_;
};

void require_one_program(std::int64_t seed, std::int64_t first, std::int64_t plans) {
  OneProgram campaign(seed);
  std::int64_t number = first;
  while (campaign.equal() < plans && campaign.drawn() < 3 * plans) campaign.add(number++);
  campaign.print();
  CHECK(campaign.equal() == plans);
}

TEST_CASE("random plans hold and send what their instructions say, simulated and executed") {
  require_one_program(3, 0, sanitized ? 5 : 25);
}

TEST_CASE("a thousand random plans hold and send what their instructions say", "[long]") {
  require_one_program(4, 0, 1000);
}

// make one-program
TEST_CASE("a campaign of random plans read four times", "[.campaign]") {
  require_one_program(environment_number("SEED", 1), environment_number("FIRST", 0), environment_number("N", 1000));
}

}  // namespace
}  // namespace plumbline
