// One run of each source, its machine, stack and strategy worked out by hand from what the source prints.

#include "planner/validate/resolve.h"

#include <algorithm>
#include "core/graph/parameter_count.h"
#include "core/io/measured_runs_json.h"
#include "core/sharding/op_work.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "planner/validate/run_strategy.h"

#include "tests/networks.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline {
namespace {

struct Expected {
  const char* id;
  const char* machine;
  const char* stack;
  const char* strategy;
};

// Micro-batches are global batch / (dp * micro-batch); dp is GPUs / (tp * pp * cp).
constexpr std::array expected_rows{
    Expected{"bloom-prequel-l832", "jeanzay-a100", "megatron-deepspeed-2022",
             "tp 4 pp 12 dp 8 1f1b mbs 2 x 128 zero-1 recompute full"},  // 2048 / (8 * 2)
    Expected{"bs-v100-1b3-l23", "jeanzay-v100", "megatron-deepspeed-2021-v100",
             "dp 8 mbs 2 x 32 zero-1 recompute full"},
    Expected{"ds-qwen3-32b-mi300x-rccl", "mi300x", "deepspeed-2024", "dp 8 mbs 1 x 1 zero-3"},
    Expected{"llmc-gpt2-1558m", "dgx-h100", "llm-c-2024", "dp 8 mbs 16 x 8 zero-1"},
    Expected{"korth22-t5-full-megatron-22b", "dgx-a100-80g", "megatron-lm-2021", "tp 8 mbs 4 x 1 recompute full"},
    Expected{"llmfoundry-001", "dgx-h100", "llm-foundry-2023", "dp 512 mbs 8 x 1 zero-3 recompute full"},
    Expected{"mcore-ft-gpt-gpt3-7b-tp1-pp4-memory-speed-dev-h100", "dgx-h100", "mcore-deterministic-0.12",
             "pp 4 dp 2 interleaved virtual 8 mbs 1 x 4 zero-1"},
    Expected{"mcore-ft-gpt-gpt3-7b-tp1-pp4-memory-speed-dev-gb200", "gb200-nvl72", "mcore-deterministic-0.12-blackwell",
             "pp 4 dp 2 interleaved virtual 8 mbs 1 x 4 zero-1"},
    Expected{"automodel-14", "dgx-h100", "nemo-automodel-2025-compiled",
             "tp 2 dp 4 mbs 2 x 4 zero-3 recompute full"},  // 32 / (4 * 2)
    Expected{"mbridge-25.09-284", "dgx-b200", "megatron-bridge-25.09-graphs", "ep 8 dp 8 mbs 1 x 64 zero-1"},
    Expected{"mcore-ft-gpt-gpt3-mcore-te-tp1-pp1-dist-optimizer-fim-dataset-dev-h100", "dgx-h100",
             "mcore-deterministic-0.12", "dp 8 mbs 4 x 1 zero-1"},
    Expected{"mbskill-llama70b-sft-2", "dgx-h100", "megatron-bridge-26.06-finetune",
             "tp 8 pp 4 sp interleaved virtual 5 mbs 1 x 32 recompute selective"},  // dp 1: nothing to shard over
    Expected{"mbridge-26.04-137", "dgx-b200", "megatron-bridge-26.02-flex",
             "ep 8 pp 16 dp 16 1f1b mbs 1 x 256 zero-1 recompute selective:mla_up_proj layers "
             "4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,2"},  // 61 layers and one of multi-token prediction
    Expected{"mbridge-25.09-268", "gb200-nvl72", "megatron-bridge-25.09",
             "dp 64 mbs 2 x 1 zero-3 recompute offload:40"},
    Expected{"automodel-08", "dgx-h100", "nemo-automodel-2025", "ep 8 dp 8 mbs 2 x 16 zero-1"},
    Expected{"mtnlg-530b-280", "dgx-a100-80g", "megatron-deepspeed-2022",
             "tp 8 pp 35 dp 8 1f1b mbs 1 x 240 zero-1 recompute full"},
    Expected{"msswift-qwen2.5-14b-zero2", "hgx-a800", "deepspeed-2024", "dp 8 mbs 1 x 2 zero-2 recompute full"},
    Expected{"nemo-24.12-032", "dgx-h100", "megatron-core-0.12-nemo-fp8",
             "pp 4 dp 2 interleaved virtual 10 mbs 1 x 16 zero-1"},  // fine-tuning: 40 layers / pp 4 chunks
    Expected{"ptdp-t2-zero-3-megatron-530b-640", "dgx-a100-80g", "deepspeed-2021",
             "dp 640 mbs 4 x 1 zero-3 recompute full"},
    Expected{"ao-h100-l8b-none", "dgx-h100", "torchtitan-2024.12", "dp 8 mbs 1 x 1 zero-3 recompute by-operator"},
    Expected{"torchtitan-202412-t6-cp1", "h100-500w-roce", "torchtitan-2024.12-async-tp",
             "tp 8 pp 8 dp 8 sp 1f1b mbs 1 x 8 zero-1 recompute full"},
    Expected{"torchtitan-202412-t5-1F1B", "h100-500w-roce", "torchtitan-2024.12-async-tp",
             "tp 8 pp 8 dp 8 sp 1f1b mbs 4 x 8 zero-1 recompute full"},  // as many micro-batches as stages
    Expected{"tt-d66b72a6-qwen3-32b-fsdp8tp4-b16", "h100-500w-roce", "torchtitan-2025.09-eager-parallel-loss",
             "tp 4 dp 8 sp mbs 16 x 1 zero-3 recompute full"},
    Expected{"tt-83c879f1-l7b-fsdp2-compile-sac", "h100-500w-roce", "torchtitan-2024.12",
             "dp 8 mbs 8 x 1 zero-3 recompute by-operator"},
    Expected{"tt-nvfp4-l8b-bf16", "gb200-nvl72", "torchtitan-2026.03", "dp 4 mbs 32 x 1 zero-3 recompute by-operator"},
    Expected{"torchtune-l3.2-3b-chunkedce", "dgx-a100-80g", "torchtitan-2025.06", "mbs 2 x 1"},
    Expected{"mlperf-v3.1-gpt3-nvidia-eos_dfw_n512_ngc23.09_nemo", "dgx-h100", "megatron-core-0.12",
             "tp 4 pp 8 dp 128 sp interleaved virtual 12 mbs 1 x 16 zero-1"},  // parameters in 16 bits
    Expected{"mlperf-v4.0-gpt3-nvidia-eos_n64_ngc24.04_nemo", "dgx-h100", "megatron-core-0.12-nemo-fp8",
             "tp 4 pp 8 dp 16 sp interleaved virtual 4 mbs 2 x 72 zero-1"},  // FP8_PARAMS=True
    Expected{"zb-t4-1.5b-zb-2p-m24", "dgx-a100-80g", "megatron-zero-bubble-2023", "pp 8 zb-h2 mbs 6 x 24"},
};

const AssumedField* assumed(const ResolvedRun& run, const std::string& field) {
  for (const AssumedField& each : run.assumed)
    if (each.field == field) return &each;
  return nullptr;
}

RunFields on_pipeline(const char* pp, const char* vpp, const char* layers) {
  RunFields fields;
  fields.words["layers_per_stage"] = layers;
  fields.words["recompute"] = "none";
  fields.numbers["pp"] = std::stoi(pp);
  fields.numbers["vpp"] = std::stoi(vpp);
  fields.numbers["micro_batch"] = 1;
  fields.numbers["zero_stage"] = 1;
  return fields;
}

}  // namespace

