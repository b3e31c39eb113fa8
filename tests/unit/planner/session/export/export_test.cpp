// Plans as launch files, and what is written in place of what a framework lacks.

#include "planner/session/export/export.h"

#include <algorithm>

#include "core/base/errors.h"
#include "planner/explain/strategy_changes.h"
#include "planner/session/export/nearest_launchable.h"
#include "planner/session/import/import.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::session {
namespace {

PricedQuestion priced(PartialStrategy strategy, const char* model = "llama-3-8b") {
  StrategyRequest request;
  request.question = question_text(model, "dgx-h100", 16, 4096, 64);
  request.question.stack = "megatron-core-0.19";
  request.strategy = std::move(strategy);
  return estimate(request);
}

PartialStrategy pipeline(Schedule schedule, std::int32_t virtual_stages) {
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 4;
  partial.strategy.tensor_parallel = 2;
  partial.strategy.schedule = schedule;
  partial.strategy.virtual_stages = virtual_stages;
  partial.schedule_given = true;
  return partial;
}

TEST_CASE("a plan that the framework launches is written as it is, and read back") {
  const PricedQuestion asked = priced(pipeline(Schedule::interleaved, 2));
  const ExportAnswer answer = export_plan(asked, "megatron-lm", "");
  CHECK(answer.substitutions.empty());
  CHECK(!answer.nearest);
  CHECK(answer.release == "main");
  REQUIRE(answer.files.files.size() == 4);
  ImportRequest back;
  back.from = "megatron-lm";
  for (const LaunchFile& file : answer.files.files)
    if (file.name == "launch.sh") back.files = {{file.name, file.text}};
  back.question.machine = "dgx-h100";
  const PricedQuestion again = estimate(strategy_request(back, import_files(back)));
  CHECK((again.strategy == asked.strategy));
  CHECK(again.plan.prediction.peak_memory == asked.plan.prediction.peak_memory);
  CHECK(again.plan.prediction.step_time_s.expected == asked.plan.prediction.step_time_s.expected);
}

TEST_CASE("the loss that a plan was priced with is asked for by its launch files, and read back") {
  struct Asked {
    const char* target;
    const char* loss;
    const char* flag;
    const char* release = "";
  };
  for (const Asked& each : {Asked{"megatron-lm", "vocab_parallel_jit", "--cross-entropy-loss-fusion"},
                            Asked{"megatron-lm", "fused", "--cross-entropy-fusion-impl te", "core_v0.18.0"},
                            Asked{"accelerate", "fused_linear", "_apply_liger_kernel_to_instance(model=model)"},
                            Asked{"deepspeed", "fused_linear", "_apply_liger_kernel_to_instance(model=model)"}}) {
    CAPTURE(each.target, each.loss);
    StrategyRequest request;
    request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 64);
    request.question.stack = each.target == std::string("megatron-lm") ? "" : "deepspeed";
    request.question.choices.loss = each.loss;
    request.strategy.strategy.zero_stage = each.target == std::string("megatron-lm") ? 0 : 3;
    const ExportAnswer answer = export_plan(estimate(request), each.target, each.release);
    std::string all;
    ImportRequest back;
    back.from = each.target;
    for (const LaunchFile& file : answer.files.files) {
      all += file.text;
      if (file.name == "launch.sh") back.files.push_back({file.name, file.text});
    }
    CHECK_THAT(all, Catch::Matchers::ContainsSubstring(each.flag));
    CHECK(import_files(back).settings.choices.loss == each.loss);
  }
}

