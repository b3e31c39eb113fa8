// A checkpoint under any layout: what one wrote, every other reads and writes again, byte for byte.
#include <filesystem>
#include <fstream>
#include <random>

#include "core/plan/legality.h"
#include "core/plan/pipeline_schedule.h"
#include "runtime/device/cpu_device.h"
#include "runtime/local/local_ranks.h"
#include "runtime/run/rank_checkpoint.h"
#include "tests/execution_checks.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

/// Widths and heads that degrees of two, three, four and six divide.
Graph network_of(Net net, bool tied = false) {
  if (net == Net::gpt) return gpt({6, 24, 12, 96, 16, Dropout::no});
  LlamaShape shape{
      .layers = 6, .hidden = 24, .heads = 12, .kv_heads = 12, .head_dim = 2, .width = 36, .vocabulary = 96};
  shape.tied = tied;
  if (net == Net::moe) {
    shape.experts = 12;
    shape.chosen = 2;
    shape.expert_width = 6;
    shape.dense_layers = 2;
  }
  return llama(shape);
}

const char* type_of(Net net) {
  if (net == Net::gpt) return "gpt2";
  return net == Net::moe ? "qwen3_moe" : "llama";
}

TrainingJob job_of(const LoweredPlan& plan, Net net) {
  TrainingJob job = plan.job();
  job.network.model_type = type_of(net);
  return job;
}

Training small_recipe(Optimizer optimizer, PrecisionRecipe precision) {
  Training training;
  training.sequence_length = 24;
  training.global_batch = 24;
  training.precision = precision;
  training.optimizer = optimizer;
  return training;
}

/// Legal strategies of up to twelve ranks over every degree that the networks divide.
class Layouts {
 public:
  Layouts(const Graph& graph, const Training& training) : facts_(divisibility(graph)), training_(training) {}

  Strategy next() {
    for (;;) {
      const Strategy s = any();
      if (s.devices() > 1 && s.devices() <= 12 && !first_violation(s, training_, facts_, {s.devices(), 12, false}))
        return s;
    }
  }

 private:
  std::int32_t one_of(std::initializer_list<std::int32_t> choices) {
    return *(choices.begin() + bits_() % choices.size());
  }
  Strategy any() {
    Strategy s;
    s.pipeline_stages = one_of({1, 1, 2, 3});
    s.tensor_parallel = one_of({1, 1, 2, 3, 4, 6});
    s.context_parallel = one_of({1, 1, 2, 3});
    s.data_parallel = one_of({1, 2, 3, 4, 6, 8});
    if (!facts_.experts.empty()) s.expert_parallel = one_of({1, 2, 3, 4, 6});
    if (!facts_.experts.empty()) s.expert_tensor_parallel = one_of({1, 2, 3});
    s.zero_stage = one_of({0, 1, 2, 3});
    s.shard_group = s.zero_stage > 0 ? static_cast<std::int32_t>(s.gradient_ranks()) / one_of({1, 1, 2, 3}) : 1;
    s.micro_batches = 24 / s.data_parallel;
    s.sequence_parallel = s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
    if (s.pipeline_stages > 1) s.schedule = one_of({0, 1}) == 0 ? Schedule::one_f_one_b : Schedule::zbv;
    s.virtual_stages = s.schedule == Schedule::zbv && s.pipeline_stages > 1 ? 2 : 1;
    return s;
  }

  Divisibility facts_;
  Training training_;
  std::mt19937_64 bits_{20261123};
};

/// One rank's memory, without a step.
struct StoredRank {
  StoredRank(World& world, const TrainingJob& job)
      : groups(world, job.strategy),
        backend(device, Poison::yes),
        parameters(parameter_layout(job.graph, job.strategy, job.training, executions(job, groups), world.rank()),
                   job.strategy, job.training, groups, backend, device),
        checkpoint(world, job, parameters) {}

  static std::vector<Chunk> executions(const TrainingJob& job, const RankGroups& groups) {
    return executions_of(job.program.ranks[static_cast<std::size_t>(groups.index(Axis::pipeline))]);
  }

  RankGroups groups;
  CpuDevice device;
  Backend backend;
  ParameterStore parameters;
  RankCheckpoint checkpoint;
};

/// Bytes that no two elements share: what lies in the wrong place shows.
void fill(ParameterStore& parameters, const TrainingJob& job) {
  std::uint32_t state = 1;
  for (const StateRange& range : held_state(parameters.layout(), job.strategy, job.training))
    for (std::byte& byte : parameters.memory.state(range).data) {
      state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
      byte = static_cast<std::byte>(state >> 24);
    }
}

CheckpointManifest manifest_of(std::int64_t step) {
  CheckpointManifest manifest;
  manifest.step = step;
  return manifest;
}

/// What a rank keeps between steps.
std::vector<std::byte> memory_of(const ParameterStore& parameters, const TrainingJob& job) {
  std::vector<std::byte> all;
  for (const StateRange& range : held_state(parameters.layout(), job.strategy, job.training)) {
    const std::span<std::byte> data = parameters.memory.state(range).data;
    all.insert(all.end(), data.begin(), data.end());
  }
  return all;
}

void write_first(const LoweredPlan& plan, Net net, const std::filesystem::path& folder) {
  const TrainingJob job = job_of(plan, net);
  run_local_ranks(1, [&](World& world) {
    StoredRank rank(world, job);
    fill(rank.parameters, job);
    rank.checkpoint.write(folder, manifest_of(1));
    const std::vector<std::byte> written = memory_of(rank.parameters, job);
    StoredRank again(world, job);
    again.checkpoint.read(Checkpoint(*latest_checkpoint(folder)));
    check(memory_of(again.parameters, job) == written, "what one rank wrote, it reads");
  });
}

