// torchtitan's TOML and recipe from settings, and back.

#include "core/base/errors.h"
#include "core/io/schedule_csv.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/random_strategies.h"

namespace plumbline::torchtitan_launch_files_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool has_note(const ImportNotes& notes, const std::string& part) {
  return std::any_of(notes.unread.begin(), notes.unread.end(), [&](const std::string& one) { return has(one, part); });
}

LaunchSettings settings_for(const Strategy& s, const std::string& model) {
  Training training;
  training.sequence_length = 8192;
  training.global_batch = std::int64_t{s.data_parallel} * s.micro_batch * s.micro_batches;
  training.gradient_format = NumberFormat::fp32;
  LaunchSettings settings = settings_of(s, training);
  settings.model = model;
  return settings;
}

LaunchFiles written(const Strategy& s, std::string_view release = "0.2.2", const std::string& model = "llama-3.1-8b") {
  return torchtitan_target().write(settings_for(s, model), release);
}

Imported read(const std::string& text) { return torchtitan_target().read(text, "run.toml"); }

Strategy back(const LaunchFiles& files, std::int64_t devices) {
  Imported imported = torchtitan_target().read(files.files.front().text, files.files.front().name);
  imported.settings.devices = devices;
  derive_missing(imported.settings);
  return strategy_of(imported.settings);
}

Strategy hybrid() {
  Strategy s;
  s.tensor_parallel = 4;
  s.sequence_parallel = SequenceParallel::on;
  s.context_parallel = 2;
  s.data_parallel = 8;
  s.zero_stage = 2;
  s.shard_group = 4;
  s.micro_batch = 2;
  s.micro_batches = 3;
  s.recompute = {RecomputeMode::every_nth, 2};
  return s;
}

TEST_CASE("a plan with hybrid sharding is written as TOML") {
  const LaunchFiles files = written(hybrid());
  CHECK(files.files.front().name == "torchtitan.toml");
  CHECK(files.files.front().text == R"([model]
name = "llama3"
flavor = "8B"
hf_assets_path = "./assets/hf/Llama-3.1-8B"

[optimizer]
name = "AdamW"

[training]
local_batch_size = 2
global_batch_size = 48
seq_len = 8192
mixed_precision_param = "bfloat16"

[activation_checkpoint]
mode = "selective"
selective_ac_option = "2"

[compile]
enable = true

[parallelism]
data_parallel_replicate_degree = 4
data_parallel_shard_degree = 2
fsdp_reshard_after_forward = "never"
tensor_parallel_degree = 4
context_parallel_degree = 2
expert_parallel_degree = 1
expert_tensor_parallel_degree = 1
pipeline_parallel_degree = 1
)");
  CHECK(back(files, 64) == hybrid());
}

Strategy pipelined(Schedule schedule, std::int32_t virtual_stages) {
  Strategy s;
  s.pipeline_stages = 4;
  s.virtual_stages = virtual_stages;
  s.schedule = schedule;
  s.data_parallel = 2;
  s.zero_stage = 3;
  s.shard_group = 2;
  s.micro_batches = 8;
  return s;
}

TEST_CASE("a pipeline takes its micro-batches at once, and stages name their layers") {
  const std::string text = written(pipelined(Schedule::one_f_one_b, 1)).files.front().text;
  CHECK(has(text, "local_batch_size = 8\nglobal_batch_size = 16\n"));
  CHECK(has(text, "pipeline_parallel_microbatch_size = 1\n"));
  CHECK(has(text, "pipeline_parallel_schedule = \"1F1B\"\n"));
  CHECK(has(text,
            "\n  [\"layers.8\", \"layers.9\", \"layers.10\", \"layers.11\", \"layers.12\", \"layers.13\", "
            "\"layers.14\", \"layers.15\"],\n"));
}