TEST_CASE("the overlap that a plan was priced with is what its launch files do, or no file says it") {
  struct Asked {
    const char* target;
    const char* stack;
    const char* overlap;
    const char* read_back;  ///< empty: no file says it
  };
  for (const Asked& each :
       {Asked{"megatron-lm", "", "both", "both"}, Asked{"megatron-lm", "", "reductions", "reductions"},
        Asked{"megatron-lm", "", "none", "none"}, Asked{"megatron-bridge", "megatron-bridge", "none", "none"},
        Asked{"deepspeed", "deepspeed", "none", "none"}, Asked{"deepspeed", "deepspeed", "reductions", "reductions"},
        Asked{"deepspeed", "deepspeed", "both", ""}, Asked{"torchtitan", "torchtitan", "none", ""}}) {
    CAPTURE(each.target, each.overlap);
    StrategyRequest request;
    request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 64);
    request.question.stack = each.stack;
    request.question.choices.overlap = each.overlap;
    request.strategy.strategy.zero_stage = 1;
    if (each.target == std::string("torchtitan")) request.strategy.strategy.zero_stage = 3;
    const ExportAnswer answer = export_plan(estimate(request), each.target, "");
    const auto& unsaid = answer.files.unsaid;
    const bool is_unsaid = std::find(unsaid.begin(), unsaid.end(),
                                     "--overlap " + std::string(each.overlap) + ": no file says it") != unsaid.end();
    CHECK(is_unsaid == std::string(each.read_back).empty());
    if (is_unsaid) continue;
    ImportRequest back;
    back.from = each.target;
    for (const LaunchFile& file : answer.files.files)
      for (const char* read : {"launch.sh", "overrides.py", "ds_config.json"})
        if (file.name == read) back.files.push_back({file.name, file.text});
    CHECK(import_files(back).settings.choices.overlap == each.read_back);
  }
}

TEST_CASE("graphs and tensor-parallel overlap that were asked for are what launch files do, or no file says them") {
  struct Asked {
    const char* target;
    const char* stack;
    const char* graphs;
    const char* overlap;
    const char* text;    ///< of the files
    const char* unsaid;  ///< empty: nothing
  };
  for (const Asked& each :
       {Asked{"megatron-lm", "megatron-core-0.19", "iteration", "", "--cuda-graph-impl full_iteration", ""},
        Asked{"megatron-lm", "megatron-core-0.19", "iteration", "", "--no-check-for-nan-in-loss-and-grad", ""},
        Asked{"megatron-lm", "megatron-core-0.19", "layers", "", "--cuda-graph-impl transformer_engine", ""},
        Asked{"megatron-lm", "megatron-core-0.19", "partial", "", "--cuda-graph-modules attn", ""},
        Asked{"megatron-lm", "megatron-core-lora", "", "on", "--tp-comm-overlap", ""},
        Asked{"megatron-bridge", "megatron-bridge-25.09", "iteration", "",
              "cfg.model.cuda_graph_impl = \"full_iteration\"", ""},
        Asked{"megatron-bridge", "megatron-bridge-25.09", "layers", "", "cfg.model.use_te_rng_tracker = True", ""},
        Asked{"megatron-bridge", "megatron-bridge-25.09-graphs", "none", "off", "cfg.model.cuda_graph_impl = \"none\"",
              ""},
        Asked{"megatron-bridge", "megatron-bridge-25.09", "", "off", "cfg.model.tp_comm_overlap = False", ""},
        Asked{"deepspeed", "deepspeed", "iteration", "", "", "--cuda-graphs iteration: no file says it"},
        Asked{"torchtitan", "torchtitan", "", "on", "", "--tp-comm-overlap on: no file says it"}}) {
    CAPTURE(each.target, each.graphs, each.overlap);
    StrategyRequest request;
    request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 64);
    request.question.stack = each.stack;
    request.question.choices.cuda_graphs = each.graphs;
    request.question.choices.tp_comm_overlap = each.overlap;
    if (each.target != std::string("deepspeed")) {
      request.strategy.strategy.tensor_parallel = 2;
      request.strategy.strategy.sequence_parallel = SequenceParallel::on;
    }
    request.strategy.strategy.zero_stage = each.target == std::string("torchtitan") ? 3 : 1;
    const ExportAnswer answer = export_plan(estimate(request), each.target, "");
    std::string all;
    for (const LaunchFile& file : answer.files.files) all += file.text;
    CHECK_THAT(all, Catch::Matchers::ContainsSubstring(each.text));
    std::string unsaid;
    for (const std::string& one : answer.files.unsaid)
      if (one.find("no file says it") != std::string::npos) unsaid += one;
    CHECK(unsaid == each.unsaid);
  }
}

// transformer_config.py: "Full recompute is only supported with full iteration CUDA graph."
TEST_CASE("graphs of layers that are recomputed whole do not start, a graph of the iteration does") {
  for (const char* target : {"megatron-lm", "megatron-bridge"})
    for (const char* graphs : {"layers", "iteration"}) {
      CAPTURE(target, graphs);
      StrategyRequest request;
      request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 64);
      request.question.stack = "megatron-core-0.19";
      request.question.choices.cuda_graphs = graphs;
      request.strategy.strategy.recompute = Recompute{RecomputeMode::full, 1};
      request.strategy.strategy.zero_stage = 1;
      const std::vector<std::string> missing = export_plan(estimate(request), target, "").files.missing;
      CHECK(missing.empty() == (graphs == std::string("iteration")));
    }
}