TEST_CASE("layers of chunks are those of the run, where there is a pipeline") {
  const Graph graph = find_network("llama-3-8b").graph;
  const auto layers = [&](const char* pp, const char* text) {
    return layers_text(strategy_of(on_pipeline(pp, "1", text), graph).strategy.layers_per_stage);
  };
  CHECK(layers("4", "Et*9|(t*8|)*2t*7L") == "9,8,8,7");
  CHECK(layers("1", "32").empty());
  CHECK_THROWS_AS(layers("4", "4,x"), InputError);
}

namespace {

/// A run of NeMo on 8 H100, as its source says it all but the recompute.
Resolution nemo_run(const std::string& recompute) {
  const std::string text =
      R"json({"format": "plumbline.rows/1", "name": "own", "source": "a log", "common": {"framework": "NeMo 24.07",
    "hardware": "H100-SXM-80GB", "gpus": 8, "model": "llama-3-8b", "seq_len": 8192, "global_batch": 128, "micro_batch": 1,
    "precision": "bf16", "zero_stage": 1, "pp": 2, "vpp": 1}, "rows": [
    {"id": "run", "measured": {"step_time_s": 9}, "recompute": ")json" +
      recompute + "\"}]}";
  const Json json = parse_json(text, "own.json");
  const RunSet runs = runs_from_json(JsonPlace(json, "own.json"), "own");
  return resolver_of_catalogue().resolve(runs.runs.front().question, runs);
}

}  // namespace

namespace {

/// The stack of a run whose source names the framework and nothing else of its software.
std::string stack_under(const std::string& framework, const std::string& gpus) {
  const std::string text = R"json({"format": "plumbline.rows/1", "name": "own", "source": "a log", "rows": [
    {"id": "run", "framework": ")json" +
                           framework + R"json(", "hardware": "A100-SXM-80GB", "gpus": )json" + gpus +
                           R"json(, "model": "llama-2-7b", "seq_len": 1024, "global_batch": 16, "micro_batch": 1,
    "precision": "bf16", "zero_stage": 3, "recompute": "full", "measured": {"step_time_s": 9}}]})json";
  const Json json = parse_json(text, "own.json");
  const RunSet runs = runs_from_json(JsonPlace(json, "own.json"), "own");
  return resolver_of_catalogue().resolve(runs.runs.front().question, runs).run->question.calibration().stack.name;
}

}  // namespace