// Legality of torchtitan's readers: PipelineScheduleMulti is looped, ZBVZeroBubble a V.
TEST_CASE("orders that PyTorch has no name for are written as a file beside") {
  const LaunchFiles looped = written(pipelined(Schedule::zb_h1, 1));
  CHECK(has(looped.files.front().text,
            "pipeline_parallel_schedule = \"PipelineScheduleMulti\"\n"
            "pipeline_parallel_schedule_csv = \"schedule-zb-h1.csv\"\n"));
  REQUIRE(looped.files.at(1).name == "schedule-zb-h1.csv");
  CHECK(read_schedule_csv(looped.files.at(1).text, "x") == compute_schedule(Schedule::zb_h1, {4, 1, 8}));
  const LaunchFiles folded = written(pipelined(Schedule::v_half, 2));
  CHECK(has(folded.files.front().text, "pipeline_parallel_schedule = \"ZBVZeroBubble\"\n"));
  CHECK(folded.files.at(1).name == "schedule-v-half.csv");
  CHECK(back(folded, 8) == pipelined(Schedule::v_half, 2));
}

TEST_CASE("the recipe of main counts tokens") {
  Strategy s = pipelined(Schedule::interleaved, 2);
  s.recompute.mode = RecomputeMode::full;
  const LaunchFiles files = written(s, "main");
  const std::string& text = files.files.front().text;
  CHECK(files.files.front().name == "torchtitan_recipe.py");
  CHECK(has(text, "config.training.max_context_length = 8192\n"));
  CHECK(has(text, "config.training.num_tokens_per_microbatch_per_dp_rank = 8192\n"));
  CHECK(has(text, "config.training.num_tokens_per_train_step = 131072\n"));
  CHECK(has(text, "config.parallelism.num_pp_microbatches = 8\n"));
  CHECK(has(text, "\"norm\", \"lm_head\"],\n"));
  CHECK(has(text, "config.activation_checkpoint = FullAC.Config()\n"));
  CHECK(back(files, 8) == s);
}

TEST_CASE("what main has no key for is refused there") {
  CHECK_THROWS_AS(written(hybrid(), "main"), InputError);  // every second layer
  Strategy s = hybrid();
  s.recompute = {};
  CHECK(back(written(s, "main"), 64) == s);
}

TEST_CASE("a network that torchtitan does not have is named, with what the files leave open") {
  const LaunchFiles files = written(hybrid(), "0.2.2", "gpt2-xl");
  CHECK(has(files.files.front().text, "name = \"gpt2-xl\"\nflavor = \"YOUR-FLAVOR\"\n"));
  CHECK(has(files.assumptions.front(), "torchtitan has no flavor for gpt2-xl"));
  Strategy s = pipelined(Schedule::one_f_one_b, 1);
  CHECK(has(written(s, "0.2.2", "qwen3-8b").missing.at(0), "no pipelines for qwen3"));
  s = {};
  s.tensor_parallel = 8;
  s.sequence_parallel = SequenceParallel::on;
  CHECK(has(written(s).unsaid.at(0), "without FSDP"));
}

TEST_CASE("a file that says little means torchtitan's defaults") {
  Imported imported = read("[training]\nseq_len = 4096\n[parallelism]\npipeline_parallel_degree = 2\n");
  const LaunchSettings& s = imported.settings;
  CHECK(s.micro_batch == 1);
  CHECK(s.micro_batches == 8);
  CHECK(s.zero_stage == 2);  // parameters stay gathered in a pipeline
  CHECK(s.recompute == Recompute{RecomputeMode::every_nth, 2});
  CHECK(s.precision == PrecisionRecipe::bf16);
  CHECK(s.gradient_format == NumberFormat::fp32);
  CHECK(s.optimizer == Optimizer::adamw);
  CHECK(s.schedule == Schedule::one_f_one_b);
  CHECK(has_note(imported.notes, "flavor debugmodel is no network of the catalogue"));
}

