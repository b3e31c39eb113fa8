// Closed form against simulated program over random legal plans: step time, its causes, and peak memory.

#include <random>

#include "core/cost/stage_memory.h"
#include "core/program/buffer_check.h"
#include "core/program/program_walk.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::simulation_agreement_test {
namespace {

struct Asked {
  const char* model;
  const char* machine;
  std::int64_t devices;
  std::int64_t sequence;
  std::int64_t batch;
};
/// The fifth and the last have slow links between nodes: hops that are no small part of a chunk.
constexpr std::array questions{
    Asked{"llama-3-8b", "dgx-h100", 16, 4096, 64},           Asked{"gpt2-xl", "dgx-a100-80g", 8, 1024, 48},
    Asked{"mixtral-8x7b", "dgx-h100", 32, 4096, 64},         Asked{"t5-large", "dgx1-v100", 8, 512, 32},
    Asked{"llama-3.2-1b", "rtx4090-pcie", 16, 2048, 32},     Asked{"gpt3-175b", "dgx-a100-80g", 128, 2048, 256},
    Asked{"gpt2-xl", "a100-80g-ethernet-100g", 32, 1024, 64}};

Question asked_question(const Asked& asked) {
  return question_of(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch);
}

/// Legal plans of every schedule, of splits that the search leaves out as well.
class RandomPlans {
 public:
  explicit RandomPlans(const Question& question) : question_(question), usual_(legal_plans(question)) {}

  Strategy next(std::mt19937_64& bits) const {
    const Strategy usual = usual_[bits() % usual_.size()];
    if (usual.pipeline_stages == 1) return usual;
    for (int tries = 0; tries < 8; ++tries) {
      Strategy s = usual;
      s.schedule = all_schedules[1 + bits() % (all_schedules.size() - 1)];
      s.virtual_stages = 1;
      if (placement(s.schedule) == StagePlacement::v_shaped) s.virtual_stages = 2;
      if (s.schedule == Schedule::interleaved) s.virtual_stages = 2 + static_cast<std::int32_t>(bits() % 7);
      if (is_legal(s) && !is_long(s)) return s;
    }
    return usual;
  }

 private:
  [[nodiscard]] bool is_legal(const Strategy& s) const {
    return !first_violation(s, question_.training(), question_.facts(), question_.limits());
  }
  /// V-Half's order is packed in O((p m)^2).
  static bool is_long(const Strategy& s) {
    return s.schedule == Schedule::v_half && s.pipeline_stages * s.micro_batches > 600;
  }
  const Question& question_;
  std::vector<Strategy> usual_;
};

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
    const SizedPlan sizes = plan.sizes();
    const SegmentTable segments(sizes, Granularity::chunk);
    const Program program = lower(lowering_input(sizes, segments));
    REQUIRE_FALSE(dry_run(program));
    REQUIRE_FALSE(buffer_fault(program));
    const Simulation simulated =
        simulate(program, action_times(plan, segments, program), stack.memory.fragmentation_fraction);
    INFO(question.text().model << ' ' << to_text(s));
    compare_time(plan, simulated);
    for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) compare_memory(plan, simulated, rank);
  }

  [[nodiscard]] std::string report() const {
    std::string all;
    for (const auto& [name, d] : time_) all += text("step time, " + name, d);
    return all;
  }
  [[nodiscard]] const Distribution& all() const { return all_; }

 private:
  void compare_time(const PricedPlan& plan, const Simulation& simulated) {
    const TimeBreakdown closed = plan.steps.price(plan.ranks, plan.strategy).breakdown;
    REQUIRE(simulated.time.total() == simulated.step());
    for (const TimeCause cause :
         {TimeCause::recompute, TimeCause::offload, TimeCause::tensor_parallel, TimeCause::context_parallel,
          TimeCause::expert_parallel, TimeCause::optimizer, TimeCause::step_overhead})
      REQUIRE(to_seconds(simulated.time[cause]).value() == Approx(to_seconds(closed[cause]).value()).epsilon(1e-9));
    REQUIRE(plan.steps.lower_bound(plan.ranks, plan.strategy) <= closed.total());
    const double simulated_s = to_seconds(simulated.step()).value();
    const double priced = to_seconds(closed.total()).value();
    const bool shares = plan.strategy.gradient_ranks() > 1 || plan.strategy.expert_gradient_ranks() > 1;
    if (!shares) REQUIRE(simulated_s == Approx(priced).epsilon(1e-6));
    all_.add(simulated_s, priced);
    time_[std::string(to_text(plan.strategy.schedule)) + (shares ? ", states shared" : "")].add(simulated_s, priced);
  }

  static void compare_memory(const PricedPlan& plan, const Simulation& simulated, std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    const MemoryBreakdown closed =
        stage_memory(plan.ranks[r],
                     rank_load(plan.ranks, plan.strategy, rank,
                               kept_gradients(plan.strategy, plan.stack.features, plan.training.formats())),
                     plan.strategy, plan.training.formats(), plan.training.optimizer, plan.stack);
    INFO("rank " << rank);
    REQUIRE(simulated.memory[r].memory.by_class == closed.by_class);
  }

  std::map<std::string, Distribution> time_;
  Distribution all_;
};

