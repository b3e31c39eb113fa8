// torchtitan's command line over its configuration.

#include "planner/frameworks/torchtitan/command_line.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("fields on torchtitan's command line are read") {
  const Imported imported = torchtitan_target().read(
      "NGPU=${NGPU:-8} ./run_train.sh --parallelism.tensor_parallel_degree 4 "
      "--parallelism.data-parallel-shard-degree 2 --training.local_batch_size 2 --model.flavor 8B --made.up 3 --other "
      "4\n",
      "run.sh");
  CHECK(imported.settings.tensor_parallel == 4);
  CHECK(imported.settings.data_parallel == 2);
  CHECK(imported.settings.devices_per_node == 8);
  CHECK(imported.settings.nodes == 1);
  CHECK(imported.settings.micro_batch == 2);
  REQUIRE(imported.notes.unread.size() == 2);
  CHECK(imported.notes.unread[0].starts_with("--other is not known"));
  CHECK(imported.notes.unread[1].starts_with("made is not known"));
}

TEST_CASE("a configuration that is not here is named, and no default stands for it") {
  const Imported imported = torchtitan_target().read(
      "CONFIG_FILE=./llama3_8b.toml ./run_train.sh --parallelism.tensor_parallel_degree 4\n", "run.sh");
  REQUIRE(imported.notes.other_files.size() == 1);
  CHECK(imported.notes.other_files.front().name == "./llama3_8b.toml");
  CHECK(imported.settings.tensor_parallel == 4);
  CHECK_FALSE(imported.settings.micro_batch);
  CHECK_FALSE(imported.settings.precision);
}

TEST_CASE("a flag counts for more than the configuration, in whichever order the files are") {
  const NamedText toml{"job.toml",
                       "[parallelism]\ntensor_parallel_degree = 2\npipeline_parallel_degree = 2\n"
                       "[model]\nname = \"llama3\"\nflavor = \"8B\"\n"};
  const NamedText script{"run.sh",
                         "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file job.toml "
                         "--parallelism.tensor_parallel_degree 4\n"};
  for (const std::vector<NamedText>& files : {std::vector{toml, script}, std::vector{script, toml}}) {
    const LaunchSettings settings = torchtitan_target().read_together(files).settings;
    CHECK(settings.tensor_parallel == 4);
    CHECK(settings.pipeline_stages == 2);
    CHECK(settings.devices_per_node == 8);
  }
}

}  // namespace
}  // namespace plumbline
