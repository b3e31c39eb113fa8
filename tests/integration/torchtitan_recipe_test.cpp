// Python accepts the recipes that are written for torchtitan.

#include <cstdlib>
#include <fstream>

#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

bool compiles(const LaunchFile& file) {
  const TemporaryFolder folder;
  std::ofstream(folder / file.name) << file.text;
  return std::system(("python3 -m py_compile '" + (folder / file.name).string() + "'").c_str()) == 0;
}

TEST_CASE("Python compiles the recipes") {
  Strategy s;
  s.pipeline_stages = 4;
  s.virtual_stages = 2;
  s.schedule = Schedule::interleaved;
  s.micro_batches = 8;
  for (const RecomputeMode mode : {RecomputeMode::none, RecomputeMode::full, RecomputeMode::by_operator})
    for (const char* model : {"llama-3.1-8b", "qwen3-8b", "gpt2", ""}) {
      s.recompute.mode = mode;
      Training training;
      training.sequence_length = 4096;
      training.global_batch = 8;
      LaunchSettings settings = settings_of(s, training);
      settings.model = model;
      CHECK(compiles(torchtitan_target().write(settings, "main").files.front()));
    }
}

}  // namespace
}  // namespace plumbline