TEST_CASE("what most people train with has a stack of its own: Hugging Face's trainers, nanotron, GPT-NeoX") {
  CHECK(stack_under("Hugging Face Trainer", "1") == "huggingface-2024");
  CHECK(stack_under("TRL", "8") == "huggingface-2024");
  CHECK(stack_under("Axolotl", "4") == "huggingface-2024");
  CHECK(stack_under("PyTorch FSDP (Hugging Face model, autocast)", "8") == "huggingface-2024");
  CHECK(stack_under("Hugging Face Trainer + DeepSpeed", "8") == "deepspeed-2024");
  CHECK(stack_under("LLaMA-Factory + DeepSpeed ZeRO-3", "8") == "deepspeed-2024");
  CHECK(stack_under("Hugging Face Trainer + DeepSpeed", "1") == "deepspeed-2024");
  CHECK(stack_under("nanotron", "8") == "nanotron-2024");
  CHECK(stack_under("GPT-NeoX (Megatron-DeepSpeed)", "8") == "megatron-deepspeed-2022");
}

TEST_CASE("what a framework usually recomputes does not replace what a run says") {
  for (const char* mode : {"every:2", "by-operator", "offload:4", "selective:mlp"}) {
    CAPTURE(mode);
    const Resolution resolution = nemo_run(mode);
    CAPTURE(resolution.skipped);
    REQUIRE(resolution.run);
    CHECK(to_text(resolution.run->strategy.recompute) == mode);
  }
  // 6 of 32 layers, in two stages: the first three of each
  const Resolution block = nemo_run("full on 6 of 32 layers");
  REQUIRE(block.run);
  CHECK(to_text(block.run->strategy.recompute) == "block:3");
  CHECK_THAT(nemo_run("full on 7 of 32 layers").skipped, Catch::Matchers::ContainsSubstring("is not modelled"));
  CHECK_THAT(nemo_run("ful").skipped, Catch::Matchers::ContainsSubstring("recompute: \"ful\" is not modelled") &&
                                          Catch::Matchers::ContainsSubstring("nearest: full"));
}

TEST_CASE("a run on images needs no length of a sequence") {
  const std::string text =
      R"json({"format": "plumbline.rows/1", "name": "timm", "source": "huggingface/pytorch-image-models issue 1491", "rows": [
    {"id": "resnet", "hardware": "A100-SXM-80GB", "gpus": 1, "model": "resnet-50", "framework": "PyTorch", "global_batch": 512,
     "micro_batch": 512, "precision": "bf16", "recompute": "none", "measured": {"step_time_s": 0.2008}}]})json";
  const Json json = parse_json(text, "timm.json");
  const RunSet runs = runs_from_json(JsonPlace(json, "timm.json"), "timm");
  const Resolution resolution = resolver_of_catalogue().resolve(runs.runs.front().question, runs);
  CAPTURE(resolution.skipped);
  REQUIRE(resolution.run);
  CHECK(resolution.run->question.training().global_batch == 512);
}

TEST_CASE("MXNet of NVIDIA's containers is a stack of its own") {
  const std::string text =
      R"json({"format": "plumbline.rows/1", "name": "mlperf", "source": "mlcommons/training_results_v4.0", "rows": [
    {"id": "resnet", "hardware": "H100-SXM-80GB", "gpus": 64, "gpus_per_node": 8, "model": "resnet-50", "framework": "MXNet",
     "release": "NGC 24.04", "section": "MLPerf Training v4.0, closed division, resnet", "global_batch": 3200,
     "micro_batch": 50, "precision": "fp16", "zero_stage": 0, "measured": {"step_time_s": 0.010187}}]})json";
  const Json json = parse_json(text, "mlperf.json");
  const RunSet runs = runs_from_json(JsonPlace(json, "mlperf.json"), "mlperf");
  const Resolution resolution = resolver_of_catalogue().resolve(runs.runs.front().question, runs);
  CAPTURE(resolution.skipped);
  REQUIRE(resolution.run);
  CHECK(resolution.run->question.calibration().stack.name == "mxnet-ngc-2023");
  CHECK(resolution.run->question.training().optimizer == Optimizer::momentum);
}