void read_and_write(const LoweredPlan& plan, Net net, const std::filesystem::path& from,
                    const std::filesystem::path& to) {
  const TrainingJob job = job_of(plan, net);
  run_local_ranks(static_cast<std::int32_t>(plan.strategy.devices()), [&](World& world) {
    StoredRank rank(world, job);
    rank.checkpoint.read(Checkpoint(*latest_checkpoint(from)));
    rank.checkpoint.write(to, manifest_of(1));
  });
}

std::vector<std::string> checksums(const std::filesystem::path& folder) {
  std::vector<std::string> all;
  const Checkpoint checkpoint(*latest_checkpoint(folder));
  for (const StoredFile& file : checkpoint.manifest().files) all.push_back(file.name + " " + file.written.checksum);
  return all;
}

void require_same_files(const Graph& graph, Net net, const Training& training, int draws) {
  const LoweredPlan one(graph, Strategy{}, training);
  const TemporaryFolder first;
  write_first(one, net, first.path());
  const std::vector<std::string> expected = checksums(first.path());
  CHECK(expected.front().starts_with("model.safetensors "));
  Layouts layouts(graph, training);
  for (int i = 0; i < (sanitized ? 2 : draws); ++i) {
    const LoweredPlan plan(graph, layouts.next(), training);
    const Strategy& s = plan.strategy;
    INFO("tp " << s.tensor_parallel << " pp " << s.pipeline_stages << " cp " << s.context_parallel << " dp "
               << s.data_parallel << " ep " << s.expert_parallel << " etp " << s.expert_tensor_parallel << " zero "
               << s.zero_stage << " shard " << s.shard_group << " schedule " << to_text(s.schedule));
    const TemporaryFolder again;
    read_and_write(plan, net, first.path(), again.path());
    REQUIRE(checksums(again.path()) == expected);
  }
}

TEST_CASE("A checkpoint that any layout reads and writes again is the same, byte for byte") {
  SECTION("GPT-2, tied and transposed, AdamW") {
    require_same_files(network_of(Net::gpt), Net::gpt, small_recipe(Optimizer::adamw, PrecisionRecipe::fp32), 12);
  }
  SECTION("Llama with 16-bit weights and master copies") {
    require_same_files(network_of(Net::llama), Net::llama, small_recipe(Optimizer::adamw, PrecisionRecipe::bf16), 12);
  }
  SECTION("a tied Llama") {
    require_same_files(network_of(Net::llama, true), Net::llama,
                       small_recipe(Optimizer::momentum, PrecisionRecipe::fp32), 8);
  }
  SECTION("experts") {
    require_same_files(network_of(Net::moe), Net::moe, small_recipe(Optimizer::lion, PrecisionRecipe::bf16), 12);
  }
  SECTION("means of squares by row and column") {
    require_same_files(network_of(Net::gpt), Net::gpt, small_recipe(Optimizer::adafactor, PrecisionRecipe::fp32), 12);
  }
  SECTION("the same of experts and of a tied embedding, in 16 bits") {
    require_same_files(network_of(Net::moe), Net::moe, small_recipe(Optimizer::adafactor, PrecisionRecipe::bf16_pure),
                       12);
    require_same_files(network_of(Net::llama, true), Net::llama,
                       small_recipe(Optimizer::adafactor, PrecisionRecipe::bf16), 8);
  }
  SECTION("adapters, the base frozen") {
    Training training = small_recipe(Optimizer::adamw, PrecisionRecipe::bf16);
    training.adaptation.lora_rank = 2;
    require_same_files(adapted(network_of(Net::llama), training.adaptation), Net::llama, training, 8);
  }
  SECTION("frozen layers and embeddings") {
    Training training = small_recipe(Optimizer::adamw, PrecisionRecipe::bf16);
    training.adaptation.freeze_embeddings = true;
    training.adaptation.frozen_layers = {{1, 2}};
    require_same_files(adapted(network_of(Net::llama), training.adaptation), Net::llama, training, 8);
  }
}

TEST_CASE("A checkpoint of another optimizer, precision or network is refused with the tensor") {
  const auto refusal = [](const LoweredPlan& written, const LoweredPlan& read) -> std::string {
    const TemporaryFolder folder;
    write_first(written, Net::llama, folder.path());
    try {
      const TemporaryFolder to;
      read_and_write(read, Net::llama, folder.path(), to.path());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  using Catch::Matchers::ContainsSubstring;
  const Graph graph = network_of(Net::llama);
  const Training adamw = small_recipe(Optimizer::adamw, PrecisionRecipe::fp32);
  const LoweredPlan plan(graph, Strategy{}, adamw);
  CHECK(refusal(plan, plan).empty());
  CHECK_THAT(refusal(plan, LoweredPlan(graph, Strategy{}, small_recipe(Optimizer::lion, PrecisionRecipe::fp32))),
             ContainsSubstring("tensors; expected"));
  CHECK_THAT(refusal(plan, LoweredPlan(graph, Strategy{}, small_recipe(Optimizer::momentum, PrecisionRecipe::fp32))),
             ContainsSubstring("has no tensor lm_head.weight.momentum_buffer"));
  CHECK_THAT(refusal(plan, LoweredPlan(graph, Strategy{}, small_recipe(Optimizer::adamw, PrecisionRecipe::bf16_pure))),
             ContainsSubstring("of F32; expected 96 x 24 of BF16"));
  CHECK_THAT(refusal(plan, LoweredPlan(network_of(Net::llama, true), Strategy{}, adamw)), ContainsSubstring("tensors"));
}

}  // namespace
}  // namespace plumbline