TEST_CASE("files say nothing of graphs and tensor-parallel overlap where nobody asked") {
  const std::string text = [] {
    std::string all;
    for (const LaunchFile& file :
         export_plan(priced(pipeline(Schedule::interleaved, 2)), "megatron-lm", "").files.files)
      all += file.text;
    return all;
  }();
  CHECK_THAT(text, !Catch::Matchers::ContainsSubstring("cuda-graph"));
  CHECK_THAT(text, !Catch::Matchers::ContainsSubstring("tp-comm-overlap"));
}

TEST_CASE("what the framework lacks is replaced axis by axis and said") {
  PartialStrategy partial = pipeline(Schedule::zbv, 2);
  partial.strategy.recompute = Recompute{RecomputeMode::every_nth, 2};
  const ExportAnswer answer = export_plan(priced(partial), "megatron-lm", "");
  REQUIRE(answer.substitutions.size() == 2);
  REQUIRE(answer.nearest);
  std::string text;
  for (const Substitution& one : answer.substitutions) text += one.sentence + " / " + one.change + "\n";
  INFO(text);
  CHECK(text.find("Megatron-LM has no schedule zbv; it has 1f1b and interleaved / schedule zbv -> ") !=
        std::string::npos);
  CHECK(text.find("Megatron-LM has no recompute every:2") != std::string::npos);
  CHECK(inexpressible(Framework::megatron_lm, answer.nearest->strategy, NetworkFacts{}).empty());
  CHECK(answer.nearest->verdict.fits);
}

TEST_CASE("a substitute keeps its degrees, fits where steps make it fit, and is timed by the target's stack") {
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 4;
  partial.strategy.sequence_parallel = SequenceParallel::off;
  partial.strategy.zero_stage = 1;
  const PricedQuestion asked = priced(partial, "llama-3-70b");
  const ExportAnswer answer = export_plan(asked, "torchtitan", "");
  REQUIRE(answer.nearest);
  INFO(plumbline::to_text(plumbline::changes_between(asked.strategy, answer.nearest->strategy)));
  CHECK(answer.substitutions.front().change.find("tp") == std::string::npos);
  CHECK(answer.nearest->strategy.sequence_parallel == SequenceParallel::on);
  CHECK(answer.nearest->provenance.stack_calibration.find("torchtitan") != std::string::npos);
  CHECK(answer.as_planned.provenance.stack_calibration == answer.nearest->provenance.stack_calibration);
  CHECK(inexpressible(Framework::torchtitan, answer.nearest->strategy, NetworkFacts{}).empty());
}

TEST_CASE("Accelerate, which has no sequence parallelism, keeps tensor parallelism without it") {
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 4;
  partial.strategy.sequence_parallel = SequenceParallel::on;
  partial.strategy.zero_stage = 1;  // with tensor parallelism Accelerate has none
  const ExportAnswer answer = export_plan(priced(partial), "accelerate", "");
  REQUIRE(answer.nearest);
  CHECK(answer.nearest->strategy.tensor_parallel == 4);
  CHECK(answer.nearest->strategy.sequence_parallel == SequenceParallel::off);
  CHECK(answer.nearest->strategy.zero_stage > 1);
}

TEST_CASE("Megatron-Bridge shards over groups and trains in the formats that it registers") {
  StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 16, 4096, 64);
  request.question.training.precision = PrecisionRecipe::fp8_delayed;
  request.strategy.strategy.zero_stage = 1;
  request.strategy.strategy.shard_group = 8;
  request.strategy.shard_group_given = true;
  const ExportAnswer answer = export_plan(estimate(request), "megatron-bridge", "");
  CHECK(answer.substitutions.empty());
  const std::string& text = answer.files.files.front().text;
  INFO(text);
  CHECK(text.find("cfg.ddp.num_distributed_optimizer_instances = 2") != std::string::npos);
  CHECK(text.find("cfg.mixed_precision = \"bf16_with_fp8_delayed_scaling_mixed\"") != std::string::npos);
  const LaunchSettings back = launch_target("megatron-bridge", "--to").read(text, "overrides.py").settings;
  CHECK(back.precision == PrecisionRecipe::fp8_delayed);
  CHECK(back.shard_copies == 2);
}

