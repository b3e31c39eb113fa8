// Python accepts the scripts in plain PyTorch.

#include <cstdlib>
#include <fstream>

#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

TEST_CASE("Python compiles the scripts") {
  for (const Schedule schedule : {Schedule::none, Schedule::one_f_one_b, Schedule::zb_h2, Schedule::v_half}) {
    Strategy s;
    s.schedule = schedule;
    s.pipeline_stages = schedule == Schedule::none ? 1 : 2;
    s.virtual_stages = schedule == Schedule::v_half ? 2 : 1;
    s.micro_batches = 8;
    Training training;
    training.sequence_length = 1024;
    training.global_batch = 8;
    const LaunchFile script = pytorch_target().write(settings_of(s, training), "2.13").files.front();
    const TemporaryFolder folder;
    std::ofstream(folder / script.name) << script.text;
    CHECK(std::system(("python3 -m py_compile '" + (folder / script.name).string() + "'").c_str()) == 0);
  }
}

}  // namespace
}  // namespace plumbline
