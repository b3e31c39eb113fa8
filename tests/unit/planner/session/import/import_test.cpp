// Launch files as a question and a strategy.

#include "planner/session/import/import.h"

#include <algorithm>

#include "core/base/errors.h"
#include "planner/session/plan_file.h"
#include "tests/catch.h"

namespace plumbline::session {
namespace {

constexpr const char* command =
    "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 "
    "--num-attention-heads 32 --group-query-attention --num-query-groups 8 --max-position-embeddings 8192 --swiglu "
    "--normalization RMSNorm --position-embedding-type rope --rotary-base 500000 --disable-bias-linear "
    "--untie-embeddings-and-output-weights --vocab-size 128256 --attention-dropout 0 --hidden-dropout 0 --seq-length "
    "4096 --micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer --tensor-model-parallel-size "
    "2 --pipeline-model-parallel-size 2 --sequence-parallel --log-interval 1 --delay-wgrad-compute";

ImportRequest request_of(const std::string& text) {
  ImportRequest request;
  request.files = {{"train.sh", text}};
  request.from = "megatron-lm";
  request.question.machine = "dgx-h100";
  return request;
}

StrategyRequest asked(const ImportRequest& request) { return strategy_request(request, import_files(request)); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST_CASE("a command becomes a strategy that is priced, with its network") {
  const StrategyRequest request = asked(request_of(command));
  const PricedQuestion priced = estimate(request);
  CHECK(priced.strategy.tensor_parallel == 2);
  CHECK(priced.strategy.pipeline_stages == 2);
  CHECK(priced.strategy.data_parallel == 4);
  CHECK(priced.strategy.micro_batches == 16);
  CHECK(priced.strategy.zero_stage == 1);
  CHECK(priced.question.devices() == 16);
  CHECK(priced.plan.training.formats().gradient == NumberFormat::fp32);
  CHECK(priced.warning ==
        "train.sh: --delay-wgrad-compute changes memory and time and is not modelled; 1 other flag changes neither "
        "memory "
        "nor time");
  CHECK(config_of(priced).find("\"intermediate_size\": 14336") != std::string::npos);
}

// Adam's states of a rank are 12 bytes a parameter, 4-bit weights a quarter of 16-bit ones: factors, not shades.
TEST_CASE("a run is not priced where its files offload states or load weights in few bits") {
  const auto answer = [](const std::string& from, const std::string& name, const std::string& text) -> std::string {
    ImportRequest request;
    request.files = {{name, text}};
    request.from = from;
    request.question.model = "llama-2-7b";
    request.question.machine = "dgx-a100-80g";
    request.question.devices = 8;
    request.question.training.global_batch = 64;
    try {
      (void)estimate(asked(request));
    } catch (const InputError& error) {
      return error.what();
    }
    return "priced";
  };
  const auto deepspeed = [&](const std::string& device) {
    return answer("deepspeed", "ds.json",
                  R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
                      "zero_optimization": {"stage": 2, "offload_optimizer": {"device": ")" +
                      device + "\"}}}");
  };
  CHECK(deepspeed("none") == "priced");
  CHECK(
      deepspeed("cpu") ==
      "--import: ds.json: zero_optimization.offload_optimizer changes memory and time and is not modelled: what would "
      "be priced is another run; expected launch files without it, or plan import, which shows the flags of the rest");
  const std::string script =
      "accelerate launch --multi_gpu --num_processes 8 --mixed_precision bf16 train.py --per_device_train_batch_size "
      "8 ";
  CHECK(answer("accelerate", "t.sh", script) == "priced");
  CHECK(answer("accelerate", "t.sh", script + "--load_in_4bit False") == "priced");
  CHECK(answer("accelerate", "t.sh", script + "--load_in_4bit True").find("--load_in_4bit changes memory") !=
        std::string::npos);
}

TEST_CASE("files of a framework are priced by its own stack, unless another is named") {
  ImportRequest request;
  request.files = {{"ds_config.json", R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1,
                                          "zero_optimization": {"stage": 2, "overlap_comm": true},
                                          "bf16": {"enabled": true}})"}};
  request.from = "deepspeed";
  request.question.model = "llama-3-8b";
  request.question.machine = "dgx-h100";
  request.question.devices = 16;
  const StrategyRequest own = asked(request);
  CHECK(own.question.stack == "deepspeed-2024");
  CHECK(joined(estimate_flags(own)).find(" --stack deepspeed-2024 ") != std::string::npos);
  CHECK(estimate(own).plan.provenance.stack_calibration == "deepspeed-2024");
  request.question.stack = "megatron-core-0.12";
  CHECK(asked(request).question.stack == "megatron-core-0.12");
  CHECK(asked(request_of(command)).question.stack == "megatron-core-0.19");
}

TEST_CASE("a network of the catalogue is found by its shape, and the flags name it") {
  StrategyRequest request = asked(request_of(command));
  CHECK(catalogue_name(request.network_config) == "llama-3-8b");
  CHECK(catalogue_name({}).empty());
  CHECK(joined(estimate_flags(request)) ==
        "--model train-network.json --machine dgx-h100 --gpus 16 --stack megatron-core-0.19 --overlap none --seq-len "
        "4096 --global-batch 64 "
        "--precision bf16 --gradient-precision fp32 --optimizer adamw --tp 2 --pp 2 --dp 4 --schedule 1f1b "
        "--micro-batch 1 --zero 1 --shard-group 4 --sequence-parallel on");
}

TEST_CASE("flags beside the files come before what they say") {
  ImportRequest request = request_of(command);
  request.question.devices = 64;
  request.question.model = "llama-3-8b";
  request.question.training.global_batch = 128;
  request.question.training.sequence_length = 8192;
  const StrategyRequest one = asked(request);
  CHECK(one.network_config.is_null());
  const PricedQuestion priced = estimate(one);
  CHECK(priced.strategy.data_parallel == 16);
  CHECK(priced.strategy.micro_batches == 8);
  CHECK(priced.plan.training.sequence_length == 8192);
}

TEST_CASE("what neither the files nor the flags say is asked for by its flag") {
  CHECK_THROWS_WITH(asked(request_of("--bf16")),
                    "--model: train.sh does not say what is trained; expected a name of "
                    "plan models or a file");
  ImportRequest request = request_of("--bf16 --micro-batch-size 1");
  request.question.model = "gpt2";
  CHECK_THROWS_WITH(asked(request), Catch::Matchers::ContainsSubstring("--gpus: train.sh does not say"));
  request.question.devices = 8;
  CHECK(asked(request).question.training.global_batch == 8);  // one micro-batch on each rank, as the framework has it
  request.files = {{"train.sh", "--bf16"}};
  CHECK_THROWS_WITH(asked(request), Catch::Matchers::ContainsSubstring("--global-batch: train.sh does not say it"));
  request.from = "megatron";
  CHECK_THROWS_WITH(asked(request), Catch::Matchers::ContainsSubstring("--from: unknown target 'megatron'"));
}

TEST_CASE("several files of one run complete each other") {
  ImportRequest request = request_of("--bf16 --micro-batch-size 2");
  request.files.push_back({"launch.sh", "torchrun --nnodes 1 --nproc_per_node 8 x.py --global-batch-size 32"});
  request.question.model = "gpt2";
  const StrategyRequest one = asked(request);
  CHECK(one.question.devices == 8);
  CHECK(one.question.training.global_batch == 32);
  CHECK(one.strategy.strategy.micro_batch == 2);
}

TEST_CASE("gradients in the recipe's own format are not those of the stack") {
  const StrategyRequest request = asked(request_of(std::string(command) + " --grad-reduce-in-bf16"));
  CHECK(request.question.training.gradient_format == NumberFormat::bf16);
  CHECK(estimate(request).plan.training.gradient_format == NumberFormat::bf16);
  CHECK(estimate(asked(request_of(command))).plan.training.gradient_format == NumberFormat::fp32);
}

ImportRequest files_of(const std::string& from, std::vector<ImportedText> files) {
  ImportRequest request;
  request.files = std::move(files);
  request.from = from;
  request.question.machine = "dgx-h100";
  return request;
}

TEST_CASE("one node and no accumulation are what frameworks have where nobody says more") {
  const ImportRequest request =
      files_of("accelerate", {{"a.yaml", "distributed_type: FSDP\nnum_processes: 8\nmixed_precision: bf16\n"},
                              {"train.sh",
                               "accelerate launch --config_file a.yaml t.py --model_name_or_path gpt2 "
                               "--per_device_train_batch_size 2 --max_seq_length 1024\n"}});
  const ImportAnswer answer = import_files(request);
  CHECK(answer.notes.unread.empty());  // a.yaml is here
  CHECK(strategy_request(request, answer).question.training.global_batch == 16);
  CHECK(answer.assumed.front() == "no gradient accumulation (1 micro-batch a step)");
  const ImportAnswer deepspeed = import_files(files_of(
      "deepspeed", {{"t.sh", "deepspeed --num_gpus 8 t.py --deepspeed ds.json --per_device_train_batch_size 2\n"}}));
  CHECK(deepspeed.settings.devices == 8);
  CHECK(deepspeed.notes.unread ==
        std::vector<std::string>{"--deepspeed changes memory and time: import ds.json as well, after t.sh"});
  CHECK(import_files(files_of("lightning", {{"t.py", "trainer = L.Trainer(devices=8, strategy=FSDPStrategy())\n"}}))
            .settings.devices == 8);
}

TEST_CASE("what no file says is said to be assumed") {
  const ImportAnswer answer = import_files(files_of("deepspeed", {{"ds.json", R"({"train_batch_size": 64})"}}));
  CHECK(answer.assumed == std::vector<std::string>{"the sequence length that is usual for the network",
                                                   "a micro-batch of 1", "optimizer adamw", "no recompute"});
}

TEST_CASE("a config of the Hub is a network, alone or beside launch files") {
  const std::string config =
      R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024})";
  ImportRequest request = files_of("huggingface", {{"some/config.json", config}});
  request.question.devices = 8;
  request.question.training.global_batch = 64;
  const StrategyRequest alone = asked(request);
  CHECK(named_in_catalogue(alone).question.model == "gpt2");
  CHECK(estimate(alone).plan.verdict.fits);
  request.from = "deepspeed";
  request.files.push_back({"ds.json", R"({"zero_optimization": {"stage": 2}})"});
  const StrategyRequest beside = asked(request);
  CHECK(beside.strategy.strategy.zero_stage == 2);
  CHECK_FALSE(beside.network_config.is_null());
  CHECK_THROWS_WITH(import_files(files_of("huggingface", {{"ds.json", "{}"}})),
                    Catch::Matchers::ContainsSubstring("ds.json: is no config of a network"));
}

TEST_CASE("an import is written as JSON") {
  const ImportRequest request = request_of(command);
  const ImportAnswer answer = import_files(request);
  const Json json = to_json(answer, estimate_flags(strategy_request(request, answer)));
  CHECK(*json.find("format")->if_string() == "plumbline.import/1");
  CHECK(*json.find("target")->if_string() == "megatron-lm");
  CHECK(json.find("not_modelled")->if_array()->size() == 1);
  CHECK(*json.find("ignored_flags")->if_integer() == 1);
  CHECK(json.find("network")->if_object() != nullptr);
}

ImportRequest files_for(const char* target, const char* name, const std::string& text) {
  ImportRequest request;
  request.files = {{name, text}};
  request.from = target;
  return request;
}

// Keys of public examples of Axolotl, LLaMA-Factory, GPT-NeoX and nanotron, whose files are YAML as Accelerate's are.
TEST_CASE("a file without one key of its target is refused, with the target that takes it") {
  for (const char* const text :
       {"base_model: NousResearch/Llama-3.2-1B\nmicro_batch_size: 2\nfsdp_config:\n  fsdp_offload_params: true\n",
        "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\nbf16: true\ndeepspeed: z3.json\n",
        "pipe_parallel_size: 2\nmodel_parallel_size: 4\n",
        "parallelism:\n  dp: 2\n  pp: 2\n  tp: 4\ntokens:\n  micro_batch_size: 2\n"})
    CHECK_THROWS_WITH(import_files(files_for("accelerate", "c.yaml", text)),
                      Catch::Matchers::ContainsSubstring("c.yaml: has neither distributed_type nor num_processes"));
  CHECK_THROWS_WITH(
      import_files(files_for("deepspeed", "c.json", R"({"hidden_size": 4096, "n_layer": 2})")),
      Catch::Matchers::ContainsSubstring("c.json: holds no key of this framework, but hidden_size, n_layer"));
  CHECK_THROWS_WITH(
      import_files(files_for("megatron-lm", "t.sh", "torchrun t.py --per_device_train_batch_size 4 --max_steps 5")),
      Catch::Matchers::ContainsSubstring("deepspeed") && Catch::Matchers::ContainsSubstring("accelerate"));
}

// examples/bert/train_bert_340m_distributed.sh says 8 GPUs, tp 8 and pp 16; Mixtral's dp 2 on 8 GPUs of pp 4 and ep 8.
TEST_CASE("degrees that the GPUs of the files do not hold are refused, unless others are said") {
  const std::string network =
      " --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --micro-batch-size 1 "
      "--global-batch-size 256 --seq-length 1024 ";
  const std::string dense = "torchrun --nproc_per_node 8 pretrain_gpt.py" + network +
                            "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 16\n";
  CHECK_THROWS_WITH(import_files(files_for("megatron-lm", "t.sh", dense)),
                    Catch::Matchers::ContainsSubstring("t.sh: tp 8, pp 16, cp 1 on 8 GPUs"));
  ImportRequest larger = files_for("megatron-lm", "t.sh", dense);
  larger.question.devices = 128;
  CHECK(import_files(larger).settings.data_parallel == 1);
  const std::string mixture = "torchrun --nproc_per_node 8 pretrain_gpt.py" + network +
                              "--pipeline-model-parallel-size 4 --expert-model-parallel-size 8 --num-experts 8\n";
  CHECK_THROWS_WITH(import_files(files_for("megatron-lm", "t.sh", mixture)),
                    Catch::Matchers::ContainsSubstring("pp 4, ep 8, etp 1 on 8 GPUs"));
}

TEST_CASE("a script's own flag of the ZeRO stage is read, and an assumption beside an unknown one says so") {
  const ImportAnswer read = import_files(files_for(
      "deepspeed", "t.sh", "deepspeed main.py --zero_stage 3 --per_device_train_batch_size 4 --num_gpus 8\n"));
  CHECK(read.settings.zero_stage == 3);
  const ImportAnswer unknown = import_files(files_for(
      "deepspeed", "t.sh", "deepspeed main.py --my_zero_level 3 --per_device_train_batch_size 4 --num_gpus 8\n"));
  const auto has = [&](std::string_view part) {
    return std::any_of(unknown.assumed.begin(), unknown.assumed.end(),
                       [&](const std::string& one) { return one.find(part) != std::string::npos; });
  };
  CHECK(has("though what is not known here may say otherwise"));
}

TEST_CASE("a launch script beside Bridge's overrides says the nodes") {
  ImportRequest request = files_for("megatron-bridge", "overrides.py",
                                    "cfg.model.tensor_model_parallel_size = 2\ncfg.train.micro_batch_size = 1\n");
  request.files.push_back({"launch.sh", "exec torchrun --nnodes=3 --nproc-per-node=4 pretrain.py\n"});
  const ImportAnswer answer = import_files(request);
  CHECK(answer.settings.devices == 12);
  CHECK(answer.settings.data_parallel == 6);
}

}  // namespace
}  // namespace plumbline::session
