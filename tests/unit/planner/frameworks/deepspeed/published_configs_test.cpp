// Configurations of DeepSpeed that others publish: tests/data/launch/deepspeed_configs.json has the values of each, its
// repository, commit and path, what of it is understood, and each key that is named.

#include "core/io/json.h"
#include "core/io/json_file.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

template <class Value>
void put(Json::Object& object, const char* key, const std::optional<Value>& value) {
  if (value) object.emplace_back(key, std::int64_t{*value});
}

std::string sorted(Json::Object object) {
  std::sort(object.begin(), object.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return to_json_text(Json(object), -1);
}

/// All that decides memory and time.
std::string said(const LaunchSettings& s) {
  Json::Object object;
  put(object, "zero_stage", s.zero_stage);
  put(object, "micro_batch", s.micro_batch);
  put(object, "micro_batches", s.micro_batches);
  put(object, "data_parallel", s.data_parallel);
  put(object, "global_batch", s.global_batch);
  put(object, "tensor_parallel", s.tensor_parallel);
  put(object, "context_parallel", s.context_parallel);
  put(object, "expert_parallel", s.expert_parallel);
  put(object, "pipeline_stages", s.pipeline_stages);
  put(object, "schedule_steps", s.recipe.schedule_steps);
  if (s.precision) object.emplace_back("precision", to_text(*s.precision));
  if (s.optimizer) object.emplace_back("optimizer", to_text(*s.optimizer));
  return sorted(object);
}

TEST_CASE("published configurations of DeepSpeed are read without a loss that matters") {
  const Json cases = read_json_file(source_folder() + "/tests/data/launch/deepspeed_configs.json");
  REQUIRE(cases.if_array()->size() >= 5);
  for (const Json& one : *cases.if_array()) {
    INFO(*one.find("source")->if_string());
    const Imported imported = deepspeed_target().read(to_json_text(*one.find("config")), "ds_config.json");
    CHECK(said(imported.settings) == sorted(*one.find("says")->if_object()));
    std::vector<std::string> expected;
    for (const Json& sentence : *one.find("unread")->if_array()) expected.push_back(*sentence.if_string());
    CHECK(imported.notes.unread == expected);
  }
}

}  // namespace
}  // namespace plumbline
