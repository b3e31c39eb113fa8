// Runs drawn at random over all axes, networks and recipes: one rank's losses, gradients and weights, the predicted
// bytes of every memory class and group, and the same bits twice. What is refused is counted by its sentence.
#include "tests/random_strategies.h"

#include <chrono>
#include <cstdio>
#include <cstring>

#include "runtime/run/capability_check.h"
#include "tests/execution_checks.h"
#include "tests/step_comparison.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

/// The same batch on one rank.
Strategy alone(const RandomRun& run) {
  Strategy s;
  s.micro_batch = run.strategy.micro_batch;
  s.micro_batches = run.training.global_batch / s.micro_batch;
  s.flash_attention = run.strategy.flash_attention;
  return s;
}

RunOptions options_of(const RandomRun& run) {
  RunOptions o = options(2);
  o.data = random_tokens(run.vocabulary, 4000);
  o.ranks.deadline = std::chrono::milliseconds(120'000);
  return o;
}

/// How far losses and gradients of two runs from one state may lie apart: what rounding to the format of the products
/// makes of sums in another order.
struct Tolerances {
  double loss = 1e-5;
  double gradients = 5e-5;
};
bool has_fp32_gradients(const Training& t) { return t.formats().gradient == NumberFormat::fp32; }
Tolerances tolerances(const Training& t) {
  switch (t.precision) {
    case PrecisionRecipe::fp32: return {1e-5, has_fp32_gradients(t) ? 5e-5 : 6e-2};
    case PrecisionRecipe::tf32: return {2e-3, has_fp32_gradients(t) ? 1e-2 : 6e-2};
    case PrecisionRecipe::fp8: return {3e-2, 0.35};
    default: return {1e-2, 6e-2};
  }
}

/// One step of a run and the same step on one rank.
struct SameStep {
  const WholeTensors& gradients;
  const WholeTensors& weights;
  const StepRecord& record;
  [[nodiscard]] TakenStep taken() const { return taken_step(gradients, weights, record); }
};

/// The largest of each statistic, by recipe and optimizer.
struct Largest {
  double loss = 0;
  double gradients = 0;
  double weights = 0;
  double settled = 0;
  double elements = 0;
};

/// Tensors whose gradient exceeds rounding errors. Key biases do not, since softmax is invariant to them, nor does a
/// router that picks one expert per token, which always gets the weight 1.
std::set<std::string> learning(const WholeTensors& gradients) {
  const double usual = usual_size(gradients);
  std::set<std::string> names;
  for (const auto& [name, values] : gradients)
    if (norm(values) > 1e-3 * usual * std::sqrt(static_cast<double>(values.size()))) names.insert(name);
  return names;
}

/// Norm of all differences over the norm of all.
double whole_difference(const WholeTensors& a, const WholeTensors& b, const std::set<std::string>& names) {
  double difference = 0;
  double size = 0;
  for (const auto& [name, values] : b) {
    if (!names.contains(name)) continue;
    const std::vector<float>& others = a.at(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double(others.at(i)) - double(values[i]), 2);
      size += std::pow(double(values[i]), 2);
    }
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

bool is_skipped(const StepRecord& step) { return step.outcome == StepOutcome::skipped; }

/// NaN too, of a step that fp16 skips.
bool has_same_bits(const WholeTensors& a, const WholeTensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    const std::vector<float>& x = one.second;
    const std::vector<float>& y = other.second;
    return one.first == other.first && x.size() == y.size() &&
           std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  });
}

std::string first_non_finite(const WholeTensors& tensors) {
  for (const auto& [name, values] : tensors)
    for (const float value : values)
      if (!std::isfinite(value)) return name;
  return "none";
}

class Campaign {
 public:
  explicit Campaign(std::int64_t seed) : seed_(seed) {}

