// Both forms of a file of rows, and what each keeps of them.

#include "core/io/rows_json.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

RowSet read(const std::string& text) {
  const Json json = parse_json(text, "rows.json");
  return rows_from_json(JsonPlace(json, "rows.json"), "rows");
}

constexpr const char* collected = R"([{
  "id": "a", "source": "a table", "notes": "n", "model": "gpt3-175b", "gpus": 512, "nodes": 64, "seq_len": 2048,
  "tp": 8, "pp": 8, "flash_attention": null, "sequence_parallel": true, "flavour": {"unknown": [1]},
  "args": {"attention-backend": "flash", "hidden-dropout": 0.0, "list": [1]},
  "model_spec": {"layers": 2, "hidden": 64, "tied_embeddings": false, "colour": "blue"},
  "measured": {"step_time_s": 1.5, "memory_gib": 40, "mfu": 0.5},
  "unverified_fields": ["tp"], "use": ["time"], "oom": false, "verified": true}])";

}  // namespace

TEST_CASE("a row keeps what a prediction may depend on, apart from what was measured") {
  const RowSet set = read(collected);
  REQUIRE(set.rows.size() == 1);
  const MeasuredRow& row = set.rows.front();
  CHECK(set.name == "rows");
  CHECK(row.question.id == "a");
  CHECK(row.source == "a table");
  CHECK(row.question.fields.number("gpus") == 512);
  CHECK(row.question.fields.word("model") == "gpt3-175b");
  CHECK(row.question.fields.word("sequence_parallel") == "true");
  CHECK_FALSE(row.question.fields.has("flash_attention"));  // null: unknown
  CHECK_FALSE(row.question.fields.has("flavour"));          // a key of a later version
  CHECK_FALSE(row.question.fields.has("step_time_s"));
  CHECK(row.question.fields.word("args.attention-backend") == "flash");
  CHECK(row.question.fields.word("args.hidden-dropout") == "0.0");
  CHECK_FALSE(row.question.fields.has("args.list"));
  REQUIRE(row.question.shape);
  CHECK(row.question.shape->number("hidden") == 64);
  CHECK(row.question.shape->word("tied_embeddings") == "false");
  CHECK(row.question.unverified.count("tp") == 1);
  REQUIRE(row.uses);
  CHECK(row.uses->count("time") == 1);
  CHECK(row.measured.step_time_s == 1.5);
  CHECK(row.measured.memory_gib == 40.0);
  CHECK(row.measured.out_of_memory == false);
}

TEST_CASE("what a row does not say stays unknown") {
  const MeasuredRow row = read(R"([{"id": "a"}])").rows.front();
  CHECK_FALSE(row.uses);
  CHECK_FALSE(row.question.shape);
  CHECK_FALSE(row.measured.has_memory());
  CHECK(row.question.fields.numbers.empty());
}

TEST_CASE("in our own form the common keys hold for every row that is silent") {
  const RowSet set = read(R"({"format": "plumbline.rows/1", "name": "mine", "source": "a log", "notes": "",
    "common": {"gpus": 8, "framework": "torchtitan"},
    "rows": [{"id": "a"}, {"id": "b", "gpus": 16, "source": "another"}]})");
  CHECK(set.name == "mine");
  REQUIRE(set.rows.size() == 2);
  CHECK(set.rows[0].question.fields.number("gpus") == 8);
  CHECK(set.rows[1].question.fields.number("gpus") == 16);
  CHECK(set.rows[1].question.fields.word("framework") == "torchtitan");
  CHECK(set.rows[0].source == "a log");
  CHECK(set.rows[1].source == "another");
}

}  // namespace plumbline