TEST_CASE("stages that nobody counted out are torchtitan's own") {
  const Imported imported = read(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n"
      "pipeline_parallel_degree = 4\n");
  CHECK(imported.settings.model == "llama-3.1-8b");
  CHECK(imported.settings.layers_per_stage == std::vector<std::int32_t>{8, 9, 8, 7});
  CHECK(read("[model]\nflavor = \"8B\"\n[parallelism]\npipeline_parallel_degree = 2\n")
            .settings.layers_per_stage.empty());
  const Imported looped = read(
      "[model]\nflavor = \"8B_flex\"\n[parallelism]\npipeline_parallel_degree = 2\n"
      "pipeline_parallel_schedule = \"interleaved1f1b\"\npipeline_parallel_layers_per_stage = 4\n"
      "pipeline_parallel_first_stage_less_layers = 0\n"
      "pipeline_parallel_last_stage_less_layers = 0\n[training]\nlocal_batch_size = 8\n");
  CHECK(looped.settings.schedule == Schedule::interleaved);
  CHECK(looped.settings.virtual_stages == 4);  // 32 layers in stages of 4 on 2 ranks
}

TEST_CASE("keys that matter and are not understood are named, others are counted") {
  const Imported imported = read(
      "[job]\ndescription = \"x\"\n[metrics]\nlog_freq = 1\n[training]\nenable_cpu_offload = true\n[parallelism]\n"
      "enable_async_tensor_parallel = true\ndisable_loss_parallel = false\nquantum_degree = 2\n[compile]\nenable = "
      "false\n"
      "[optimizer]\nname = \"Lion\"\n[activation_checkpoint]\nmode = \"memory_budget\"\n");
  const ImportNotes& notes = imported.notes;
  CHECK(notes.ignored == 2);
  for (const char* part :
       {"training.enable_cpu_offload = true changes memory and time", "parallelism.enable_async_tensor_parallel = true",
        "parallelism.quantum_degree is not known here", "compile.enable = false changes time", "\"Lion\"",
        "memory_budget"})
    CHECK(has_note(notes, part));
  CHECK(!has_note(notes, "disable_loss_parallel"));
}

TEST_CASE("values that torchtitan refuses are refused with the key") {
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"[parallelism]\ntensor_parallel_degree = 0\n", "run.toml: parallelism.tensor_parallel_degree"},
           {"[parallelism]\ntensor_parallel_degree = \"8\"\n", "run.toml: parallelism.tensor_parallel_degree"},
           {"[training]\nseq_len = -1\n", "run.toml: training.seq_len"},
           {"[activation_checkpoint]\nselective_ac_option = \"x\"\n", "run.toml: activation_checkpoint"},
           {"[parallelism]\npipeline_parallel_degree = 2\nmodule_fqns_per_model_part = [[\"norm\"], [\"x\"], []]\n",
            "run.toml"}}) {
    std::string message;
    try {
      (void)read(text);
    } catch (const InputError& error) {
      message = error.what();
    }
    INFO(text);
    CHECK(has(message, part));
  }
}

/// Degrees up to thousands of GPUs, and every schedule and recompute that torchtitan has.
Strategy random_strategy(Dice& dice, bool has_experts) {
  Strategy s;
  s.tensor_parallel = dice.one_of({1, 1, 2, 4, 8});
  s.sequence_parallel = s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
  s.context_parallel = dice.one_of({1, 1, 2, 4});
  s.data_parallel = dice.one_of({1, 2, 4, 6, 16});
  s.pipeline_stages = dice.one_of({1, 2, 4, 8});
  s.micro_batch = dice.between(1, 3);
  s.micro_batches = 16 * dice.between(1, 3);
  if (s.pipeline_stages > 1) {
    s.schedule = all_schedules[static_cast<std::size_t>(dice.between(1, std::ssize(all_schedules) - 1))];
    const RankChunks chunks = record_of(s.schedule).chunks;
    s.virtual_stages = chunks == RankChunks::one ? 1 : chunks == RankChunks::two ? 2 : dice.one_of({2, 3});
  }
  s.zero_stage = s.gradient_ranks() > 1 ? dice.one_of({0, 2, 3}) : 0;
  if (s.zero_stage > 0) s.shard_group = s.gradient_ranks() / (s.data_parallel % 2 == 0 ? dice.one_of({1, 2}) : 1);
  s.recompute = dice.one_of({Recompute{}, Recompute{RecomputeMode::full}, Recompute{RecomputeMode::by_operator},
                             Recompute{RecomputeMode::every_nth, 3}});
  if (has_experts) s.expert_parallel = dice.one_of({1, 2, 4});
  if (has_experts && (s.expert_parallel == 1 || dice.one_in(2))) s.expert_tensor_parallel = s.tensor_parallel;
  return s;
}