  void add(std::int64_t number) {
    const RandomRun run = random_run(seed_, number);
    INFO("seed " << seed_ << ", run " << number << ": " << text_of(run));
    ++met_["schedule " + std::string(to_text(run.strategy.schedule))];
    ++met_["dp " + std::to_string(run.strategy.data_parallel)];
    ++met_["tp " + std::to_string(run.strategy.tensor_parallel)];
    ++met_["pp " + std::to_string(run.strategy.pipeline_stages)];
    ++met_["cp " + std::to_string(run.strategy.context_parallel)];
    ++met_["ep " + std::to_string(run.strategy.expert_parallel)];
    ++met_["etp " + std::to_string(run.strategy.expert_tensor_parallel)];
    ++met_["ZeRO-" + std::to_string(run.strategy.zero_stage)];
    try {
      compare(run, number);
      ++executed_;
      ++executed_etp_[run.strategy.expert_tensor_parallel];
    } catch (const InputError& refused) {
      ++refused_[without_numbers(refused.what())];
    } catch (const std::exception& failed) {
      FAIL_CHECK(failed.what());
    }
  }
  [[nodiscard]] std::int64_t executed() const { return executed_; }
  /// With experts that so many ranks divide.
  [[nodiscard]] std::int64_t executed_etp(std::int32_t ranks) const {
    const auto found = executed_etp_.find(ranks);
    return found == executed_etp_.end() ? 0 : found->second;
  }
  /// Of the elements compared, how many had a gradient above rounding.
  [[nodiscard]] double settled_share() const {
    double settled = 0;
    double elements = 0;
    for (const auto& [of, l] : largest_) settled += l.settled, elements += l.elements;
    return settled / elements;
  }
  void print() const {
    std::printf("%ld executed and compared\n", static_cast<long>(executed_));
    for (const auto& [sentence, count] : refused_) std::printf("%6d refused: %s\n", count, sentence.c_str());
    for (const auto& [of, l] : largest_)
      std::printf("%-20s of what is allowed: loss %.3f, gradients %.3f, weights %.3f; above rounding: %.1f%% of %.0f\n",
                  of.c_str(), l.loss, l.gradients, l.weights, 100 * l.settled / std::max(1.0, l.elements), l.elements);
    for (const auto& [what, count] : met_) std::printf("%6d drawn: %s\n", count, what.c_str());
  }

 private:
  void compare(const RandomRun& run, std::int64_t number) {
    const LoweredPlan plan(run.graph, run.strategy, run.training, runtime_calibration(run.scatters()));
    const TrainingJob job = balanced_where_possible(run, plan);
    const LoweredPlan one_rank(run.graph, alone(run), run.training);
    const Executed executed = execute(job, options_of(run));
    require_as_one_rank(run, job, routed(one_rank, job.routing), executed);
    if (run.has_experts) require_routed_bytes(plan, executed.record);
    if (!run.has_experts || job.routing == ExpertRouting::balanced) require_bytes(plan, executed.record);
    if (number % 8 != 0) return;
    const Executed again = execute(job, options_of(run));
    CHECK(has_same_bits(again.weights, executed.weights));
    CHECK(has_same_bits(again.gradients, executed.gradients));
  }
  /// Rows in turn are what is predicted; what a router says flips with rounding in coarse formats.
  static TrainingJob balanced_where_possible(const RandomRun& run, const LoweredPlan& plan) {
    TrainingJob job = routed(plan, ExpertRouting::balanced);
    if (!run.has_experts || run.training.precision != PrecisionRecipe::fp32) return job;
    try {
      check_capability(job, options_of(run));
    } catch (const InputError&) {
      job.routing = ExpertRouting::learned;
    }
    return job;
  }
  /// Each step from the run's own state before it: what one step makes of rounding is no error of the next.
  void require_as_one_rank(const RandomRun& run, const TrainingJob& job, const TrainingJob& one_rank,
                           const Executed& executed) {
    const TemporaryFolder folder;
    RunOptions first = options_of(run);
    first.steps = 1;
    const Executed begun = execute(one_rank, first);
    const std::vector<StepRecord>& steps = executed.record.steps;
    const SameStep own_first{executed.gradients, executed.first_weights, steps[0]};
    // fp16 skips a step whose gradients overflow; at the edge of its range the order of sums decides.
    if (is_skipped(steps[0]) || is_skipped(begun.record.steps[0])) return;
    require_same(run, own_first, {begun.gradients, begun.weights, begun.record.steps[0]}, executed.matrices, nullptr);

    first.checkpoints.folder = folder / "checkpoints";
    CHECK(has_same_bits(execute(job, first).weights, executed.first_weights));
    RunOptions second = options_of(run);
    second.steps = 1;
    second.checkpoints.resume = first.checkpoints.folder;
    const Executed resumed = execute(one_rank, second);
    if (is_skipped(steps[1]) || is_skipped(resumed.record.steps[0])) return;
    const TakenStep before = own_first.taken();
    require_same(run, {executed.last_gradients, executed.weights, steps[1]},
                 {resumed.gradients, resumed.weights, resumed.record.steps[0]}, executed.matrices, &before);
  }

