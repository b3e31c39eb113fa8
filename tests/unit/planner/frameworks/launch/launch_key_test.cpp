// Tables of keys, written and read.

#include "planner/frameworks/launch/launch_key.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::vector<LaunchKey> table() {
  return {{.path = "zero.stage",
           .write = [](const LaunchSettings& s) -> std::optional<Json> {
             if (!s.zero_stage) return std::nullopt;
             return Json(std::int64_t{*s.zero_stage});
           },
           .read =
               [](const Json& value, LaunchSettings& s) {
                 if (value.if_integer() == nullptr) throw InputError({"", "is no number", "0 to 3", ""});
                 s.zero_stage = static_cast<std::int32_t>(*value.if_integer());
               }},
          {.path = "zero.fast", .effect = KeyEffect::time},
          {.path = "zero.note"},
          {.path = "log*"},
          {.path = "old", .write = [](const LaunchSettings&) { return std::optional<Json>(1); }, .until = "v0.2.2"},
          {.path = "new", .write = [](const LaunchSettings&) { return std::optional<Json>(2); }, .since = "0.10"}};
}

std::string written(std::string_view release) {
  LaunchSettings settings;
  settings.zero_stage = 3;
  return to_json_text(written_tree(table(), release, settings), -1);
}

TEST_CASE("keys with dots are nested, and those of other releases are left out") {
  CHECK(written("v0.2.2") == "{\"zero\":{\"stage\":3},\"old\":1}\n");
  CHECK(written("0.9.5") == "{\"zero\":{\"stage\":3}}\n");
  CHECK(written("core_v0.14.0") == "{\"zero\":{\"stage\":3},\"new\":2}\n");
  CHECK(written("main") == "{\"zero\":{\"stage\":3},\"new\":2}\n");
}

TEST_CASE("what no row reads is named where it matters or is unknown, else counted") {
  LaunchSettings settings;
  const Json tree = parse_json(
      R"({"zero": {"stage": 2, "fast": true, "note": 1, "odd": 1}, "log": 1, "log_level": {"a": 1}, "old": null})",
      "x");
  const ImportNotes notes = read_tree(table(), tree, "x", settings);
  CHECK(settings.zero_stage == 2);
  CHECK(notes.ignored == 3);
  CHECK(notes.unread ==
        std::vector<std::string>{"zero.fast changes time and is not modelled",
                                 "zero.odd is not known here: whether it changes memory or time is not known either"});
}

TEST_CASE("a refused value names its file and key") {
  LaunchSettings settings;
  const Json tree = parse_json(R"({"zero": {"stage": "three"}})", "x");
  CHECK_THROWS_WITH(read_tree(table(), tree, "ds.json", settings),
                    "ds.json: zero.stage: is no number; expected 0 to 3");
  CHECK_THROWS_AS(read_tree(table(), Json(1), "ds.json", settings), InputError);
}

}  // namespace
}  // namespace plumbline
