// Strategies drawn from all that the rules and the framework's record allow are no faster than the first of a search.

#include "core/quantity/text.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "planner/question/noise.h"
#include "planner/session/search/search.h"
#include "tests/catch.h"
#include "tests/questions.h"
#include "tests/random_strategies.h"

namespace plumbline::search_random_strategies_test {
namespace {

struct Asked {
  QuestionText text;
  Framework framework = Framework::megatron_lm;
};

std::string text_of(const Asked& asked) {
  const Training& t = asked.text.training;
  return asked.text.model + " on " + std::to_string(asked.text.devices) + " of " + asked.text.machine + ", sequence " +
         std::to_string(t.sequence_length) + ", batch " + std::to_string(t.global_batch) + ", " +
         std::string(to_text(t.optimizer)) + ", for " + std::string(to_text(asked.framework));
}

/// Layers of 18, 24, 26, 27, 28, 32, 48 and 80, heads that 3 or 5 divide, experts; GPUs and batches of 3 and 5.
Asked random_question(Dice& dice) {
  Asked asked;
  asked.text.model = dice.one_of<const char*>({"llama-3-8b", "llama-3.2-3b", "gpt2-xl", "gemma-2-2b", "gemma-3-1b",
                                               "deepseek-v2-lite", "qwen2-57b-a14b", "gpt-oss-20b", "llama-3-70b"});
  asked.text.machine = dice.one_of<const char*>({"dgx-h100", "dgx-h100", "dgx-a100-80g", "a6000-pcie"});
  asked.text.devices = dice.one_of<std::int64_t>({2, 4, 8, 16, 24, 32, 40, 48, 64});
  asked.text.training.sequence_length = dice.one_of<std::int64_t>({512, 1024, 4096, 8192});
  asked.text.training.global_batch = dice.one_of<std::int64_t>({12, 30, 32, 45, 48, 60, 64, 96, 120, 128, 256, 360});
  asked.text.training.optimizer = dice.one_of({Optimizer::adamw, Optimizer::adamw, Optimizer::momentum});
  asked.framework = dice.one_of({Framework::megatron_lm, Framework::megatron_lm, Framework::torchtitan,
                                 Framework::deepspeed, Framework::plumbline, Framework::any});
  // It executes few of these networks, and refuses the others at once.
  if (asked.framework == Framework::plumbline && !asked.text.model.starts_with("llama"))
    asked.framework = Framework::any;
  return asked;
}

/// Any strategy at all, or one that differs from another on a few axes.
class AnyStrategies {
 public:
  AnyStrategies(const Question& question, Dice& dice) : question_(question), dice_(dice) {}

  Strategy anew() {
    Strategy s;
    spread(s);
    for (int axis = 0; axis < axes; ++axis) change(s, axis);
    return s;
  }
  Strategy near(Strategy s) {
    for (std::int64_t changes = dice_.between(1, 3); changes > 0; --changes)
      change(s, static_cast<int>(dice_.between(0, axes - 1)));
    return s;
  }

 private:
  static constexpr int axes = 7;
  static constexpr std::int64_t largest_micro_batch = 64;

  [[nodiscard]] std::int32_t part(std::int64_t n) { return static_cast<std::int32_t>(dice_.divisor(n)); }

  void spread(Strategy& s) {
    std::int64_t left = question_.devices();
    s.pipeline_stages = part(left);
    left /= s.pipeline_stages;
    s.tensor_parallel = part(left);
    left /= s.tensor_parallel;
    s.context_parallel = dice_.one_in(2) ? 1 : part(left);
    s.data_parallel = static_cast<std::int32_t>(left / s.context_parallel);
    s.shard_group = s.gradient_ranks();
  }

  void change(Strategy& s, int axis) {
    switch (axis) {
      case 0: change_order(s); break;
      case 1: s.micro_batch = part(std::max<std::int64_t>(1, batch(s))); break;
      case 2: change_states(s); break;
      case 3: change_experts(s); break;
      case 4: s.recompute = random_recompute(dice_); break;
      case 5: s.sequence_parallel = dice_.one_in(4) ? SequenceParallel::off : SequenceParallel::on; break;
      default: break;
    }
    if (s.tensor_parallel == 1) s.sequence_parallel = SequenceParallel::off;
    s.micro_batches = batch(s) / s.micro_batch;
  }
  [[nodiscard]] std::int64_t batch(const Strategy& s) const {
    return question_.training().global_batch / s.data_parallel;
  }

