// Configurations that torchtitan publishes (tests/data/launch/torchtitan, each with its source) are understood.

#include <filesystem>

#include "core/io/json_file.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

struct Published {
  const char* file;
  const char* model;
  std::int64_t sequence_length;
  std::int64_t micro_batch;
  std::int32_t tensor_parallel;
  Recompute recompute;
  PrecisionRecipe precision;
  std::vector<std::string> unread;  ///< starts of the sentences
};

const std::vector<Published>& published() {
  constexpr PrecisionRecipe bf16 = PrecisionRecipe::bf16;
  constexpr Recompute full{RecomputeMode::full};
  constexpr Recompute by_operator{RecomputeMode::by_operator};
  static const std::vector<Published> all{
      {"llama3_8b", "llama-3.1-8b", 8192, 1, 1, by_operator, bf16, {"training.compile = false changes time"}},
      {"llama3_70b", "llama-3.1-70b", 8192, 8, 8, full, bf16, {"compile.enable = false changes time"}},
      {"llama3_405b",
       "llama-3.1-405b",
       8192,
       2,
       8,
       full,
       PrecisionRecipe::fp8,
       {"parallelism.enable_async_tensor_parallel = true changes time"}},
      {"deepseek_v3_16b", "deepseek-v2-lite", 4096, 8, 1, full, bf16, {"training.compile = false changes time"}},
      {"deepseek_v3_671b",
       "deepseek-v3",
       4096,
       4,
       1,
       by_operator,
       bf16,
       {"compile.components = [\"loss\"] changes time"}},
      {"qwen3_32b", "qwen3-32b", 4096, 2, 1, full, bf16, {"compile.enable = false changes time"}},
      {"llama4_17bx16e", "llama-4-scout", 8192, 8, 8, full, bf16, {"compile.enable = false changes time"}}};
  return all;
}

Imported imported(const std::string& name) {
  const std::string folder = test_data_folder() + "/launch/torchtitan/";
  return torchtitan_target().read(read_text_file(folder + name + ".toml", "a TOML file"), name + ".toml");
}

TEST_CASE("published configurations of torchtitan are understood") {
  for (const Published& expected : published()) {
    INFO(expected.file);
    const Imported found = imported(expected.file);
    const LaunchSettings& s = found.settings;
    CHECK(s.model == expected.model);
    CHECK(s.sequence_length == expected.sequence_length);
    CHECK(s.micro_batch == expected.micro_batch);
    CHECK(s.micro_batches == 1);
    CHECK(s.tensor_parallel == expected.tensor_parallel);
    CHECK(s.zero_stage == 3);
    CHECK(s.recompute == expected.recompute);
    CHECK(s.precision == expected.precision);
    CHECK(s.optimizer == Optimizer::adamw);
    REQUIRE(found.notes.unread.size() == expected.unread.size());
    for (std::size_t i = 0; i < expected.unread.size(); ++i)
      CHECK(found.notes.unread[i].starts_with(expected.unread[i]));
    CHECK(found.notes.ignored > 10);
  }
}

// A preset for 128 H100 GPUs, as its first line says.
TEST_CASE("with a number of GPUs a published file is a whole strategy") {
  Imported found = imported("llama3_405b");
  found.settings.devices = 128;
  derive_missing(found.settings);
  const Strategy s = strategy_of(found.settings);
  CHECK(s.data_parallel == 16);
  CHECK(s.shard_group == 16);
  CHECK(s.sequence_parallel == SequenceParallel::on);
  CHECK(training_of(found.settings).global_batch == 32);
}

}  // namespace
}  // namespace plumbline
