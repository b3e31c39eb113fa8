// Runs drawn at random over all axes, networks and recipes: one rank's losses, gradients and weights, the predicted
// bytes of every memory class and group, and the same bits twice. What is refused is counted by its sentence.
#include "tests/random_strategies.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "runtime/admission.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

std::string text_of(const RandomRun& run) {
  std::string text = run.network + "; " + to_text(run.strategy) + ", " + std::string(to_text(run.training.precision)) +
                     ", " + std::string(to_text(run.training.optimizer)) + ", sequence " +
                     std::to_string(run.training.sequence_length);
  const Adaptation& a = run.training.adaptation;
  if (!run.strategy.layers_per_stage.empty()) text += ", layers " + layers_text(run.strategy.layers_per_stage);
  if (a.lora_rank > 0) text += ", LoRA of rank " + std::to_string(a.lora_rank);
  if (a.lora_rank > 0 && a.lora_targets == LoraTargets::queries_keys_values) text += " on queries, keys and values";
  if (a.freeze_embeddings) text += ", frozen embeddings";
  for (const LayerRange& range : a.frozen_layers)
    text += ", frozen layers " + std::to_string(range.first) + "-" + std::to_string(range.last);
  return text;
}

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
  o.deadline = std::chrono::milliseconds(120'000);
  return o;
}

/// Numbers without digits, so that sentences of one kind are counted as one.
std::string kind_of(std::string sentence) {
  std::string kind;
  for (const char c : sentence) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && !kind.empty() && kind.back() == '#') continue;
    kind += is_digit ? '#' : c;
  }
  return kind;
}

/// How far two runs of one batch may lie apart: rounding alone in fp32; coarser formats round what the layouts sum in
/// different orders; optimizers that divide by a gradient's own size enlarge the rounding of gradients near zero.
struct Tolerances {
  double loss = 1e-5;
  double gradients = 5e-5;
  double weights = 1e-5;
};
Tolerances tolerances(const Training& t) {
  const bool scales = t.optimizer != Optimizer::sgd && t.optimizer != Optimizer::momentum;
  // fp16 holds no epsilon of 1e-8: a gradient near zero makes a step of any size.
  if (t.precision == PrecisionRecipe::fp16_pure && scales) return {1e-2, 6e-2, std::numeric_limits<double>::max()};
  switch (t.precision) {
    case PrecisionRecipe::fp32: return {scales ? 2e-3 : 1e-5, 5e-5, scales ? 3e-2 : 1e-5};
    case PrecisionRecipe::tf32: return {2e-3, 1e-2, scales ? 5e-2 : 1e-3};
    case PrecisionRecipe::fp8: return {3e-2, 0.35, scales ? 0.35 : 5e-2};
    default: return {1e-2, 6e-2, scales ? 0.2 : 2e-2};
  }
}

/// Tensors whose gradient is more than rounding: not the bias of keys, which a softmax does not feel, nor the router of
/// one expert a token, whose weight is 1.
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
    if (names.count(name) == 0) continue;
    const std::vector<float>& others = a.at(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double(others.at(i)) - double(values[i]), 2);
      size += std::pow(double(values[i]), 2);
    }
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

/// Where bytes are known to differ from the prediction, and why; to be empty in the end.
std::optional<std::string> known_difference(const RandomRun& run) {
  const bool trains_all = run.training.adaptation.trains_everything();
  if (placement(run.strategy.schedule) == StagePlacement::v_shaped && !trains_all)
    return "a V hands on no gradients before what is trained";
  return std::nullopt;
}