TEST_CASE("500 plans that torchtitan launches come back from their files as they were") {
  Dice dice(15);
  for (const bool has_experts : {false, true}) {
    const std::string model = has_experts ? "deepseek-v2-lite" : "llama-3.1-8b";
    for (int plans = 0; plans < 250;) {
      const Strategy s = random_strategy(dice, has_experts);
      if (!inexpressible(Framework::torchtitan, s, NetworkFacts{.has_experts = has_experts}).empty() ||
          (s.shard_group == 1) != (s.zero_stage == 0))
        continue;
      ++plans;
      INFO(to_text(s));
      REQUIRE(back(written(s, "0.2.2", model), s.devices()) == s);
      if (s.recompute.mode == RecomputeMode::every_nth || (s.expert_parallel > 1 && s.expert_tensor_parallel > 1))
        continue;
      Strategy of_main = s;
      of_main.expert_tensor_parallel = 1;
      REQUIRE(back(written(of_main, "main", model), s.devices()) == of_main);
    }
  }
}

TEST_CASE("uneven stages come back as they were") {
  Strategy s = pipelined(Schedule::one_f_one_b, 1);
  s.layers_per_stage = {7, 9, 9, 7};
  CHECK(back(written(s), 8) == s);
  s = pipelined(Schedule::interleaved, 2);
  s.layers_per_stage = {3, 4, 4, 5, 4, 4, 4, 4};
  CHECK(back(written(s, "main"), 8) == s);
  s.layers_per_stage.clear();
  CHECK(back(written(s, "0.2.2", "a network of mine"), 8) == s);
}

// torchtitan/config/configs.py of 0.3.0 counts samples, of main tokens; both return Trainer.Config from a function.
TEST_CASE("0.3.0 is a recipe whose keys count samples") {
  const LaunchFiles files = written(pipelined(Schedule::one_f_one_b, 1), "0.3.0");
  CHECK(files.files.front().name == "torchtitan_recipe.py");
  const std::string& text = files.files.front().text;
  for (const char* const key : {"training.local_batch_size", "training.seq_len", "training.global_batch_size",
                                "parallelism.pipeline_parallel_microbatch_size", "\"lm_head\""})
    CHECK(has(text, key));
  for (const char* const key : {"num_tokens", "max_context_length", "num_pp_microbatches"}) CHECK(!has(text, key));
  CHECK(!written(Strategy{}, "0.3.0", "llama-4-scout").missing.empty());
}

// Model converters of v0.2.2 are registered under quantize.linear.float8 and quantize.linear.mx.
TEST_CASE("converters have the names that v0.2.2 registers, and networks without pipelines do not start") {
  LaunchSettings s = settings_for(Strategy{}, "llama-3.1-8b");
  s.precision = PrecisionRecipe::fp8;
  CHECK(has(torchtitan_target().write(s, "0.2.2").files.front().text, "converters = [\"quantize.linear.float8\"]"));
  s.precision = PrecisionRecipe::mxfp8;
  CHECK(has(torchtitan_target().write(s, "0.2.2").files.front().text, "converters = [\"quantize.linear.mx\"]"));
  const LaunchFiles qwen = written(pipelined(Schedule::one_f_one_b, 1), "0.2.2", "qwen3-8b");
  REQUIRE(qwen.missing.size() == 1);
  CHECK(has(qwen.missing.front(), "no pipelines for qwen3"));
}

}  // namespace
}  // namespace plumbline::torchtitan_launch_files_test