  void require_same(const RandomRun& run, const SameStep& own, const SameStep& one_rank, const MatrixShapes& matrices,
                    const TakenStep* before) {
    INFO("step " << own.record.step);
    const Tolerances most = tolerances(run.training);
    Largest& largest =
        largest_[std::string(to_text(run.training.precision)) + ' ' + std::string(to_text(run.training.optimizer))];
    CHECK(own.record.loss == Approx(one_rank.record.loss).epsilon(most.loss));
    largest.loss = std::max(largest.loss, std::abs(own.record.loss / one_rank.record.loss - 1) / most.loss);
    REQUIRE(own.gradients.size() == one_rank.gradients.size());
    REQUIRE(own.weights.size() == one_rank.weights.size());
    if (run.training.precision == PrecisionRecipe::fp32 && has_fp32_gradients(run.training))
      require_equal(own.gradients, one_rank.gradients, 5e-5);
    INFO("not finite: " << first_non_finite(own.gradients));
    const double gradients = whole_difference(own.gradients, one_rank.gradients, learning(one_rank.gradients));
    CHECK(gradients <= most.gradients);
    largest.gradients = std::max(largest.gradients, gradients / most.gradients);
    const StepComparison comparison(run.training, matrices, before);
    if (!comparison.is_modelled()) return;
    const StepDifference weights = comparison.of(own.taken(), one_rank.taken());
    INFO("weights of " << weights.where);
    CHECK(weights.worst <= 1);
    largest.weights = std::max(largest.weights, weights.worst);
    largest.settled += weights.settled;
    largest.elements += weights.elements;
  }

  std::int64_t seed_;
  std::int64_t executed_ = 0;
  std::map<std::int32_t, std::int64_t> executed_etp_;
  std::map<std::string, int> refused_;
  std::map<std::string, int> met_;
  std::map<std::string, Largest> largest_;
};

TEST_CASE("strategies drawn at random equal one rank and what was predicted") {
  const std::int64_t plans = sanitized ? 5 : 20;
  Campaign campaign(20261122);
  for (std::int64_t n = 0; n < plans; ++n) campaign.add(n);
  CHECK(campaign.executed() >= plans / 2);
}

TEST_CASE("three hundred strategies drawn at random equal one rank and what was predicted", "[long]") {
  Campaign campaign(12);
  for (std::int64_t n = 0; n < 300; ++n) campaign.add(n);
  CHECK(campaign.executed() >= 200);
  CHECK(campaign.executed_etp(2) >= 10);
  CHECK(campaign.executed_etp(3) >= 2);
  CHECK(campaign.settled_share() >= 0.9);
}

// make campaign-strategies
TEST_CASE("a campaign of strategies drawn at random", "[.campaign]") {
  const std::int64_t first = environment_number("FIRST", 0);
  const std::int64_t count = environment_number("N", 1000);
  Campaign campaign(environment_number("SEED", 1));
  for (std::int64_t n = first; n < first + count; ++n) campaign.add(n);
  campaign.print();
}

}  // namespace
}  // namespace plumbline
