// Commands of Megatron-LM: those of its own examples, and what is written.

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "core/io/json.h"
#include "core/io/json_file.h"
#include "models/import/hugging_face.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline::megatron_launch_files_test {
namespace {

Imported imported(const std::string& text) { return megatron_lm_target().read(text, "train.sh"); }

Imported example(const std::string& name) {
  const std::string path = test_data_folder() + "/launch/megatron-lm/" + name + ".sh";
  return imported(read_text_file(path, "a command"));
}

std::string recompute_text(const LaunchSettings& s) { return to_text(s.recompute.value_or(Recompute{})); }

struct Expected {
  const char* name;
  const char* strategy;
  const char* recipe;
  double billion_parameters;
  std::size_t unread;  ///< flags that matter and are not modelled
};

std::string strategy_text(const LaunchSettings& s) {
  return std::to_string(s.devices.value_or(0)) + " tp " + std::to_string(s.tensor_parallel.value_or(1)) + " pp " +
         std::to_string(s.pipeline_stages.value_or(1)) + " v " + std::to_string(s.virtual_stages.value_or(1)) + " ep " +
         std::to_string(s.expert_parallel.value_or(1)) + " etp " +
         std::to_string(s.expert_tensor_parallel.value_or(0)) + " zero " + std::to_string(s.zero_stage.value_or(9)) +
         (s.sequence_parallel == SequenceParallel::on ? " sp " : " ") + recompute_text(s);
}

std::string recipe_text(const LaunchSettings& s) {
  return std::string(to_text(*s.precision)) + " mbs " + std::to_string(s.micro_batch.value_or(0)) + " gbs " +
         std::to_string(s.global_batch.value_or(0)) + " seq " + std::to_string(s.sequence_length.value_or(0));
}

// Of the parameters: those of the vocabulary that the command says, else the architecture's usual one (unread).
const Expected examples[] = {
    {"gpt3-175b-2025", "8 tp 8 pp 16 v 1 ep 1 etp 1 zero 0 none", "fp16 mbs 1 gbs 1536 seq 2048", 174.6, 2},
    {"gpt3-857m", "8 tp 8 pp 1 v 1 ep 1 etp 1 zero 0 none", "fp16 mbs 8 gbs 128 seq 2048", 0.356, 1},
    {"gpt3-175b-2021", "1024 tp 8 pp 16 v 1 ep 1 etp 1 zero 0 full", "fp16 mbs 1 gbs 1536 seq 2048", 174.6, 2},
    {"gpt-345m-mp", "8 tp 2 pp 2 v 1 ep 1 etp 1 zero 0 full", "fp16 mbs 4 gbs 16 seq 1024", 0.355, 1},
    {"mixtral-8x7b", "8 tp 1 pp 4 v 1 ep 8 etp 1 zero 1 none", "bf16 mbs 1 gbs 256 seq 4096", 46.7, 1},
    {"llama2-70b", "0 tp 8 pp 1 v 1 ep 1 etp 1 zero 1 sp none", "bf16 mbs 1 gbs 8 seq 4096", 69.0, 2},
    {"llama2-7b-fp8", "4 tp 1 pp 1 v 1 ep 1 etp 1 zero 1 selective", "fp8-delayed mbs 1 gbs 2048 seq 2048", 6.74, 1},
    {"llama3-8b-fp8", "8 tp 1 pp 1 v 1 ep 1 etp 1 zero 1 none", "fp8-delayed mbs 1 gbs 128 seq 8192", 8.03, 4},
    {"llama32-1b-fp8", "8 tp 4 pp 1 v 1 ep 1 etp 1 zero 1 sp none", "fp8-delayed mbs 1 gbs 128 seq 8192", 1.67, 1},
    {"deepseek-v2-lite-16-layers", "8 tp 8 pp 1 v 1 ep 1 etp 8 zero 1 sp none", "bf16 mbs 1 gbs 64 seq 1024", 9.6, 0},
    {"deepseek-v3", "0 tp 1 pp 1 v 1 ep 8 etp 1 zero 1 none", "bf16 mbs 1 gbs 128 seq 4096", 700.0, 3},
    {"sc21-figure-13", "0 tp 32 pp 2 v 1 ep 1 etp 1 zero 0 full", "fp16 mbs 1 gbs 32 seq 2048", 162.2, 1},
    {"sc21-figure-18", "0 tp 8 pp 12 v 4 ep 1 etp 1 zero 0 full", "fp16 mbs 1 gbs 12 seq 2048", 174.6, 1}};

double billions(const Json& config) {
  const Network network = import_hugging_face(JsonPlace(config, "network"), "network");
  return static_cast<double>(parameter_count(network.graph)) / 1e9;
}

TEST_CASE("commands of public examples are imported without a loss that matters") {
  for (const Expected& expected : examples) {
    INFO(expected.name);
    Imported one = example(expected.name);
    derive_missing(one.settings);
    CHECK(strategy_text(one.settings) == expected.strategy);
    CHECK(recipe_text(one.settings) == expected.recipe);
    CHECK(billions(one.settings.network_config) == Approx(expected.billion_parameters).epsilon(0.02));
    std::string unread;
    for (const std::string& sentence : one.notes.unread) unread += sentence + "\n";
    INFO(unread);
    CHECK(one.notes.unread.size() == expected.unread);
  }
}

TEST_CASE("sharding, splits and formats follow from several flags together") {
  const std::string base =
      "--num-layers 30 --pipeline-model-parallel-size 4 --context-parallel-size 2 --nnodes 4 "
      "--nproc_per_node 8 --bf16 --micro-batch-size 1 --global-batch-size 8 ";
  LaunchSettings s = imported(base +
                              "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads "
                              "--num-distributed-optimizer-instances 2 --grad-reduce-in-bf16")
                         .settings;
  derive_missing(s);
  CHECK(s.zero_stage == 2);
  CHECK(s.shard_group == 4);  // 32 GPUs / 4 stages = 8 gradient ranks in 2 instances
  CHECK(s.gradient_format == NumberFormat::bf16);
  CHECK(imported(base).settings.gradient_format == NumberFormat::fp32);
  CHECK(imported(base + "--use-torch-fsdp2").settings.zero_stage == 3);
  s = imported(base + "--decoder-first-pipeline-num-layers 6 --decoder-last-pipeline-num-layers 4").settings;
  CHECK(s.layers_per_stage == std::vector<std::int32_t>{6, 10, 10, 4});
  // 30 layers, embedding and loss are 32 = 4 * 8: what an even split is here.
  CHECK(imported(base + "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split")
            .settings.layers_per_stage.empty());
  CHECK(imported("--recompute-granularity selective --recompute-modules mlp layernorm").settings.recompute ==
        recompute_from_text("selective:layernorm+mlp"));
}

TEST_CASE("torchrun starts one node where nobody says how many") {
  CHECK(imported("torchrun --nproc_per_node 8 x.py --bf16").settings.nodes == 1);
  CHECK(!imported("torchrun --nproc_per_node 8 --nnodes $N x.py --bf16").settings.nodes);
  CHECK(!imported("x.py --bf16").settings.nodes);
}

TEST_CASE("what cannot be read is refused by its flag, what is not in the file is named") {
  CHECK_THROWS_WITH(imported("--tensor-model-parallel-size x"),
                    Catch::Matchers::ContainsSubstring("train.sh: --tensor-model-parallel-size: found a string"));
  CHECK_THROWS_AS(imported("--recompute-granularity some"), InputError);
  CHECK_THROWS_AS(imported("--optimizer soap"), InputError);
  CHECK_THROWS_AS(imported("--num-layers 8 --hidden-size -1 --num-attention-heads 2"), InputError);
  const Imported one = imported("--tensor-model-parallel-size $TP --bf16 $MORE --no-such-flag --log-interval 5");
  CHECK(!one.settings.tensor_parallel);
  CHECK(one.settings.precision == PrecisionRecipe::bf16);
  CHECK(one.notes.unread.size() == 2);
  CHECK(one.notes.ignored == 1);
}

}  // namespace
}  // namespace plumbline::megatron_launch_files_test