TEST_CASE("published runs become the questions that their sources asked") {
  for (const Expected& expected : expected_rows) {
    CAPTURE(expected.id);
    const Resolution resolution = resolved_row(expected.id);
    REQUIRE(resolution.skipped.empty());
    REQUIRE(resolution.run);
    CHECK(resolution.run->question.text().machine == expected.machine);
    CHECK(resolution.run->question.calibration().stack.name == expected.stack);
    CHECK(to_text(resolution.run->strategy) == expected.strategy);
  }
}

namespace {

/// MLPerf Training, llama2_70b_lora: what submissions to it have in common.
RunSet mlperf_lora(const std::string& runs) {
  const std::string text =
      R"json({"format": "plumbline.rows/1", "name": "mlperf", "source": "mlcommons/training_results",
    "common": {"model": "llama2-70b", "framework": "NeMo (Megatron-Core)", "task": "lora", "precision": "fp8-delayed",
      "section": "MLPerf Training, closed division", "lora_rank": 16, "lora_targets": "qkv", "seq_len": 8192,
      "document_tokens": 8192, "gpus": 8, "nodes": 1, "gpus_per_node": 8,
      "global_batch": 8, "micro_batch": 1, "pp": 1, "vpp": 1, "zero_stage": 1, "recompute": "none",
      "flash_attention": true, "optimizer": "AdamW"},
    "rows": [)json" +
      runs + "]}";
  const Json json = parse_json(text, "mlperf.json");
  return runs_from_json(JsonPlace(json, "mlperf.json"), "mlperf");
}

}  // namespace

// Three submissions that ran: mlcommons/training_results_v4.1, NVIDIA/results/eos_ngc24.09_nemo (3.667 s) and
// h200_ngc24.09_nemo (3.231 s), training_results_v5.0, nyx_n1_ngc25.04_nemo (1.513 s).
TEST_CASE("MLPerf's fine-tuning of Llama 2 70B fits: frozen weights in fp8 alone, and gates' inputs in 8 bits") {
  const RunSet runs = mlperf_lora(R"(
    {"id": "h100", "hardware": "H100-SXM-80GB", "release": "NeMo 24.09", "tp": 4, "cp": 1, "dp": 2, "sequence_parallel": true,
     "network": "400 Gb/s per GPU", "unverified_fields": ["lora_targets"], "use": ["time", "fit"],
     "measured": {"step_time_s": 3.66669}},
    {"id": "h200", "hardware": "H200-SXM-141GB", "release": "NeMo 24.09", "tp": 1, "cp": 2, "dp": 4,
     "sequence_parallel": false, "unverified_fields": ["lora_targets"], "use": ["time", "fit"],
     "measured": {"step_time_s": 3.23143}},
    {"id": "b200", "hardware": "B200-SXM-180GB", "release": "NeMo 25.04", "tp": 1, "cp": 1, "dp": 8,
     "sequence_parallel": false, "unverified_fields": ["lora_targets"], "use": ["time", "fit"],
     "measured": {"step_time_s": 1.5127}})");
  for (const MeasuredRun& run : runs.runs) {
    CAPTURE(run.question.id);
    const Resolution resolution = resolver_of_catalogue().resolve(run.question, runs);
    REQUIRE(resolution.skipped.empty());
    REQUIRE(resolution.run);
    const Question& question = resolution.run->question;
    CAPTURE(question.calibration().stack.name);
    CHECK(question.training().adaptation.lora_targets == LoraTargets::attention);
    CHECK(evaluate(question, resolution.run->strategy).verdict.fits);
  }
}

TEST_CASE("recipes say what logs do not: 16-bit moments, a pipeline's first stage, dropout") {
  const Resolution moonlight = resolved_row("mbskill-moonlight-0");
  REQUIRE(moonlight.run);
  CHECK(moonlight.run->question.training().optimizer_format == NumberFormat::bf16);
  const Resolution first = resolved_row("bs-v100-1b3-l28");
  REQUIRE(first.run);
  CHECK(first.run->fields.word("memory_rank") == "first");
  CHECK(first.run->fields.word("attention_dropout") == "on");
}

TEST_CASE("unpublished recompute is the least that fits, and says so") {
  for (const char* id : {"mbcard-qwen3-8b-pretrain-h100", "mbcard-moonlight-16b-a3b-pretrain-h100"}) {
    CAPTURE(id);
    const Resolution resolution = resolved_row(id);
    REQUIRE(resolution.run);
    const AssumedField* field = assumed(*resolution.run, "recompute");
    REQUIRE(field != nullptr);
    CHECK(field->value == "least that fits: " + to_text(resolution.run->strategy.recompute));
  }
}