  void change_order(Strategy& s) {
    s.virtual_stages = 1;
    s.schedule = Schedule::none;
    if (s.pipeline_stages == 1) return;
    s.schedule = dice_.one_in(3)
                     ? all_schedules[static_cast<std::size_t>(dice_.between(1, std::ssize(all_schedules) - 1))]
                     : dice_.one_of({Schedule::one_f_one_b, Schedule::interleaved, Schedule::interleaved});
    const RankChunks chunks = record_of(s.schedule).chunks;
    const std::int64_t most = (question_.facts().layers + question_.facts().fillers) / s.pipeline_stages;
    if (chunks == RankChunks::two) s.virtual_stages = 2;
    if (chunks == RankChunks::several)
      s.virtual_stages = static_cast<std::int32_t>(dice_.between(2, std::max<std::int64_t>(2, most)));
  }
  void change_states(Strategy& s) {
    s.zero_stage = s.gradient_ranks() > 1 ? dice_.one_of({0, 1, 1, 2, 3}) : 0;
    s.shard_group = s.zero_stage > 0 ? (dice_.one_in(2) ? s.gradient_ranks() : part(s.gradient_ranks())) : 1;
  }
  void change_experts(Strategy& s) {
    if (question_.facts().experts.empty()) return;
    s.expert_parallel = part(question_.facts().experts.front());
    s.expert_tensor_parallel = dice_.one_in(2) ? 1 : part(s.tensor_parallel);
  }

  const Question& question_;
  Dice& dice_;
};

/// The fastest that surely fits of many that are drawn; it is varied further on.
class Drawn {
 public:
  Drawn(const Question& question, Framework framework)
      : question_(question), framework_(framework), network_(session::network_facts_of(question)) {}

  /// Whether it is the fastest so far, by closed form.
  void consider(const Strategy& s) {
    if (framework_ != Framework::any && !launches(record_of(framework_), s, network_)) return;
    if (first_violation(s, question_.training(), question_.facts(), question_.limits())) return;
    if (s.schedule == Schedule::v_half && s.pipeline_stages * s.micro_batches > most_packed) return;
    ++legal;
    const Plan plan = evaluate(question_, s);
    if (!plan.verdict.fits || plan.verdict.near_edge) return;
    ++fitting;
    const Picoseconds step = plan.prediction.time.total();
    if (fastest && step >= least) return;
    fastest = s;
    least = step;
  }

  std::optional<Strategy> fastest;
  Picoseconds least{0};
  int legal = 0;
  int fitting = 0;

 private:
  static constexpr std::int64_t most_packed = 600;
  const Question& question_;
  Framework framework_;
  NetworkFacts network_;
};

Drawn drawn(const Question& question, Framework framework, std::optional<Strategy> first, Dice& dice) {
  constexpr int anew = 2000;
  constexpr int varied = 500;
  AnyStrategies any(question, dice);
  Drawn best(question, framework);
  for (int i = 0; i < anew; ++i) best.consider(any.anew());
  if (first) best.consider(*first);
  for (int i = 0; i < varied && best.fastest; ++i) best.consider(any.near(*best.fastest));
  return best;
}

/// One question; says whether anything surely fits it.
bool check_question(const Asked& asked, Dice& dice) {
  CAPTURE(text_of(asked));
  session::SearchRequest request;
  request.question = asked.text;
  request.framework = asked.framework;
  request.top = 1;
  request.threads = 2;
  request.limits_cost = false;
  const session::SearchAnswer answer = session::search(request);
  const Question question(answer.request.question);  // with the stack that priced the answer
  const auto& found = answer.result.best;
  const bool has_first = !found.empty() && !found.front().may_not_fit;
  const Drawn best =
      drawn(question, asked.framework, has_first ? std::optional(found.front().strategy) : std::nullopt, dice);
  if (!best.fastest) return false;
  CAPTURE(to_text(*best.fastest), best.legal, best.fitting);
  REQUIRE(has_first);
  const Picoseconds step = simulated_step(question, *best.fastest, {}).value_or(best.least);
  CAPTURE(to_text(found.front().strategy), to_text(to_seconds(step)),
          to_text(to_seconds(found.front().ranking_step())));
  CHECK(to_seconds(found.front().ranking_step()).value() <= (1 + repeated_run_noise) * to_seconds(step).value());
  return true;
}

TEST_CASE("no strategy that can be drawn beats the first of a search by more than a repeated run differs") {
  const std::int64_t seed = environment_number("PLUMBLINE_SEED", 14);
  const std::int64_t questions = environment_number("PLUMBLINE_QUESTIONS", 12);
  Dice dice(static_cast<std::uint64_t>(seed));
  int fitting = 0;
  for (std::int64_t i = 0; i < questions; ++i) {
    const Asked asked = random_question(dice);
    bool is_legal = true;
    try {
      if (check_question(asked, dice)) ++fitting;
    } catch (const InputError&) {
      is_legal = false;  // a batch or a number of GPUs that no plan of the framework can have
    }
    CAPTURE(text_of(asked), is_legal);
  }
  CHECK(fitting >= questions / 3);
}

}  // namespace
}  // namespace plumbline::search_random_strategies_test
