// Closed form against simulated program over random legal plans: step time, its causes, and peak memory.

#include <random>

#include "core/cost/closed_form_scope.h"
#include "core/cost/stage_memory.h"
#include "core/program/buffer_check.h"
#include "core/program/play_program.h"
#include "planner/question/priced.h"
#include "planner/question/simulated.h"
#include "planner/search/space.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

struct Asked {
  const char* model;
  const char* machine;
  std::int64_t devices;
  std::int64_t sequence;
  std::int64_t batch;
};
constexpr std::array questions{
    Asked{"llama-3-8b", "dgx-h100", 16, 4096, 64},       Asked{"gpt2-xl", "dgx-a100-80g", 8, 1024, 48},
    Asked{"mixtral-8x7b", "dgx-h100", 32, 4096, 64},     Asked{"t5-large", "dgx1-v100", 8, 512, 32},
    Asked{"llama-3.2-1b", "rtx4090-pcie", 16, 2048, 32}, Asked{"gpt3-175b", "dgx-a100-80g", 128, 2048, 256}};

Question question_of(const Asked& asked) {
  QuestionText text;
  text.model = asked.model;
  text.machine = asked.machine;
  text.devices = asked.devices;
  text.training.sequence_length = asked.sequence;
  text.training.global_batch = asked.batch;
  return Question(text);
}

std::vector<Strategy> legal_plans(const Question& question) {
  const SpaceEnumerator space(question, {});
  std::vector<Strategy> all;
  space.for_each_family([&](const Strategy& family, const Violation* violation, std::int64_t) {
    if (violation != nullptr) return;
    const std::vector<Strategy> leaves = space.leaves(family);
    all.insert(all.end(), leaves.begin(), leaves.end());
  });
  return all;
}

/// How far simulations are from the closed form, as fractions of it.
class Distribution {
 public:
  void add(double simulated, double closed) { sizes_.push_back(std::abs(simulated / closed - 1)); }
  [[nodiscard]] std::size_t count() const { return sizes_.size(); }
  [[nodiscard]] double quantile(double q) const {
    std::vector<double> sorted = sizes_;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  }

 private:
  std::vector<double> sizes_;
};

std::string text(const std::string& name, const Distribution& d) {
  std::ostringstream out;
  out << "  " << name << ": " << d.count() << ", median " << 100 * d.quantile(0.5) << " %, 99 of 100 within "
      << 100 * d.quantile(0.99) << " %, worst " << 100 * d.quantile(1) << " %\n";
  return out.str();
}