TEST_CASE("a split that was found is written as the layers that it found") {
  PartialStrategy partial = pipeline(Schedule::one_f_one_b, 1);
  partial.strategy.split = StageSplit::balanced;
  const ExportAnswer answer = export_plan(priced(partial), "megatron-lm", "");
  CHECK(answer.substitutions.empty());
  CHECK(!answer.nearest);
}

TEST_CASE("a training that the framework lacks, and names that it does not know, are refused") {
  StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 64);
  request.question.training.precision = PrecisionRecipe::bf16_pure;
  const PricedQuestion asked = estimate(request);
  CHECK_THROWS_WITH(export_plan(asked, "megatron-lm", ""),
                    Catch::Matchers::ContainsSubstring("--to: Megatron-LM has no precision"));
  CHECK_THROWS_WITH(export_plan(asked, "megatron-ml", ""), Catch::Matchers::ContainsSubstring("nearest: megatron-lm"));
  CHECK_THROWS_WITH(export_plan(priced({}), "megatron-lm", "core_v0.1"),
                    Catch::Matchers::ContainsSubstring("--release: 'core_v0.1' is not among"));
}

TEST_CASE("strategies one axis away are legal and differ") {
  const PricedQuestion asked = priced(pipeline(Schedule::zbv, 2));
  const auto all = one_axis_away(asked.strategy, plumbline::record_of(Framework::megatron_lm), asked.question);
  CHECK(all.size() > 10);
  for (const Strategy& one : all) {
    CHECK((one != asked.strategy));
    CHECK(!plumbline::changes_between(asked.strategy, one).empty());
    CHECK_NOTHROW(require_legal(one, asked.question));
  }
}

PricedQuestion adapted(const Adaptation& adaptation, FlashAttention attention = FlashAttention::on) {
  StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 16, 4096, 64);
  request.question.training.adaptation = adaptation;
  request.strategy.strategy.zero_stage = 2;
  request.strategy.strategy.flash_attention = attention;
  return estimate(request);
}

std::string text_of(const ExportAnswer& answer) { return answer.files.files.front().text; }

bool says(const std::vector<std::string>& sentences, std::string_view part) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& one) { return one.find(part) != std::string::npos; });
}

// Llama 3.1 8B with 28 of 32 layers frozen: what is written trains all of them.
TEST_CASE("frozen layers, which no file says, are said to be left out by every target") {
  Adaptation frozen;
  frozen.frozen_layers = {{0, 27}};
  const PricedQuestion asked = adapted(frozen);
  for (const LaunchTarget& target : launch_targets()) {
    const ExportAnswer answer = export_plan(asked, to_text(target.framework), "");
    INFO(target.title);
    CHECK(says(answer.files.unsaid, "--freeze layers:0-27"));
    CHECK(!is_exact(answer));
  }
}

// DeepSpeed's Adam and torch.optim.Adam take weight_decay as L2; Adam as published (algorithm 1) has none.
TEST_CASE("an optimizer without weight decay is written with none") {
  StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 16, 4096, 64);
  request.strategy.strategy.zero_stage = 2;
  for (const auto& [optimizer, decay] : {std::pair{Optimizer::adam, "0.0"}, {Optimizer::adamw, "0.25"}}) {
    request.question.training.optimizer = optimizer;
    LaunchRecipe recipe;
    recipe.weight_decay = 0.25;
    const std::string text = text_of(export_plan(estimate(request), "deepspeed", "", recipe));
    CHECK(text.find("\"weight_decay\": " + std::string(decay)) != std::string::npos);
  }
}