TEST_CASE("unpublished recompute is what the framework's own configuration says, where there is one") {
  for (const char* id : {"mbridge-26.04.01-097", "nemo-24.12-028", "nemo-24.07-003", "automodel-11"}) {
    CAPTURE(id);
    const Resolution resolution = resolved_row(id);
    REQUIRE(resolution.run);
    CHECK(resolution.run->strategy.recompute.mode == RecomputeMode::none);
    const AssumedField* field = assumed(*resolution.run, "recompute");
    REQUIRE(field != nullptr);
    CHECK_FALSE(field->source.empty());
  }
  const Resolution deepseek = resolved_row("mbridge-26.04-137");
  REQUIRE(deepseek.run);
  CHECK(to_text(deepseek.run->strategy.recompute) == "selective:mla_up_proj");
  const Resolution automodel = resolved_row("automodel-10");
  REQUIRE(automodel.run);
  CHECK(automodel.run->strategy.recompute.mode == RecomputeMode::full);
}

// 4096 tokens in documents of 225: 18 of them, so a query sees 225 / 4096 of the keys it would see in one sequence.
TEST_CASE("documents packed into a sequence attend to themselves alone") {
  const Resolution resolution = resolved_row("nemo-24.07-016");
  REQUIRE(resolution.run);
  const Question& question = resolution.run->question;
  const Shard shard = shard_of(resolution.run->strategy, question.training());
  bool found = false;
  for (const Block& block : question.graph().blocks())
    for (const Op& op : block.ops()) {
      if (op.kind != OpKind::attention) continue;
      found = true;
      const OpWork work = op_work(block, op, shard);
      CHECK(work.attention->batch == 18);
      CHECK(work.attention->queries == 225);
      CHECK(work.attention->keys == 225);
      CHECK(work.attention->causal);
    }
  CHECK(found);
}

TEST_CASE("attention is fused where the source says so, and unfused before it existed") {
  CHECK(resolved_row("llmfoundry-001").run->strategy.flash_attention == FlashAttention::on);
  CHECK(resolved_row("llmc-gpt2-1558m").run->strategy.flash_attention == FlashAttention::on);  // "cuDNN"
  CHECK(resolved_row("bloom-prequel-l832").run->strategy.flash_attention == FlashAttention::off);
  CHECK(resolved_row("zb-t4-1.5b-zb-2p-m24").run->strategy.flash_attention == FlashAttention::off);
}