/// Everything that the two ways say of one plan.
class Comparison {
 public:
  void add(const Question& question, const Strategy& s) {
    const std::vector<BlockCost> blocks = block_costs(question, s);
    const StageLayout layout = layout_of(question, s);
    const StageTable ranks(question.graph(), layout, blocks);
    const StackCalibration& stack = question.calibration().stack;
    const PricedPlan plan{question.graph(), s, question.training(), stack, question.step_pricer(), ranks, blocks};
    const PieceTable pieces(plan, Granularity::chunk);
    const Program program = lower(lowering_input(plan, pieces));
    REQUIRE_FALSE(dry_run(program));
    REQUIRE_FALSE(buffer_fault(program));
    const Simulation played = simulate(program, action_times(plan, pieces, program), stack.fragmentation_fraction);
    compare_time(plan, pieces, played);
    for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) compare_memory(plan, pieces, played, rank);
  }

  [[nodiscard]] std::string report() const {
    std::string all;
    for (const auto& [name, d] : time_) all += text("step time, " + name, d);
    for (const auto& [name, d] : memory_) all += text("peak of a rank, " + name, d);
    return all;
  }
  [[nodiscard]] const Distribution& sharp() const { return sharp_; }

 private:
  void compare_time(const PricedPlan& plan, const PieceTable& pieces, const Simulation& played) {
    const TimeBreakdown closed = plan.steps.price(plan.ranks, plan.strategy).breakdown;
    REQUIRE(played.time.total() == played.step());
    for (const TimeCause cause : {TimeCause::recompute, TimeCause::tensor_parallel, TimeCause::context_parallel,
                                  TimeCause::expert_parallel, TimeCause::optimizer, TimeCause::step_overhead})
      REQUIRE(to_seconds(played.time[cause]).value() == Approx(to_seconds(closed[cause]).value()).epsilon(1e-9));
    const bool sharp = has_sharp_step_time(plan, pieces);
    const auto add = [&](Distribution& d) {
      d.add(to_seconds(played.step()).value(), to_seconds(closed.total()).value());
    };
    if (sharp) add(sharp_);
    add(time_[std::string(to_text(plan.strategy.schedule)) + (sharp ? "" : ", out of scope")]);
  }

  void compare_memory(const PricedPlan& plan, const PieceTable& pieces, const Simulation& played, std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    const MemoryBreakdown closed =
        stage_memory(plan.ranks[r], plan.strategy, plan.training.formats(), plan.training.optimizer, plan.stack, rank);
    const MemoryBreakdown& simulated = played.memory[r].memory;
    const bool sharp = has_sharp_memory(plan, pieces, rank);
    if (sharp) {
      INFO(to_text(plan.strategy));
      REQUIRE(simulated.by_class == closed.by_class);
    }
    memory_[sharp ? "chunks alike" : "chunks that differ"].add(static_cast<double>(simulated.device_total().value()),
                                                               static_cast<double>(closed.device_total().value()));
  }

  std::map<std::string, Distribution> time_;
  std::map<std::string, Distribution> memory_;
  Distribution sharp_;
};

void compare_random_plans(std::size_t plans_per_question) {
  Comparison comparison;
  std::mt19937_64 bits(20240817);
  for (const Asked& asked : questions) {
    const Question question = question_of(asked);
    const std::vector<Strategy> plans = legal_plans(question);
    for (std::size_t n = 0; n < plans_per_question; ++n) comparison.add(question, plans[bits() % plans.size()]);
  }
  WARN("simulated against closed form:\n" << comparison.report());
  CHECK(comparison.sharp().quantile(0.5) <= 0.01);
  CHECK(comparison.sharp().quantile(1) <= 0.05);
}

TEST_CASE("closed form and simulated program agree over random plans") { compare_random_plans(80); }
TEST_CASE("closed form and simulated program agree over ten thousand random plans", "[long]") {
  compare_random_plans(1700);
}

TEST_CASE("programs of single blocks take as long as those of chunks, and hold no more") {
  const Question question = question_of(questions[0]);
  const std::vector<Strategy> plans = legal_plans(question);
  std::mt19937_64 bits(5);
  for (int n = 0; n < 40; ++n) {
    const Strategy& s = plans[bits() % plans.size()];
    CAPTURE(to_text(s));
    const Simulation chunks = played(question, s).simulation;
    const Simulation blocks = played(question, s, Granularity::block).simulation;
    CHECK(to_seconds(blocks.step()).value() == Approx(to_seconds(chunks.step()).value()).epsilon(1e-6));
    for (std::size_t rank = 0; rank < chunks.memory.size(); ++rank)
      CHECK(blocks.memory[rank].memory.device_total() <= chunks.memory[rank].memory.device_total());
  }
}

TEST_CASE("schedules that split the backward play to their end") {
  const Question question = question_of(questions[0]);
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 4;
  partial.schedule_given = true;
  for (const Schedule schedule : all_schedules) {
    if (!splits_backward(schedule)) continue;
    partial.strategy.schedule = schedule;
    partial.strategy.virtual_stages = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
    const PlayedPlan plan = played(question, completed(partial, question));
    CAPTURE(to_text(schedule));
    CHECK(plan.simulation.time.total() == plan.simulation.step());
    CHECK(plan.simulation.time[TimeCause::pipeline_bubble] > Picoseconds(0));
  }
}

}  // namespace
}  // namespace plumbline
