// The launch files of two plans for every target; scripts/regenerate_golden.sh writes them anew.

#include <filesystem>

#include "core/io/json.h"
#include "models/network_catalog.h"
#include "models/network_config.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

LaunchSettings settings_for(const std::string& model, const Strategy& strategy, const Training& training) {
  LaunchSettings settings = settings_of(strategy, training);
  settings.model = model;
  settings.network_config = parse_json(network_config(find_network(model), model), model);
  settings.devices_per_node = 8;
  settings.nodes = (strategy.devices() + 7) / 8;
  return settings;
}

Training training_for(std::int64_t batch) {
  Training training;
  training.sequence_length = 4096;
  training.global_batch = batch;
  return training;
}

/// What every framework launches: data parallelism that shards parameters, on one node.
LaunchSettings sharded() {
  Strategy s;
  s.data_parallel = 8;
  s.shard_group = 8;
  s.zero_stage = 3;
  s.micro_batches = 8;
  s.recompute.mode = RecomputeMode::full;
  return settings_for("llama-3-8b", s, training_for(64));
}

/// A pipeline, where the framework has one.
LaunchSettings pipelined() {
  Strategy s;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.pipeline_stages = 4;
  s.data_parallel = 2;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 16;
  return settings_for("mistral-7b", s, training_for(32));
}

/// Tensor parallelism alone, for frameworks without pipelines.
LaunchSettings divided() {
  Strategy s;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.data_parallel = 4;
  s.zero_stage = 3;
  s.shard_group = 4;
  s.micro_batches = 8;
  return settings_for("mistral-7b", s, training_for(32));
}

void check_files(const LaunchTarget& target, const std::string& name, const LaunchSettings& settings) {
  const std::string folder = "launch/" + std::string(to_text(target.framework)) + "/" + name;
  if (std::getenv("PLUMBLINE_REGENERATE") != nullptr)
    std::filesystem::create_directories(std::filesystem::path(source_folder()) / "tests/golden" / folder);
  const LaunchFiles files = target.write(settings, target.releases.empty() ? "" : target.releases.back());
  for (const LaunchFile& file : files.files) {
    INFO(folder << "/" << file.name);
    CHECK(file.text == golden_text(folder + "/" + file.name, file.text));
  }
  std::string assumptions;
  for (const std::string& sentence : files.unsaid) assumptions += "not said: " + sentence + "\n";
  for (const std::string& sentence : files.assumptions) assumptions += sentence + "\n";
  CHECK(assumptions == golden_text(folder + "/ASSUMPTIONS", assumptions));
}

bool launches(Framework framework, const LaunchSettings& settings) {
  return inexpressible(framework, strategy_of(settings), NetworkFacts{}).empty();
}

TEST_CASE("the launch files of every target are those of tests/golden/launch") {
  for (const LaunchTarget& target : launch_targets()) {
    INFO(target.title);
    CHECK(launches(target.framework, sharded()));
    check_files(target, "llama-3-8b-sharded", sharded());
    if (launches(target.framework, pipelined()))
      check_files(target, "mistral-7b-pipelined", pipelined());
    else if (launches(target.framework, divided()))
      check_files(target, "mistral-7b-divided", divided());
  }
}

}  // namespace
}  // namespace plumbline
