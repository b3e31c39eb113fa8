// Scripts in plain PyTorch: constants, and back.

#include "planner/frameworks/pytorch/script.h"

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/random_strategies.h"

namespace plumbline {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

LaunchFiles written(const Strategy& s) {
  Training training;
  training.sequence_length = 4096;
  training.global_batch = std::int64_t{s.data_parallel} * s.micro_batch * s.micro_batches;
  LaunchSettings settings = settings_of(s, training);
  settings.model = "llama-3.1-8b";
  return pytorch_target().write(settings, "2.13");
}

Strategy back(const LaunchFiles& files) {
  Imported imported = pytorch_target().read(files.files.front().text, files.files.front().name);
  CHECK(imported.notes.unread.empty());
  derive_missing(imported.settings);
  return strategy_of(imported.settings);
}

TEST_CASE("a script begins with the plan's constants") {
  Strategy s;
  s.pipeline_stages = 2;
  s.schedule = Schedule::one_f_one_b;
  s.data_parallel = 4;
  s.zero_stage = 3;
  s.shard_group = 2;
  s.micro_batches = 8;
  s.recompute.mode = RecomputeMode::full;
  const LaunchFiles files = written(s);
  CHECK(files.files.front().text.starts_with(
      "# Trains llama-3.1-8b on 8 GPUs as planned: torchrun ... train.py\n"
      "PIPELINE_STAGES = 2\nVIRTUAL_STAGES = 1\nSCHEDULE = \"1F1B\"\nSCHEDULE_FILE = \"\"\nSCHEDULE_IS_V = False\n"
      "LAYERS = [16, 16]\nTENSOR_PARALLEL = 1\nSEQUENCE_PARALLEL = False\nDATA_PARALLEL = 4\nSHARD_GROUP = "
      "2\nLAYERS_PER_UNIT = 1\n"
      "ZERO_STAGE = 3\nMICRO_BATCH = 1\nMICRO_BATCHES = 8\nSEQUENCE_LENGTH = 4096\nRECOMPUTE_EVERY = 1\n"
      "FLASH_ATTENTION = True\nPRECISION = \"bf16\"\nOPTIMIZER = \"adamw\"\n"
      "STEPS = None\nSEED = None\nLEARNING_RATE = None\nFINAL_LEARNING_RATE = None\nLR_SCHEDULE = None\n"
      "SCHEDULE_STEPS = None\nWARMUP_STEPS = None\nCLIP = None\nBETA1 = None\nBETA2 = None\nEPSILON = None\n"
      "MOMENTUM = None\nWEIGHT_DECAY = None\nCHECKPOINT = None\nCHECKPOINT_EVERY = None\nNETWORK = {\"vocabulary\": "
      "128256, "));
  CHECK(has(files.files.front().text, "\n\nimport glob\n"));
  CHECK(back(files) == s);
}

TEST_CASE("a secondary shard group is the number that parameters are resharded to after forward") {
  Strategy s;
  s.data_parallel = s.shard_group = 16;
  s.zero_stage = 3;
  const std::string without = written(s).files.front().text;
  CHECK_FALSE(has(without, "SECONDARY_SHARD_GROUP"));
  s.secondary_shard_group = 8;
  const LaunchFiles files = written(s);
  const std::string& text = files.files.front().text;
  CHECK(has(text, "\nSECONDARY_SHARD_GROUP = 8\n"));
  CHECK(has(text, "\n    options[\"reshard_after_forward\"] = SECONDARY_SHARD_GROUP\n"));
  CHECK(back(files) == s);
  s.tensor_parallel = 2;
  CHECK(inexpressible(Framework::pytorch, s, NetworkFacts{}).size() == 1);
}

TEST_CASE("orders without a name are a file beside the script") {
  Strategy s;
  s.pipeline_stages = 2;
  s.schedule = Schedule::zb_h1;
  s.micro_batches = 4;
  const LaunchFiles files = written(s);
  CHECK(has(files.files.front().text, "SCHEDULE_FILE = \"schedule-zb-h1.csv\"\n"));
  CHECK(files.files.at(1).name == "schedule-zb-h1.csv");
}

Strategy random_strategy(Dice& dice) {
  Strategy s;
  s.tensor_parallel = dice.one_of({1, 1, 2, 4});
  if (s.tensor_parallel > 1 && dice.one_in(2)) s.sequence_parallel = SequenceParallel::on;
  s.data_parallel = dice.one_of({1, 2, 4, 6, 16});
  s.pipeline_stages = dice.one_of({1, 2, 4});
  s.micro_batch = dice.between(1, 3);
  s.micro_batches = 8 * dice.between(1, 3);
  if (s.pipeline_stages > 1) {
    s.schedule = all_schedules[static_cast<std::size_t>(dice.between(1, std::ssize(all_schedules) - 1))];
    const RankChunks chunks = record_of(s.schedule).chunks;
    s.virtual_stages = chunks == RankChunks::one ? 1 : chunks == RankChunks::two ? 2 : dice.one_of({2, 4});
  }
  s.zero_stage = s.data_parallel > 1 ? dice.one_of({0, 2, 3}) : 0;
  if (s.zero_stage > 0) s.shard_group = s.data_parallel / (s.data_parallel > 2 ? dice.one_of({1, 2}) : 1);
  if (s.zero_stage == 3 && s.shard_group % 2 == 0 && s.shard_group > 2) s.secondary_shard_group = dice.one_of({1, 2});
  s.recompute = dice.one_of({Recompute{}, Recompute{RecomputeMode::full}, Recompute{RecomputeMode::every_nth, 3}});
  return s;
}

TEST_CASE("500 plans that plain PyTorch launches come back from their scripts as they were") {
  Dice dice(13);
  for (int plans = 0; plans < 500;) {
    Strategy s = random_strategy(dice);
    if (!inexpressible(Framework::pytorch, s, NetworkFacts{}).empty()) continue;
    ++plans;
    INFO(to_text(s));
    REQUIRE(back(written(s)) == s);
    if (s.chunks() != 4) continue;
    s.layers_per_stage = {7, 9, 9, 7};
    REQUIRE(back(written(s)) == s);
  }
}

TEST_CASE("constants are read with their comments, and nothing else is") {
  const Json read =
      pytorch::read_script("A = 1  # one\nB = \"# x\"\n  C = 3\nd = 4\nE = f(1)\nA = 2\nF = True\n", "x.py");
  CHECK(to_json_text(read, -1) == "{\"A\":1,\"B\":\"# x\",\"F\":true}\n");
  CHECK_THROWS_AS(pytorch::read_script("print(1)\n", "x.py"), InputError);
  CHECK_THROWS_AS(pytorch::read_script(std::string(2 << 20, 'A'), "x.py"), InputError);
  for (const char* text : {"TENSOR_PARALLEL = \"x\"\n", "ZERO_STAGE = 4\n", "LAYERS = []\n", "PRECISION = \"fp7\"\n",
                           "SCHEDULE = \"Sideways\"\n", "SCHEDULE_FILE = \"mine.csv\"\n"})
    CHECK_THROWS_AS(pytorch_target().read(text, "x.py"), InputError);
}

}  // namespace
}  // namespace plumbline
