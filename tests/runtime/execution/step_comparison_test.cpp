// The comparison of steps sees what it is there for: each optimizer on two ranks as on one, and every fault refused.
#include "tests/step_comparison.h"

#include "tests/execution_checks.h"

namespace plumbline {
namespace {

constexpr std::array optimizers{Optimizer::sgd,  Optimizer::momentum, Optimizer::adagrad, Optimizer::rmsprop,
                                Optimizer::adam, Optimizer::adamw,    Optimizer::lion,    Optimizer::muon};

Strategy two_ranks() {
  Strategy s;
  s.data_parallel = 2;
  s.micro_batches = 4;
  return s;
}

Training recipe_of(Optimizer optimizer, PrecisionRecipe precision) {
  Training training = recipe(optimizer);
  training.precision = precision;
  return training;
}

class Step {
 public:
  Step(const Strategy& strategy, const Training& training, const std::function<void(TrainingJob&)>& change = {})
      : run_(executed(strategy, training, change)) {}
  [[nodiscard]] TakenStep taken() const { return taken_step(run_.gradients, run_.weights, run_.record.steps[0]); }
  [[nodiscard]] const MatrixShapes& matrices() const { return run_.matrices; }

 private:
  static Executed executed(const Strategy& strategy, const Training& training,
                           const std::function<void(TrainingJob&)>& change) {
    const LoweredPlan plan(network(Net::llama), strategy, training);
    TrainingJob job = plan.job();
    if (change) change(job);
    return execute(job, options(1));
  }
  Executed run_;
};

double worst(const Training& training, const Step& one, const Step& other) {
  return StepComparison(training, other.matrices(), nullptr).of(one.taken(), other.taken()).worst;
}

TEST_CASE("a step of another rate or without its weight decay is not the same step") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::bf16})
    for (const Optimizer optimizer : sampled(std::vector(std::begin(optimizers), std::end(optimizers)))) {
      INFO(to_text(precision) << ' ' << to_text(optimizer));
      const Training training = recipe_of(optimizer, precision);
      const Step alone(single(), training);
      CHECK(worst(training, Step(two_ranks(), training), alone) <= 1);
      const Step faster(two_ranks(), training, [](TrainingJob& job) { job.learning_rate.peak *= 1.1; });
      CHECK(worst(training, faster, alone) > 1);
      const bool decays =
          optimizer != Optimizer::adam && optimizer != Optimizer::adagrad && optimizer != Optimizer::rmsprop;
      if (!decays) continue;
      const Step undecayed(two_ranks(), training, [](TrainingJob& job) { job.optimizer.weight_decay = 0; });
      CHECK(worst(training, undecayed, alone) > 1);
    }
}

TEST_CASE("weights that a step has not reached are noticed") {
  const Training training = recipe_of(Optimizer::adamw, PrecisionRecipe::fp32);
  const Step alone(single(), training);
  const Step run(two_ranks(), training);
  for (const std::string name : {"layers.1.attention.qkv.q.weight", "output.final_norm.weight"}) {
    INFO(name);
    WholeTensors stale = run.taken().weights;
    REQUIRE(stale.count(name) == 1);
    stale.at(name).back() += 0.01F;
    const TakenStep missed{run.taken().gradients, stale, run.taken().factor, run.taken().rate};
    CHECK(StepComparison(training, alone.matrices(), nullptr).of(missed, alone.taken()).worst > 1);
  }
}

TEST_CASE("gradients that are not summed over all ranks, or made from old weights, are another's") {
  const Training training = recipe_of(Optimizer::lion, PrecisionRecipe::fp32);
  const LoweredPlan plan(network(Net::llama), two_ranks(), training);
  const Executed run = execute(plan.job(), options(2));
  Training half = training;
  half.global_batch /= 2;
  Strategy one_rank = single();
  one_rank.micro_batches /= 2;
  const LoweredPlan partial(network(Net::llama), one_rank, half);
  TrainingJob resting = plan.job();
  resting.learning_rate.peak = 0;
  const auto apart = [](const WholeTensors& a, const WholeTensors& b) {
    double most = 0;
    for (const auto& [name, values] : b) most = std::max(most, relative_difference(a.at(name), values, usual_size(b)));
    return most;
  };
  CHECK(apart(execute(partial.job(), options(1)).gradients, run.gradients) > 100 * 5e-5);
  CHECK(apart(execute(resting, options(2)).last_gradients, run.last_gradients) > 100 * 5e-5);
}

}  // namespace
}  // namespace plumbline
