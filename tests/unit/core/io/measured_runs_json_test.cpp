// Both forms of a file of runs, and what each keeps of them.

#include "core/io/measured_runs_json.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

RunSet read(const std::string& text) {
  const Json json = parse_json(text, "rows.json");
  return runs_from_json(JsonPlace(json, "rows.json"), "rows");
}

constexpr const char* collected = R"([{
  "id": "a", "source": "a table", "notes": "n", "model": "gpt3-175b", "gpus": 512, "nodes": 64, "seq_len": 2048,
  "tp": 8, "pp": 8, "flash_attention": null, "sequence_parallel": true, "flavour": {"unknown": [1]},
  "args": {"attention-backend": "flash", "hidden-dropout": 0.0, "list": [1]},
  "model_spec": {"layers": 2, "hidden": 64, "tied_embeddings": false, "colour": "blue"},
  "measured": {"step_time_s": 1.5, "memory_gib": 40, "mfu": 0.5},
  "unverified_fields": ["tp"], "use": ["time"], "oom": false, "verified": true}])";

}  // namespace

TEST_CASE("a run keeps what a prediction may depend on, apart from what was measured") {
  const RunSet set = read(collected);
  REQUIRE(set.runs.size() == 1);
  const MeasuredRun& run = set.runs.front();
  CHECK(set.name == "rows");
  CHECK(run.question.id == "a");
  CHECK(run.source == "a table");
  CHECK(run.question.fields.number("gpus") == 512);
  CHECK(run.question.fields.word("model") == "gpt3-175b");
  CHECK(run.question.fields.word("sequence_parallel") == "true");
  CHECK_FALSE(run.question.fields.has("flash_attention"));  // null: unknown
  CHECK_FALSE(run.question.fields.has("flavour"));          // data of another program
  CHECK(set.unread == std::set<UnreadKey>{{"flavour", ""}, {"measured/mfu", ""}, {"verified", "unverified_fields"}});
  CHECK_FALSE(run.question.fields.has("step_time_s"));
  CHECK(run.question.fields.word("args.attention-backend") == "flash");
  CHECK(run.question.fields.word("args.hidden-dropout") == "0.0");
  CHECK_FALSE(run.question.fields.has("args.list"));
  REQUIRE(run.question.shape);
  CHECK(run.question.shape->number("hidden") == 64);
  CHECK(run.question.shape->word("tied_embeddings") == "false");
  CHECK(run.question.unverified.count("tp") == 1);
  REQUIRE(run.uses);
  CHECK(run.uses->count("time") == 1);
  CHECK(run.measured.step_time_s == 1.5);
  CHECK(run.measured.memory_gib == 40.0);
  CHECK(run.measured.out_of_memory == false);
}

TEST_CASE("layers of pipeline chunks are an array or a text") {
  const auto layers = [](const std::string& value) {
    return read(R"([{"id": "a", "layers_per_stage": )" + value + "}]")
        .runs.front()
        .question.fields.word("layers_per_stage");
  };
  CHECK(layers("[4, 4, 3]") == "4,4,3");
  CHECK(layers("\"4,4,3\"") == "4,4,3");
  CHECK_THROWS_AS(layers("[]"), InputError);
  CHECK_THROWS_AS(layers("[4, -1]"), InputError);
  CHECK_THROWS_AS(layers("[4, \"x\"]"), InputError);
}

TEST_CASE("a document says that no fit reads its runs") {
  CHECK(read(R"({"format": "plumbline.rows/1", "held_out": true, "rows": [{"id": "a"}]})").held_out);
  CHECK_FALSE(read(R"({"format": "plumbline.rows/1", "rows": [{"id": "a"}]})").held_out);
  CHECK_THROWS_AS(read(R"({"format": "plumbline.rows/1", "held_out": "yes", "rows": []})"), InputError);
}

TEST_CASE("a rate of executed FLOPs is a time") {
  const RunMeasurement measured =
      read(R"([{"id": "a", "measured": {"hfu_tflops_per_gpu": 190.3}}])").runs.front().measured;
  CHECK(measured.hfu_tflops_per_gpu == 190.3);
  CHECK(measured.has_time());
}

TEST_CASE("what a run does not say stays unknown") {
  const MeasuredRun run = read(R"([{"id": "a"}])").runs.front();
  CHECK_FALSE(run.uses);
  CHECK_FALSE(run.question.shape);
  CHECK_FALSE(run.measured.has_memory());
  CHECK(run.question.fields.numbers.empty());
}

TEST_CASE("in our own form the common keys hold for every run that is silent") {
  const RunSet set = read(R"({"format": "plumbline.rows/1", "name": "mine", "source": "a log", "notes": "",
    "common": {"gpus": 8, "framework": "torchtitan"},
    "rows": [{"id": "a"}, {"id": "b", "gpus": 16, "source": "another"}]})");
  CHECK(set.name == "mine");
  REQUIRE(set.runs.size() == 2);
  CHECK(set.runs[0].question.fields.number("gpus") == 8);
  CHECK(set.runs[1].question.fields.number("gpus") == 16);
  CHECK(set.runs[1].question.fields.word("framework") == "torchtitan");
  CHECK(set.runs[0].source == "a log");
  CHECK(set.runs[1].source == "another");
}

}  // namespace plumbline