bool skips_a_step(const Executed& run) {
  return std::any_of(run.record.steps.begin(), run.record.steps.end(),
                     [](const StepRecord& step) { return step.outcome == StepOutcome::skipped; });
}

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

  /// A run is drawn from the campaign's seed and its own number: it can be repeated alone.
  void add(std::int64_t number) {
    constexpr std::int64_t most_runs = 1'000'000;
    const RandomRun run = RandomRuns(static_cast<std::uint64_t>(seed_ * most_runs + number)).next();
    INFO("seed " << seed_ << ", run " << number << ": " << text_of(run));
    ++met_["schedule " + std::string(to_text(run.strategy.schedule))];
    ++met_["dp " + std::to_string(run.strategy.data_parallel)];
    ++met_["tp " + std::to_string(run.strategy.tensor_parallel)];
    ++met_["pp " + std::to_string(run.strategy.pipeline_stages)];
    ++met_["cp " + std::to_string(run.strategy.context_parallel)];
    ++met_["ep " + std::to_string(run.strategy.expert_parallel)];
    ++met_["ZeRO-" + std::to_string(run.strategy.zero_stage)];
    if (const auto reason = known_difference(run)) ++excluded_["bytes not compared: " + *reason];
    try {
      compare(run, number);
      ++executed_;
    } catch (const InputError& refused) {
      ++refused_[kind_of(refused.what())];
    } catch (const std::exception& failed) {
      FAIL_CHECK(failed.what());
    }
  }
  [[nodiscard]] std::int64_t executed() const { return executed_; }
  void print() const {
    std::printf("%ld executed and compared\n", static_cast<long>(executed_));
    for (const auto& [sentence, count] : refused_) std::printf("%6d refused: %s\n", count, sentence.c_str());
    for (const auto& [reason, count] : excluded_) std::printf("%6d known: %s\n", count, reason.c_str());
    for (const auto& [what, count] : met_) std::printf("%6d drawn: %s\n", count, what.c_str());
  }

 private:
  static void compare(const RandomRun& run, std::int64_t number) {
    const LoweredPlan plan(run.graph, run.strategy, run.training);
    const TrainingJob job = balanced_where_possible(run, plan);
    const LoweredPlan one_rank(run.graph, alone(run), run.training);
    const Executed executed = execute(job, options_of(run));
    const Executed expected = execute(routed(one_rank, job.routing), options_of(run));
    require_same(run, executed, expected);
    if (!known_difference(run)) {
      if (run.has_experts) require_routed_bytes(plan, executed.record);
      if (!run.has_experts || job.routing == ExpertRouting::balanced) require_bytes(plan, executed.record);
    }
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
      admit(job, options_of(run));
    } catch (const InputError&) {
      job.routing = ExpertRouting::learned;
    }
    return job;
  }
  static void require_same(const RandomRun& run, const Executed& executed, const Executed& expected) {
    const Tolerances most = tolerances(run.training);
    for (std::size_t i = 0; i < executed.record.steps.size(); ++i)
      CHECK(executed.record.steps[i].loss == Approx(expected.record.steps[i].loss).epsilon(most.loss));
    // fp16 skips a step whose gradients overflow; at the edge of its range the order of sums decides.
    if (skips_a_step(executed) || skips_a_step(expected)) return;
    REQUIRE(executed.gradients.size() == expected.gradients.size());
    REQUIRE(executed.weights.size() == expected.weights.size());
    if (run.training.precision == PrecisionRecipe::fp32) require_equal(executed.gradients, expected.gradients, 5e-5);
    INFO("not finite: " << first_non_finite(executed.gradients));
    const std::set<std::string> compared = learning(expected.gradients);
    CHECK(whole_difference(executed.gradients, expected.gradients, compared) <= most.gradients);
    CHECK(whole_difference(executed.weights, expected.weights, compared) <= most.weights);
  }

  std::int64_t seed_;
  std::int64_t executed_ = 0;
  std::map<std::string, int> refused_;
  std::map<std::string, int> excluded_;  ///< by reason
  std::map<std::string, int> met_;
};

/// A number from the environment.
std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

TEST_CASE("strategies drawn at random equal one rank and what was predicted") {
  Campaign campaign(20261122);
  for (std::int64_t n = 0; n < 20; ++n) campaign.add(n);
  CHECK(campaign.executed() >= 10);
}

TEST_CASE("three hundred strategies drawn at random equal one rank and what was predicted", "[long]") {
  Campaign campaign(12);
  for (std::int64_t n = 0; n < 300; ++n) campaign.add(n);
  CHECK(campaign.executed() >= 200);
}

// make campaign-strategies
TEST_CASE("a campaign of strategies drawn at random", "[.campaign]") {
  const std::int64_t first = setting("FIRST", 0);
  const std::int64_t count = setting("N", 1000);
  Campaign campaign(setting("SEED", 1));
  for (std::int64_t n = first; n < first + count; ++n) campaign.add(n);
  campaign.print();
}

}  // namespace
}  // namespace plumbline