void compare_random_plans(std::size_t plans_per_question) {
  Comparison comparison;
  std::mt19937_64 bits(20240817);
  for (const Asked& asked : questions) {
    const Question question = asked_question(asked);
    const RandomPlans plans(question);
    for (std::size_t n = 0; n < plans_per_question; ++n) comparison.add(question, plans.next(bits));
  }
  WARN("simulated against closed form:\n" << comparison.report());
  CHECK(comparison.all().quantile(0.5) <= 0.01);
  CHECK(comparison.all().quantile(1) <= 0.05);
}

TEST_CASE("closed form and simulated program agree over random plans") { compare_random_plans(80); }
TEST_CASE("closed form and simulated program agree over ten thousand random plans", "[long]") {
  compare_random_plans(1500);
}

// Each question with the stack of the zero-bubble fork in place of its own: ranks start their next step early.
TEST_CASE("closed form and simulated program agree where ranks do not wait for each other between steps") {
  Comparison comparison;
  std::mt19937_64 bits(20240110);
  int early = 0;
  for (const Asked& asked : {questions[0], questions[5], Asked{"zb-gpt-1.5b", "dgx-a100-80g", 16, 1024, 96}}) {
    QuestionText text;
    text.model = asked.model;
    text.machine = asked.machine;
    text.devices = asked.devices;
    text.training.sequence_length = asked.sequence;
    text.training.global_batch = asked.batch;
    text.stack = "megatron-zero-bubble";
    const Question question(text);
    const RandomPlans plans(question);
    for (int n = 0; n < 300; ++n) {
      const Strategy s = plans.next(bits);
      if (!splits_backward(s.schedule) || s.schedule == Schedule::dualpipev) continue;
      comparison.add(question, s);
      ++early;
    }
  }
  WARN("simulated against closed form:\n" << comparison.report());
  CHECK(early > 200);
  CHECK(comparison.all().quantile(0.5) <= 0.01);
  CHECK(comparison.all().quantile(1) <= 0.05);
}

// Steps of one micro-batch under PyTorch without a framework, which makes gradients and 16-bit copies anew.
TEST_CASE("closed form and simulated program agree where a step's tensors are not there from its start") {
  Comparison comparison;
  int late = 0;
  for (const Asked& asked : {Asked{"llama-3.2-1b", "dgx-h100", 1, 2048, 4}, Asked{"gpt2-xl", "dgx-h100", 3, 1024, 6},
                             Asked{"llama-3-8b", "dgx-h100", 4, 4096, 4}}) {
    QuestionText text = question_text(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch);
    text.stack = "pytorch-2.9";
    const Question question(text);
    std::vector<Strategy> plans = legal_plans(question);
    std::erase_if(plans, [](const Strategy& s) { return s.micro_batches > 1 || s.pipeline_stages > 1; });
    std::mt19937_64 bits(20261126);
    for (int n = 0; n < 40; ++n) {
      const Strategy& s = plans[bits() % plans.size()];
      comparison.add(question, s);
      if (s.gradient_ranks() == 1 || s.recompute.mode == RecomputeMode::full) ++late;
    }
  }
  CHECK(late > 20);
}

// As PyTorch's pipelines keep and reduce them (ShardedGradients).
TEST_CASE("closed form and simulated program agree where gradients wait for their chunk's last backward") {
  Comparison comparison;
  for (const Asked& asked :
       {Asked{"llama-3-8b", "dgx-h100", 16, 4096, 96}, Asked{"gpt2-xl", "dgx-a100-80g", 24, 1024, 288},
        Asked{"mixtral-8x7b", "dgx-h100", 32, 4096, 256}}) {
    QuestionText text = question_text(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch);
    for (const char* stack : {"torchtitan-2024.12", "megatron-core-0.12+sharded_gradients=last_backward"}) {
      text.stack = stack;
      const Question question(text);
      const RandomPlans plans(question);
      std::mt19937_64 bits(20261129);
      int left = 40;
      for (int n = 0; n < 800 && left > 0; ++n) {
        const Strategy s = plans.next(bits);
        if (s.zero_stage < 2 || s.pipeline_stages == 1) continue;
        comparison.add(question, s);
        --left;
      }
    }
  }
  WARN("simulated against closed form:\n" << comparison.report());
  CHECK(comparison.all().count() >= 200);
  CHECK(comparison.all().quantile(0.5) <= 0.01);
  CHECK(comparison.all().quantile(1) <= 0.02);
}

