#include "planner/session/flags/plan_flags.h"

#include "core/base/errors.h"
#include "core/io/plan_json.h"
#include "planner/session/fit/fit_json.h"
#include "planner/session/flags/foreign_flags.h"
#include "planner/session/search/search.h"
#include "planner/session/search/search_flags.h"
#include "planner/session/simulate/simulation_flags.h"
#include "planner/session/size/size.h"
#include "tests/catch.h"

namespace plumbline::session::plan_flags_test {
namespace {

std::string refusal(const auto& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST_CASE("a strategy's flags say what is given and what follows from the question", "[session]") {
  StrategyFlags flags;
  CHECK(flags.given().empty());
  flags["--tp"] = "3";
  flags["--pp"] = "5";
  flags["--sequence-parallel"] = "on";
  flags["--layers-per-stage"] = "6,7,6,7,6";
  const PartialStrategy partial = flags.strategy();
  CHECK(flags.given() == "--tp");
  CHECK(partial.strategy.tensor_parallel == 3);
  CHECK(partial.strategy.pipeline_stages == 5);
  CHECK(partial.strategy.layers_per_stage == std::vector<std::int32_t>{6, 7, 6, 7, 6});
  CHECK(partial.strategy.sequence_parallel == SequenceParallel::on);
  CHECK_FALSE(partial.data_parallel_given);
  flags["--recompute"] = "everything";
  CHECK_THAT(refusal([&] { static_cast<void>(flags.strategy()); }), Catch::Matchers::StartsWith("--recompute: "));
}

TEST_CASE("without a flag of a strategy it is that of the best plan, with one those of the flags", "[session]") {
  PlanFlags flags;
  flags.question.model = "gpt2";
  flags.question.machine = "dgx-a100-80g";
  flags.question.global_batch = "512";
  const StrategyRequest best = flags.request(NoStrategy::best);
  SearchRequest search;
  search.question = flags.question.question();
  search.limits_cost = false;
  CHECK(best.strategy.strategy == session::search(search).plans.front().strategy);
  CHECK_THAT(best.chosen, Catch::Matchers::StartsWith("no strategy was given: this is the best plan"));
  const PricedQuestion priced = estimate(best);
  CHECK(priced.chosen == best.chosen);
  CHECK(*with_chosen(to_json(priced.plan), priced).find("chosen")->if_string() == best.chosen);
  CHECK(priced.strategy == best.strategy.strategy);
  const PricedQuestion plain = estimate(flags.request());
  CHECK(plain.strategy.micro_batch == 1);
  CHECK(plain.chosen.empty());
  CHECK(with_chosen(to_json(plain.plan), plain).find("chosen") == nullptr);
  CHECK(priced.plan.prediction.step_time_s.expected < plain.plan.prediction.step_time_s.expected);
  flags.strategy["--micro-batch"] = "1";
  CHECK(estimate(flags.request(NoStrategy::best)).strategy == plain.strategy);
  CHECK(flags.request(NoStrategy::best).chosen.empty());
}

TEST_CASE("where no plan fits the one that comes nearest is taken", "[session]") {
  PlanFlags flags;
  flags.question.model = "llama-3-8b";
  flags.question.machine = "rtx4090-pcie";
  flags.question.gpus = "1";
  flags.question.global_batch = "8";
  const StrategyRequest nearest = flags.request(NoStrategy::best);
  CHECK_THAT(nearest.chosen, Catch::Matchers::EndsWith("fits: this one comes nearest"));
  CHECK_FALSE(estimate(nearest).plan.verdict.fits);
}

TEST_CASE("flags that a plan file or launch files say too are refused beside them", "[session]") {
  PlanFlags flags;
  flags.require_allowed_with_plan();
  flags.require_allowed_with_import();
  flags.question.machine = "dgx-h100";
  flags.require_allowed_with_import();  // no launch file names a machine
  CHECK(refusal([&] { flags.require_allowed_with_plan(); }) ==
        "--machine: cannot be combined with --plan, which says it too; expected one of the two");
  flags.question.optimizer = "lion";
  CHECK_THAT(refusal([&] { flags.require_allowed_with_import(); }), Catch::Matchers::StartsWith("--optimizer: "));
  PlanFlags strategy;
  strategy.strategy["--zero"] = "1";
  CHECK_THAT(refusal([&] { strategy.require_allowed_with_plan(); }), Catch::Matchers::StartsWith("--zero: "));
}

TEST_CASE("whether attention is fused may be said beside launch files that do not say it", "[session]") {
  const auto asked = [](const std::string& more) {
    PlanFlags flags;
    flags.question.machine = "dgx1-v100";
    flags.strategy["--flash-attention"] = "off";
    ImportRequest files;
    files.from = "megatron-lm";
    files.files = {{"train.sh",
                    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 "
                    "--num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 4 "
                    "--global-batch-size 32 --fp16 " +
                        more}};
    flags.require_allowed_with_import();
    return flags.request_of(files);
  };
  const StrategyRequest silent = asked("");
  CHECK(silent.strategy.strategy.flash_attention == FlashAttention::off);
  CHECK(silent.strategy.flash_attention_given);
  CHECK(refusal([&] { (void)asked("--use-flash-attn"); }) ==
        "--flash-attention: cannot be combined with --import, which says it too; expected one of the two");
}

TEST_CASE("limits are asked of a strategy only where a flag of it is given", "[session]") {
  PlanFlags flags;
  flags.question.model = "gpt2";
  flags.question.machine = "dgx-h100";
  CHECK_FALSE(limits_request(flags.question, flags.strategy).strategy);
  flags.strategy["--dp"] = "6";
  CHECK(limits_request(flags.question, flags.strategy).strategy->strategy.data_parallel == 6);
}

TEST_CASE("a search's flags land in its request", "[session]") {
  SearchFlags flags;
  SearchRequest request;
  flags.apply(request);
  CHECK(request.top == 10);
  CHECK_FALSE(flags.limit());
  flags.top = "3";
  flags.all = true;
  flags.flash_attention = "on,off";
  flags.framework = "deepspeed";
  flags.time_limit = "2s";
  flags.apply(request);
  CHECK(request.top == 3);
  CHECK(request.all);
  CHECK(request.flash_attention == std::vector<FlashAttention>{FlashAttention::on, FlashAttention::off});
  CHECK(request.framework == Framework::deepspeed);
  CHECK(flags.limit()->value() == 2);
  flags.executable = true;
  CHECK(refusal([&] { flags.apply(request); }) ==
        "--executable: cannot be combined with --for deepspeed; expected one of them");
}

TEST_CASE("speeds of stages are read once each, and 1 where none is named", "[session]") {
  CHECK(stage_speeds("2=0.5,0=3", 3) == std::vector<double>{3, 1, 0.5});
  CHECK_THAT(refusal([] { static_cast<void>(stage_speeds("3=1", 3)); }),
             Catch::Matchers::ContainsSubstring("from 0 to 2"));
  CHECK_THAT(refusal([] { static_cast<void>(stage_speeds("1=1,1=2", 3)); }),
             Catch::Matchers::ContainsSubstring("each stage once"));
}

TEST_CASE("the limits of a run land in its request", "[session]") {
  SizeRequest request;
  SizeFlags{"30", "250K", "both", "1.2", "475"}.apply(request);
  CHECK(request.limits.days == 30);
  CHECK(request.limits.budget->value() == 250'000);
  CHECK(request.scalings.size() == 2);
  CHECK_THAT(refusal([&] { SizeFlags{"0", {}, {}, {}, {}}.apply(request); }), Catch::Matchers::StartsWith("--days: "));
}

TEST_CASE("what other programs call a flag is named as ours", "[session]") {
  CHECK(nearest_flag("--num-gpus", {"--gpus", "--tp"}) == "--gpus");
  CHECK(nearest_flag("--tpp", {"--gpus", "--tp"}) == "--tp");
}

TEST_CASE("a search is told to hold what it would choose", "[session]") {
  const std::vector<std::string> names{"--fix", "--gpus", "--top", "--tp-across-nodes"};
  CHECK(nearest_flag("--tp", names, "8") == "--fix tp=8");
  CHECK(nearest_flag("--mbs", names, "2") == "--fix micro-batch=2");
  CHECK(nearest_flag("--zero-stage", names, "3") == "--fix zero=3");
  CHECK(nearest_flag("--sequence-parallel", names) == "--fix sequence-parallel=VALUE");
  CHECK(nearest_flag("--to", names, "3") == "--top");
}

}  // namespace
}  // namespace plumbline::session::plan_flags_test
