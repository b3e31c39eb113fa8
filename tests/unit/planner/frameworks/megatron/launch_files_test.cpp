// Commands of Megatron-LM: those of its own examples, and what is written.

#include <algorithm>
#include <tuple>

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
    {"llama3-8b-fp8", "8 tp 1 pp 1 v 1 ep 1 etp 1 zero 1 none", "fp8-delayed mbs 1 gbs 128 seq 8192", 8.03, 3},
    {"llama32-1b-fp8", "8 tp 4 pp 1 v 1 ep 1 etp 1 zero 1 sp none", "fp8-delayed mbs 1 gbs 128 seq 8192", 1.67, 1},
    {"deepseek-v2-lite-16-layers", "8 tp 8 pp 1 v 1 ep 1 etp 8 zero 1 sp none", "bf16 mbs 1 gbs 64 seq 1024", 9.6, 0},
    {"deepseek-v3", "0 tp 1 pp 1 v 1 ep 8 etp 1 zero 1 none", "bf16 mbs 1 gbs 128 seq 4096", 700.0, 3},
    {"sc21-figure-13", "0 tp 32 pp 2 v 1 ep 1 etp 1 zero 0 full", "fp16 mbs 1 gbs 32 seq 2048", 162.2, 1},
    {"sc21-figure-18", "0 tp 8 pp 12 v 4 ep 1 etp 1 zero 0 full", "fp16 mbs 1 gbs 12 seq 2048", 174.6, 1}};

double billions(const Json& config) {
  const Network network = import_hugging_face(JsonPlace(config, "network"), "network");
  return static_cast<double>(parameter_count(network.graph)) / 1e9;
}

TEST_CASE("a fused loss says by whom, and nothing where it is not fused") {
  const auto loss = [](const std::string& flags) {
    return imported("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 " + flags + "\n").settings.choices.loss;
  };
  CHECK(loss("--cross-entropy-loss-fusion") == "vocab_parallel_jit");
  CHECK(loss("--cross-entropy-loss-fusion --cross-entropy-fusion-impl native") == "vocab_parallel_jit");
  CHECK(loss("--cross-entropy-fusion-impl te --cross-entropy-loss-fusion") == "fused");
  CHECK(loss("--cross-entropy-fusion-impl te").empty());
  const Imported other = imported(
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --cross-entropy-loss-fusion "
      "--cross-entropy-fusion-impl linear\n");
  CHECK(std::count(other.notes.unread.begin(), other.notes.unread.end(),
                   "--cross-entropy-fusion-impl changes memory and time and is not modelled") == 1);
}

TEST_CASE("nothing overlaps unless flags say it") {
  const auto overlap = [](const std::string& flags) {
    return imported("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 " + flags + "\n")
        .settings.choices.overlap;
  };
  CHECK(overlap("") == "none");
  CHECK(overlap("--use-distributed-optimizer") == "none");
  CHECK(overlap("--use-distributed-optimizer --overlap-grad-reduce") == "reductions");
  CHECK(overlap("--overlap-param-gather --use-distributed-optimizer --overlap-grad-reduce") == "both");
  CHECK(overlap("--overlap-grad-reduce").empty());  // all that ZeRO-0 has to overlap
}