// 24 layers of 12 * 2048^2 + 13 * 2048, V = 50257 padded to 50304, 2048 positions, final norm:
// 24 * (50331648 + 26624) + 50304 * 2048 + 2048 * 2048 + 4096 = 1208598528 + 103022592 + 4194304 + 4096.
TEST_CASE("a name that is a shape is that network, its vocabulary padded as Megatron does") {
  const Resolution resolution = resolved_row("bs-v100-1b3-l23");
  REQUIRE(resolution.run);
  CHECK(parameter_count(resolution.run->question.network().graph) == 1'315'819'520);
}

// (183e9 - 250880 * 14400) / (12 * 14400^2) = 72.09.
TEST_CASE("layers that a nominal size implies are assumed and reported") {
  for (const RunSet& set : rows_of_catalogue())
    for (const MeasuredRun& run : set.runs) {
      if (run.question.fields.word("model") != "bs-183b" || run.question.fields.number("pp") != 12) continue;
      const Resolution resolution = resolver_of_catalogue().resolve(run.question, set);
      REQUIRE(resolution.run);
      REQUIRE(assumed(*resolution.run, "layers") != nullptr);
      CHECK(assumed(*resolution.run, "layers")->value == "72");
      CHECK(resolution.run->question.graph().layer_count() == 72);
      return;
    }
  FAIL("no run of bs-183b");
}

TEST_CASE("a run's loss is a value of its stack's axis, and published words for one are understood") {
  RunQuestion run = published_row("ao-h100-l8b-none").first->question;
  const RunSet set{"torchao_docs", {}};
  run.fields.words["loss"] = "fused_linear";
  CHECK(resolver_of_catalogue().resolve(run, set).run->question.text().stack == "torchtitan-2024.12+loss=fused_linear");
  run.fields.words["loss"] = "fp32_eager";  // what it is anyway
  CHECK(resolver_of_catalogue().resolve(run, set).run->question.text().stack == "torchtitan-2024.12");
  run.fields.words["loss"] = "liger";
  const Resolution refused = resolver_of_catalogue().resolve(run, set);
  CHECK_FALSE(refused.run);
  CHECK_THAT(refused.skipped, Catch::Matchers::ContainsSubstring("loss: found 'liger'"));
  CHECK(resolved_row("torchtune-l3.2-3b-chunkedce").run->question.text().stack == "torchtitan-2025.06");
}

TEST_CASE("a run's CUDA graphs and overlap of tensor-parallel collectives are those of its stack, in words of rows") {
  RunQuestion run = published_row("ao-h100-l8b-none").first->question;
  const RunSet set{"torchao_docs", {}};
  const auto stack = [&] { return resolver_of_catalogue().resolve(run, set).run->question.text().stack; };
  run.fields.words["cuda_graphs"] = "full_iteration";
  CHECK(stack() == "torchtitan-2024.12+launch=cuda_graphs");
  run.fields.words["cuda_graphs"] = "layers";
  CHECK(stack() == "torchtitan-2024.12+launch=layer_graphs");
  run.fields.words["cuda_graphs"] = "false";
  CHECK(stack() == "torchtitan-2024.12");
  run.fields.words["tp_comm_overlap"] = "true";
  CHECK(stack() == "torchtitan-2024.12+tensor_parallel_overlap=async");
  run.fields.words["cuda_graphs"] = "layer";
  const Resolution refused = resolver_of_catalogue().resolve(run, set);
  CHECK_FALSE(refused.run);
  CHECK_THAT(refused.skipped, Catch::Matchers::ContainsSubstring("cuda_graphs: found 'layer'") &&
                                  Catch::Matchers::ContainsSubstring("nearest: layers"));
}

TEST_CASE("a network of the catalogue may be cut to its first layers, or get more of the last kind") {
  RunQuestion run = published_row("ao-h100-l8b-none").first->question;
  const auto layers = [&](std::int64_t count) {
    run.fields.numbers["num_layers_override"] = count;
    return resolver_of_catalogue().resolve(run, {"torchao_docs", {}}).run->question.graph().layer_count();
  };
  CHECK(layers(4) == 4);
  CHECK(layers(40) == 40);
  run.fields.words["model"] = "deepseek-v3";  // three dense layers, then experts
  CHECK(layers(5) == 5);
  CHECK(layers(2) == 2);
}

namespace {

/// A run of a network that its source describes, norm and all.
Resolution run_of_shape(const std::string& norm) {
  const std::string text = R"json({"format": "plumbline.rows/1", "name": "own", "source": "a log", "rows": [
    {"id": "run", "framework": "PyTorch", "hardware": "A100-SXM-80GB", "gpus": 1, "seq_len": 1024, "global_batch": 8,
    "micro_batch": 1, "precision": "bf16", "recompute": "full", "measured": {"step_time_s": 9},
    "model_spec": {"arch": "llama", "layers": 2, "hidden": 256, "heads": 4, "ffn": 512, "vocab": 1024, "norm": ")json" +
                           norm + R"json("}}]})json";
  const Json json = parse_json(text, "own.json");
  const RunSet runs = runs_from_json(JsonPlace(json, "own.json"), "own");
  return resolver_of_catalogue().resolve(runs.runs.front().question, runs);
}

bool has_operator(const Resolution& resolution, OpKind kind) {
  const Block& layer = first_layer(resolution.run->question.graph());
  return std::any_of(layer.ops().begin(), layer.ops().end(), [&](const Op& op) { return op.kind == kind; });
}

}  // namespace

TEST_CASE("a shape's norm is read in capitals or not, and one that nobody knows is refused") {
  CHECK(has_operator(run_of_shape("rmsnorm"), OpKind::rms_norm));
  CHECK(has_operator(run_of_shape("RMSNorm"), OpKind::rms_norm));
  CHECK(has_operator(run_of_shape("layernorm"), OpKind::layer_norm));
  CHECK_THAT(run_of_shape("rsmnorm").skipped, Catch::Matchers::ContainsSubstring("its norm \"rsmnorm\" is unknown"));
}