/// Layers of `chunks` chunks, at least one each, drawn at random.
std::vector<std::int32_t> random_layers(std::int64_t layers, std::int32_t chunks, std::mt19937_64& bits) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(chunks), 1);
  for (std::int64_t left = layers - chunks; left > 0; --left) ++result[bits() % result.size()];
  return result;
}

bool replays(const Question& question, const Strategy& s) {
  const StageLayout layout = layout_of(question, s);
  const std::vector<std::int32_t>& variants = layout.arrangement.variants;
  return std::any_of(variants.begin(), variants.end(), [](std::int32_t v) { return v != Variant::kept; });
}

void compare_placed_plans(int plans_per_question, int draws, int least) {
  Comparison comparison;
  std::mt19937_64 bits(7);
  int placed = 0;
  for (const Asked& asked : questions) {
    const Question question = asked_question(asked);
    std::vector<Strategy> plans = legal_plans(question);
    std::erase_if(plans, [](const Strategy& s) { return s.recompute.mode != RecomputeMode::placed; });
    int most = plans_per_question;
    for (int n = 0; n < draws && most > 0; ++n) {
      Strategy s = plans[bits() % plans.size()];
      if (n % 2 == 1 && s.chunks() <= question.facts().layers)
        s.layers_per_stage = random_layers(question.facts().layers, s.chunks(), bits);
      if (!replays(question, s)) continue;
      comparison.add(question, s);
      ++placed;
      --most;
    }
  }
  WARN("simulated against closed form:\n" << comparison.report());
  CHECK(placed >= least);
  CHECK(comparison.all().count() == static_cast<std::size_t>(placed));
  CHECK(comparison.all().quantile(1) <= 0.05);
}

TEST_CASE("plans with placed recompute, their layers split anyhow, take what the closed form says") {
  compare_placed_plans(3, 150, 8);
}
TEST_CASE("hundreds of plans with placed recompute take what the closed form says", "[long]") {
  compare_placed_plans(25, 2000, 60);
}

/// Where states are shared, single blocks tell what a mean hides: an embedding's gather alongside next to no compute.
/// They then take longer, but never longer than without any overlap.
TEST_CASE("programs of single blocks take as long as those of chunks, and hold no more") {
  const Question question = asked_question(questions[0]);
  const std::vector<Strategy> plans = legal_plans(question);
  std::mt19937_64 bits(5);
  int alike = 0;
  double furthest = 0;
  for (int n = 0; n < 200; ++n) {
    const Strategy& s = plans[bits() % plans.size()];
    CAPTURE(to_text(s));
    const Simulation chunks = simulated(question, s).simulation;
    const Simulation blocks = simulated(question, s, {Granularity::block, {}, {}}).simulation;
    const double ratio = to_seconds(blocks.step()) / to_seconds(chunks.step());
    if (s.gradient_ranks() == 1) {
      ++alike;
      CHECK(ratio == Approx(1).epsilon(1e-6));
    }
    CHECK(ratio >= 0.99);
    furthest = std::max(furthest, ratio);
    CHECK(blocks.time.total() == blocks.step());
    for (std::size_t rank = 0; rank < chunks.memory.size(); ++rank)
      CHECK(blocks.memory[rank].memory.device_total() <= chunks.memory[rank].memory.device_total());
  }
  WARN("single blocks take at most " << furthest << " times as long as chunks");
  CHECK(furthest < 1.15);
  CHECK(alike > 0);
}

TEST_CASE("schedules that split the backward run to their end") {
  const Question question = asked_question(questions[0]);
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 4;
  partial.schedule_given = true;
  for (const Schedule schedule : all_schedules) {
    if (!splits_backward(schedule)) continue;
    partial.strategy.schedule = schedule;
    partial.strategy.virtual_stages = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
    const SimulatedPlan plan = simulated(question, completed(partial, question));
    CAPTURE(to_text(schedule));
    CHECK(plan.simulation.time.total() == plan.simulation.step());
    CHECK(plan.simulation.time[TimeCause::pipeline_bubble] > Picoseconds(0));
  }
}

}  // namespace
}  // namespace plumbline::simulation_agreement_test