TEST_CASE("Megatron-Bridge is told adapters, attention, reductions and the optimizer") {
  Adaptation adapters;
  adapters.lora_rank = 6;
  const PricedQuestion asked = adapted(adapters, FlashAttention::off);
  LaunchSettings settings = launch_settings(asked, asked.strategy);
  settings.gradient_format = NumberFormat::bf16;
  settings.optimizer = Optimizer::sgd;
  settings.zero_stage = 0;
  const LaunchTarget& target = launch_target("megatron-bridge", "--to");
  const std::string text = target.write(settings, "main").files.front().text;
  for (const char* const line :
       {"from megatron.bridge.peft.lora import LoRA\n", "    cfg.peft = LoRA(dim=6, alpha=6)\n",
        "from megatron.core.transformer.enums import AttnBackend\n",
        "    cfg.model.attention_backend = AttnBackend.unfused\n",
        "    cfg.mixed_precision.grad_reduce_in_fp32 = False\n", "    cfg.optimizer.optimizer = \"sgd\"\n",
        "    cfg.ddp.use_distributed_optimizer = False\n", "    cfg.optimizer.use_distributed_optimizer = False\n"})
    CHECK_THAT(text, Catch::Matchers::ContainsSubstring(line));
  const LaunchSettings back = target.read(text, "overrides.py").settings;
  CHECK(back.lora_rank == 6);
  CHECK(back.lora_targets == LoraTargets::every_linear);
  CHECK(back.flash_attention == FlashAttention::off);
  CHECK(back.gradient_format == NumberFormat::bf16);
  CHECK(back.optimizer == Optimizer::sgd);
  CHECK(back.precision == PrecisionRecipe::bf16);
}

// Modules as src/megatron/bridge/peft/lora.py names them.
TEST_CASE("Megatron-Bridge adapts the linears that the plan does") {
  const LaunchTarget& target = launch_target("megatron-bridge", "--to");
  for (const auto& [targets, modules] :
       {std::pair(LoraTargets::every_linear, ""),
        std::pair(LoraTargets::queries_keys_values, ", target_modules=[\"linear_qkv\"]"),
        std::pair(LoraTargets::attention, ", target_modules=[\"linear_qkv\", \"linear_proj\"]")}) {
    Adaptation adapters;
    adapters.lora_rank = 6;
    adapters.lora_targets = targets;
    const std::string text = text_of(export_plan(adapted(adapters), "megatron-bridge", ""));
    CHECK_THAT(text,
               Catch::Matchers::ContainsSubstring("    cfg.peft = LoRA(dim=6, alpha=6" + std::string(modules) + ")\n"));
    CHECK(target.read(text, "overrides.py").settings.lora_targets == targets);
  }
  CHECK_THROWS_AS(target.read("cfg.peft = LoRA(dim=6, target_modules=[\"linear_fc1\"])\n", "overrides.py"), InputError);
}

TEST_CASE("attention without fused kernels is written or said to be left out") {
  const PricedQuestion asked = adapted({}, FlashAttention::off);
  CHECK_THAT(text_of(export_plan(asked, "pytorch", "")),
             Catch::Matchers::ContainsSubstring("FLASH_ATTENTION = False\n"));
  CHECK(says(export_plan(asked, "torchtitan", "").files.unsaid, "fused kernels"));
}

// The config of a checkpoint on the hub says bf16; the plan keeps fp32 parameters and moments (or, bf16-pure, none).
TEST_CASE("scripts over the hub's models make the weights in the plan's format") {
  for (const auto& [recipe, format] :
       {std::pair(PrecisionRecipe::fp32, "torch.float32"), std::pair(PrecisionRecipe::bf16, "torch.float32"),
        std::pair(PrecisionRecipe::bf16_pure, "torch.bfloat16")})
    for (const char* const name : {"accelerate", "deepspeed", "lightning"}) {
      StrategyRequest request;
      request.question = question_text("llama-3-8b", "dgx-h100", 16, 4096, 64);
      request.question.training.precision = recipe;
      const PricedQuestion asked = estimate(request);
      const LaunchTarget& target = launch_target(name, "--to");
      if (!inexpressible(target.framework, asked.question.training()).empty()) continue;
      const LaunchFiles files = target.write(launch_settings(asked, asked.strategy), target.releases.back());
      INFO(name << " " << format);
      for (const LaunchFile& file : files.files)
        if (file.name == "train.py")
          CHECK_THAT(file.text, Catch::Matchers::ContainsSubstring(std::string("\"torch_dtype\", ") + format + ")"));
    }
}

TEST_CASE("ranks that share a batch draw the same tokens, and Lightning the same weights") {
  const PricedQuestion asked = priced({});
  for (const char* const name : {"accelerate", "deepspeed", "lightning"})
    for (const LaunchFile& file : export_plan(asked, name, "").files.files)
      if (file.name == "train.py")
        CHECK_THAT(file.text, Catch::Matchers::ContainsSubstring("generator=torch.Generator().manual_seed(index)"));
  CHECK_THAT(text_of(export_plan(asked, "lightning", "")),
             Catch::Matchers::ContainsSubstring("\nL.seed_everything(0)"));
}

}  // namespace
}  // namespace plumbline::session