TEST_CASE("absurd shapes are refused, not counted wrongly") {
  RunQuestion run = published_row("zb-t4-1.5b-zb-2p-m24").first->question;
  run.shape.emplace();
  run.shape->numbers = {{"hidden", 10'000'000}, {"layers", 100'000}, {"heads", 1}, {"vocab", 100'000'000}};
  CHECK(resolver_of_catalogue().resolve(run, {"zero_bubble", {}}).skipped.find("10^16 parameters") !=
        std::string::npos);
}

TEST_CASE("what cannot be asked is skipped with the reason") {
  CHECK(resolved_row("litgpt-15").skipped == "seq_len: is not published");
  CHECK(resolved_row("tt-nvfp4-l8b-nvfp4-tail").skipped == "fp4 in chosen layers is not modelled");
  const Resolution fp4 = resolved_row("tt-nvfp4-l8b-nvfp4-all");
  REQUIRE(fp4.run);
  CHECK(fp4.run->question.training().precision == PrecisionRecipe::nvfp4);
  CHECK(resolved_row("mleng-upgrade-l8b-h200-8k").skipped == "offloaded optimizer states are not modelled");
}

TEST_CASE("degrees that contradict the GPU count are refused") {
  RunQuestion run = published_row("zb-t4-1.5b-zb-2p-m24").first->question;
  run.fields.numbers["dp"] = 2;
  CHECK(resolver_of_catalogue().resolve(run, {"zero_bubble", {}}).skipped ==
        "dp: 2 contradicts the other degrees; expected 1");
}

TEST_CASE("the batch follows from its factors") {
  RunQuestion run = published_row("zb-t4-1.5b-zb-2p-m24").first->question;
  run.fields.numbers.erase("micro_batch");
  run.fields.numbers["grad_accum"] = 24;
  CHECK(resolver_of_catalogue().resolve(run, {"zero_bubble", {}}).run->strategy.micro_batch == 6);
  run.fields.numbers["micro_batch"] = 6;
  run.fields.numbers.erase("global_batch");
  CHECK(resolver_of_catalogue().resolve(run, {"zero_bubble", {}}).run->question.training().global_batch == 144);
}

namespace {

bool speaks_of_a_run(const RunRule& rule, const RunSet& set) {
  return std::any_of(set.runs.begin(), set.runs.end(), [&](const MeasuredRun& run) {
    RunFields fields = run.question.fields;
    fields.words["id"] = run.question.id;
    return holds(rule, fields);
  });
}

}  // namespace

TEST_CASE("every rule has a source, and what a source says of a run speaks of one that it has") {
  for (const RunRuleTable& table : {run_aliases(), run_assumptions()}) {
    CHECK_FALSE(table.description.empty());
    for (const RunRule& rule : table.rules) {
      CHECK_FALSE(rule.source.empty());
      // What names runs of one source is data of that source.
      for (const RunCondition& condition : rule.when) CHECK((condition.field != "id" && condition.field != "rows"));
    }
  }
  std::size_t assumptions = 0;
  for (const RunSet& set : rows_of_catalogue()) {
    for (const RunRule& rule : set.rules.meanings) {  // one that speaks of no run would be a misspelt id
      CAPTURE(set.name, rule.source);
      CHECK_FALSE(rule.source.empty());
      CHECK(speaks_of_a_run(rule, set));
    }
    for (const RunRule& rule : set.rules.assumptions) CHECK_FALSE(rule.source.empty());
    assumptions += set.rules.assumptions.size();
  }
  CHECK(assumptions > 40);
}

// A row that is far off is missing physics until its source says otherwise.
TEST_CASE("a run is doubtful only for what its source says, never for its error") {
  std::size_t doubts = 0;
  for (const RunSet& set : rows_of_catalogue())
    for (const RunRule& rule : set.rules.meanings)
      for (const auto& [field, reason] : rule.then) {
        if (field != "doubtful") continue;
        CAPTURE(set.name, reason, rule.source);
        ++doubts;
        for (const char* word : {"slow", "fast", "predicted", "model"}) CHECK(reason.find(word) == std::string::npos);
        CHECK(rule.source.find("study") == std::string::npos);
      }
  CHECK(doubts >= 8);
  const auto ends_in_doubt = [](const RunRuleTable& table) {
    return std::any_of(table.rules.begin(), table.rules.end(), [](const RunRule& rule) {
      return std::any_of(rule.then.begin(), rule.then.end(), [](const auto& one) { return one.first == "doubtful"; });
    });
  };
  CHECK_FALSE(ends_in_doubt(run_aliases()));
  CHECK_FALSE(ends_in_doubt(run_assumptions()));
}

TEST_CASE("a rule of a source comes before those that hold for all, and holds for no other source") {
  const auto [run, set] = published_row("tt-27aa4907-l8b-fsdp8-full");
  CHECK(resolver_of_catalogue().ruled(run->question, *set).fields.word("release") == "27aa4907");
  CHECK(resolver_of_catalogue().ruled(run->question, {"another", {}}).fields.word("release").empty());
  RunSet own{"own", {}};
  own.rules.assumptions.push_back(RunRule{{}, {{"optimizer", "SGD"}}, "", false, "a test"});
  RunQuestion silent = run->question;
  silent.fields.words.erase("optimizer");
  const RuledRun ruled = resolver_of_catalogue().ruled(silent, own);
  CHECK(ruled.fields.word("optimizer") == "SGD");
  CHECK(std::any_of(ruled.assumed.begin(), ruled.assumed.end(),
                    [](const AssumedField& field) { return field.field == "optimizer" && field.source == "a test"; }));
}

namespace {

/// A run that says nothing of its software but its name.
RunQuestion asked_run(const char* framework, const char* hardware) {
  RunQuestion run;
  run.id = "asked";
  run.fields.words = {{"framework", framework}, {"hardware", hardware}, {"model", "llama-3-8b"}};
  run.fields.numbers = {{"gpus", 8}, {"seq_len", 4096}, {"global_batch", 8}};
  return run;
}

}  // namespace

// Per layer and token: Llama's MLP has three matrices of 64 x 172, GPT's two.
TEST_CASE("a shape that names Llama's architecture is gated, and one that says so itself") {
  RunQuestion run = asked_run("Megatron-LM", "A100-SXM-80GB");
  run.fields.words["model"] = "ours";
  run.shape.emplace();
  run.shape->numbers = {{"layers", 1}, {"hidden", 64}, {"heads", 4}, {"ffn", 172}, {"vocab", 1000}};
  const auto parameters = [&] {
    const Resolution resolution = resolver_of_catalogue().resolve(run, {"own", {}});
    REQUIRE(resolution.run);
    return parameter_count(resolution.run->question.network().graph);
  };
  // The vocabulary of 1000 is padded to 1024. Llama: embedding and head, 4 h^2 of attention, 3 matrices, 3 norms.
  run.shape->words["arch"] = "llama";
  CHECK(parameters() == 2 * 1024 * 64 + 4 * 64 * 64 + 3 * 64 * 172 + 3 * 64);
  run.shape->words["activation"] = "silu";
  CHECK(parameters() == 2 * 1024 * 64 + 4 * 64 * 64 + 3 * 64 * 172 + 3 * 64);
  run.shape->words = {{"arch", "gpt"}, {"activation", "gelu"}};
  const std::int64_t plain = parameters();
  run.shape->words["gated"] = "true";
  CHECK(parameters() == plain + 64LL * 172 + 172);  // one matrix more, with its bias
}

TEST_CASE("a release that nobody published is not older than the device") {
  struct Case {
    const char* framework;
    const char* hardware;
    const char* stack;
  };
  for (const Case& c : {Case{"Megatron-LM", "A100-SXM-80GB", "megatron-lm-2021"},
                        Case{"Megatron-LM", "H100-SXM-80GB", "megatron-core-0.12"},
                        Case{"Megatron-LM", "GB200-NVL72", "megatron-core-0.12"},
                        Case{"DeepSpeed ZeRO-3", "A100-SXM-80GB", "deepspeed-2021"},
                        Case{"DeepSpeed ZeRO-3", "H100-SXM-80GB", "deepspeed-2024"},
                        Case{"DeepSpeed ZeRO-3", "GH200-96GB", "deepspeed-2024"}}) {
    CAPTURE(c.framework, c.hardware);
    const Resolution resolution = resolver_of_catalogue().resolve(asked_run(c.framework, c.hardware), {"own", {}});
    REQUIRE(resolution.run);
    CHECK(resolution.run->question.calibration().stack.name == c.stack);
  }
  CHECK(resolver_of_catalogue()
            .resolve(asked_run("Megatron-LM", "H100-SXM-80GB"), {"own", {}})
            .run->strategy.flash_attention == FlashAttention::on);
}

TEST_CASE("of a run whose recipe changes the first is asked") {
  RunQuestion run = asked_run("NeMo (Megatron-Core)", "GB200-NVL72");
  run.fields.words["precision"] = "nvfp4, then fp8";
  const Resolution resolution = resolver_of_catalogue().resolve(run, {"own", {}});
  CAPTURE(resolution.skipped);
  REQUIRE(resolution.run);
  CHECK(resolution.run->question.training().precision == PrecisionRecipe::nvfp4);
}

TEST_CASE("a precision that means two is asked back with the choices") {
  RunQuestion run = asked_run("Megatron-LM", "A100-SXM-80GB");
  run.fields.words["precision"] = "mixed fp16/bf16";
  CHECK(resolver_of_catalogue().resolve(run, {"own", {}}).skipped ==
        "precision: \"mixed fp16/bf16\" is not modelled; expected one of fp32, tf32, fp16, bf16, bf16-pure, fp16-pure, "
        "fp8, fp8-delayed, fp8-row, fp8-block, mxfp8, nvfp4");
}

}  // namespace plumbline