// arguments.py of core_v0.17.0: --enable-cuda-graph is the local implementation, --external-cuda-graph Transformer
// Engine's; a scope of full_iteration is a graph of the passes, modules of a mixture's layer are parts of layers.
TEST_CASE("CUDA graphs and the overlap of tensor-parallel collectives are read in the spelling of each release") {
  const auto choices = [](const std::string& flags) {
    return imported("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 " + flags + "\n").settings.choices;
  };
  CHECK(choices("").cuda_graphs.empty());
  CHECK(choices("").tp_comm_overlap.empty());
  CHECK(choices("--tp-comm-overlap").tp_comm_overlap == "on");
  CHECK(choices("--cuda-graph-impl none").cuda_graphs == "none");
  CHECK(choices("--cuda-graph-impl full_iteration").cuda_graphs == "iteration");
  CHECK(choices("--cuda-graph-impl transformer_engine").cuda_graphs == "layers");
  CHECK(choices("--cuda-graph-impl transformer_engine --cuda-graph-modules attn moe_router").cuda_graphs == "partial");
  CHECK(choices("--cuda-graph-impl transformer_engine --cuda-graph-scope attn mlp").cuda_graphs == "layers");
  CHECK(choices("--cuda-graph-scope full_iteration --cuda-graph-impl local").cuda_graphs == "iteration");
  CHECK(choices("--enable-cuda-graph --cuda-graph-scope full_iteration").cuda_graphs == "iteration");
  CHECK(choices("--external-cuda-graph").cuda_graphs == "layers");
  CHECK(choices("--cuda-graph-scope full_iteration").cuda_graphs.empty());
  CHECK_THROWS_WITH(choices("--cuda-graph-impl whole"),
                    Catch::Matchers::ContainsSubstring("found 'whole'") &&
                        Catch::Matchers::ContainsSubstring("transformer_engine or full_iteration"));
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

// transformer_config.py: recompute_method, recompute_num_layers.
TEST_CASE("recompute of several layers at once, and of the first layers of each stage, is what Megatron-LM names so") {
  const auto read = [](const std::string& flags) {
    return recompute_text(imported("--num-layers 24 --hidden-size 96 --num-attention-heads 6 " + flags).settings);
  };
  CHECK(read("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1") == "full");
  CHECK(read("--recompute-granularity full --recompute-method uniform --recompute-num-layers 4") == "uniform:4");
  CHECK(read("--recompute-granularity full --recompute-method block --recompute-num-layers 1") == "block:1");
  CHECK(read("--recompute-num-layers 3 --recompute-method block --recompute-granularity full") == "block:3");
  CHECK(read("--recompute-granularity selective") == "selective");
  CHECK_THROWS_WITH(read("--recompute-granularity full --recompute-method some"),
                    Catch::Matchers::ContainsSubstring("found 'some'; expected uniform or block"));
  CHECK_THROWS_AS(read("--recompute-granularity full --recompute-method block --recompute-num-layers 0"), InputError);
  // More layers than a stage has: all of it.
  CHECK(read("--pipeline-model-parallel-size 4 --recompute-granularity full --recompute-method block "
             "--recompute-num-layers 99") == "block:6");
  CHECK(read("--pipeline-model-parallel-size 24 --recompute-granularity full --recompute-method uniform "
             "--recompute-num-layers 2") == "full");
  CHECK(read("--pipeline-model-parallel-size 4 --recompute-granularity full --recompute-method uniform "
             "--recompute-num-layers 99") == "uniform:6");
  // Flags of 2020 to 2022.
  CHECK(read("--checkpoint-activations") == "full");
  CHECK(read("--checkpoint-activations --checkpoint-num-layers 3") == "uniform:3");
  CHECK(read("--activations-checkpoint-method uniform") == "full");
  CHECK(read("--activations-checkpoint-method uniform --activations-checkpoint-num-layers 2") == "uniform:2");
  CHECK(read("--activations-checkpoint-num-layers 7 --activations-checkpoint-method block") == "block:7");
  const Imported one = imported(
      "--num-layers 24 --pipeline-model-parallel-size 2 --recompute-granularity full "
      "--recompute-method block --recompute-num-layers 4");
  for (const std::string& sentence : one.notes.unread) CHECK(sentence.find("recompute") == std::string::npos);
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

const std::vector<std::string>& integer_flags() {
  static const std::vector<std::string> flags{"--num-layers",
                                              "--hidden-size",
                                              "--num-attention-heads",
                                              "--num-query-groups",
                                              "--kv-channels",
                                              "--ffn-hidden-size",
                                              "--num-experts",
                                              "--moe-router-topk",
                                              "--moe-ffn-hidden-size",
                                              "--moe-shared-expert-intermediate-size",
                                              "--moe-layer-freq",
                                              "--q-lora-rank",
                                              "--kv-lora-rank",
                                              "--vocab-size",
                                              "--make-vocab-size-divisible-by",
                                              "--num-layers-per-virtual-pipeline-stage",
                                              "--num-virtual-stages-per-pipeline-rank",
                                              "--decoder-first-pipeline-num-layers",
                                              "--decoder-last-pipeline-num-layers",
                                              "--pipeline-model-parallel-size",
                                              "--tensor-model-parallel-size",
                                              "--context-parallel-size",
                                              "--expert-model-parallel-size",
                                              "--expert-tensor-parallel-size",
                                              "--micro-batch-size",
                                              "--global-batch-size",
                                              "--seq-length",
                                              "--train-iters",
                                              "--train-samples",
                                              "--recompute-num-layers",
                                              "--num-distributed-optimizer-instances",
                                              "--nnodes",
                                              "--nproc_per_node"};
  return flags;
}

// 2^31 - 1, 2^31 and 2^63 - 1 overflow where nobody looks at them; 0 divides.
TEST_CASE("any integer in any flag is read or refused, alone and with another one") {
  const std::vector<std::string> numbers{"0",    "-1", "1", "3", "2147483647", "2147483648", "9223372036854775807",
                                         "1e300"};
  int refused = 0;
  for (const std::string& one : integer_flags())
    for (const char* const other : {"--num-layers", "--num-attention-heads", "--num-query-groups",
                                    "--pipeline-model-parallel-size", "--no-such-flag"})
      for (const std::string& number : numbers) {
        const std::string text =
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 96 "
            "--num-attention-heads 6 --swiglu --pipeline-model-parallel-size 2 --recompute-granularity "
            "full --recompute-method block --micro-batch-size 1 " +
            one + " " + number + " " + std::string(other) + " 0";
        try {
          Imported read = imported(text);
          derive_missing(read.settings);
        } catch (const InputError&) {
          ++refused;
        }
      }
  CHECK(refused > 500);
}

TEST_CASE("no layers and no heads are refused with their flag") {
  const std::string rest =
      " --hidden-size 96 --num-layers-per-virtual-pipeline-stage 2 --pipeline-model-parallel-size 2";
  CHECK_THROWS_WITH(imported("pretrain_gpt.py --num-layers 0 --num-attention-heads 6" + rest),
                    Catch::Matchers::ContainsSubstring("--num-layers: found 0"));
  CHECK_THROWS_WITH(imported("pretrain_gpt.py --num-layers 4 --num-attention-heads 0" + rest),
                    Catch::Matchers::ContainsSubstring("--num-attention-heads: found 0"));
}

TEST_CASE("the network of another program than pretrain_gpt.py is not taken for its") {
  const std::string flags = " --num-layers 12 --hidden-size 96 --num-attention-heads 6 --micro-batch-size 1\n";
  const Imported bert = imported("torchrun pretrain_bert.py" + flags);
  CHECK(bert.settings.network_config.is_null());
  REQUIRE(!bert.notes.unread.empty());
  CHECK_THAT(bert.notes.unread.back(), Catch::Matchers::ContainsSubstring("the network of pretrain_bert.py"));
  CHECK(!imported("# not pretrain_bert.py\ntorchrun pretrain_gpt.py" + flags).settings.network_config.is_null());
}

// 128256 is a multiple of 128: nothing is padded.
TEST_CASE("a vocabulary that needs no padding is kept") {
  const Imported read = imported(
      "pretrain_gpt.py --num-layers 2 --hidden-size 96 --num-attention-heads 6 --tokenizer-type NullTokenizer "
      "--vocab-size 128256");
  CHECK(*read.settings.network_config.find("vocab_size")->if_integer() == 128256);
}

LaunchFiles written(const LaunchSettings& s, std::string_view release = "main") {
  return megatron_lm_target().write(s, release);
}
LaunchSettings settings_with(std::int32_t tensor_parallel, std::int32_t context_parallel, std::int32_t zero_stage,
                             const char* config) {
  Strategy strategy;
  strategy.tensor_parallel = tensor_parallel;
  strategy.context_parallel = context_parallel;
  strategy.data_parallel = 2;
  strategy.zero_stage = zero_stage;
  Training training;
  training.sequence_length = 1024;
  training.global_batch = 2;
  LaunchSettings s = settings_of(strategy, training);
  s.network_config = parse_json(config, "network");
  return s;
}
constexpr const char* small_llama = R"({"model_type": "llama", "hidden_size": 96, "num_hidden_layers": 4,
    "num_attention_heads": 6, "vocab_size": 50000, "rms_norm_eps": 1e-05, "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192}})";

std::string file_text(const LaunchFiles& files, std::string_view name) {
  for (const LaunchFile& file : files.files)
    if (file.name == name) return file.text;
  return "";
}

// validate_args of main: "CUDA_DEVICE_MAX_CONNECTIONS to 1" where tensor or context parallelism runs, more for FSDP.
TEST_CASE("scripts export what validate_args asks of the environment") {
  for (const auto& [tp, cp, zero, is_exported] :
       {std::tuple(2, 1, 1, true), std::tuple(1, 3, 0, true), std::tuple(1, 1, 1, false), std::tuple(3, 1, 3, false)}) {
    const LaunchFiles files = written(settings_with(tp, cp, zero, small_llama));
    for (const char* const name : {"launch.sh", "job.slurm"})
      CHECK((file_text(files, name).find("export CUDA_DEVICE_MAX_CONNECTIONS=1\n") != std::string::npos) ==
            is_exported);
    CHECK((file_text(files, "job.yaml").find("- name: CUDA_DEVICE_MAX_CONNECTIONS\n") != std::string::npos) ==
          is_exported);
  }
}

// transformer_config.py, cp_comm_type: p2p, all_gather, a2a or a2a+p2p, for all layers or for each.
TEST_CASE("how context-parallel ranks communicate is written and read, what is neither ring nor all-to-all is named") {
  LaunchSettings s = settings_with(1, 2, 0, small_llama);
  CHECK_THAT(file_text(written(s), "arguments.txt"), !Catch::Matchers::ContainsSubstring("--cp-comm-type"));
  s.context_communication = ContextCommunication::all_to_all;
  CHECK_THAT(file_text(written(s), "arguments.txt"), Catch::Matchers::ContainsSubstring("--cp-comm-type a2a\n"));
  const std::string command = "torchrun pretrain_gpt.py --num-layers 4 --context-parallel-size 2 --cp-comm-type ";
  CHECK(imported(command + "a2a").settings.context_communication == ContextCommunication::all_to_all);
  CHECK(imported(command + "p2p").settings.context_communication == ContextCommunication::ring);
  const Imported both = imported(command + "a2a+p2p");
  CHECK(!both.settings.context_communication);
  CHECK(std::count(both.notes.unread.begin(), both.notes.unread.end(),
                   "--cp-comm-type changes time and is not modelled") == 1);
}

// null_tokenizer.py: vocab_size + 1 up to core_v0.17.1, vocab_size from core_v0.18.0 on.
TEST_CASE("the vocabulary is that of each release's NullTokenizer") {
  const LaunchSettings s = settings_with(1, 1, 1, small_llama);
  CHECK_THAT(file_text(written(s, "core_v0.17.0"), "arguments.txt"),
             Catch::Matchers::ContainsSubstring("--vocab-size 49999\n"));
  for (const char* const release : {"core_v0.18.0", "core_v0.19.0", "main"})
    CHECK_THAT(file_text(written(s, release), "arguments.txt"),
               Catch::Matchers::ContainsSubstring("--vocab-size 50000\n"));
}

TEST_CASE("positions are scaled as the network's are, and norms have its epsilon") {
  const std::string text = file_text(written(settings_with(1, 1, 1, small_llama)), "arguments.txt");
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("--use-rope-scaling\n--rope-scaling-factor 32.0\n"));
  CHECK_THAT(text, !Catch::Matchers::ContainsSubstring("--norm-epsilon"));  // the default
  const LaunchSettings mixtral = settings_with(1, 1, 1, R"({"model_type": "mixtral", "hidden_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 6, "vocab_size": 32000, "num_local_experts": 8})");
  CHECK_THAT(file_text(written(mixtral), "arguments.txt"),
             Catch::Matchers::ContainsSubstring("--rotary-base 1000000\n"));
  const LaunchSettings qwen = settings_with(1, 1, 1, R"({"model_type": "qwen2", "hidden_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 6, "vocab_size": 32000, "rms_norm_eps": 1e-06})");
  CHECK_THAT(file_text(written(qwen), "arguments.txt"), Catch::Matchers::ContainsSubstring("--norm-epsilon 1e-06\n"));
  const LaunchSettings nemotron = settings_with(1, 1, 1, R"({"model_type": "nemotron", "hidden_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 6, "vocab_size": 32000, "norm_eps": 2e-05})");
  CHECK_THAT(file_text(written(nemotron), "arguments.txt"),
             Catch::Matchers::ContainsSubstring("--norm-epsilon 2e-05\n"));
  const LaunchSettings gpt = settings_with(1, 1, 1, R"({"model_type": "gpt2", "n_embd": 96, "n_layer": 4, "n_head": 6,
      "vocab_size": 32000, "layer_norm_epsilon": 1e-06})");
  CHECK_THAT(file_text(written(gpt), "arguments.txt"), Catch::Matchers::ContainsSubstring("--norm-epsilon 1e-06\n"));
}

TEST_CASE("latent attention does without a fusion that older releases refuse") {
  const LaunchSettings s = settings_with(1, 1, 1, R"({"model_type": "deepseek_v3", "hidden_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 6, "vocab_size": 32000, "n_routed_experts": 8,
      "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1, "first_k_dense_replace": 1})");
  CHECK_THAT(file_text(written(s, "core_v0.12.0"), "arguments.txt"),
             Catch::Matchers::ContainsSubstring("--no-rope-fusion"));
  CHECK_THAT(file_text(written(s, "core_v0.13.0"), "arguments.txt"),
             !Catch::Matchers::ContainsSubstring("--no-rope-fusion"));
}

TEST_CASE("a network without flags is missing, as the script would not start") {
  const LaunchSettings s = settings_with(1, 1, 1, R"({"model_type": "bert", "hidden_size": 96})");
  REQUIRE(written(s).missing.size() == 1);
  CHECK_THAT(written(s).missing.front(), Catch::Matchers::ContainsSubstring("model_type 'bert'"));
  CHECK(written(settings_with(1, 1, 1, small_llama)).missing.empty());
}

}  // namespace
}  // namespace plumbline::megatron_launch_files_test
