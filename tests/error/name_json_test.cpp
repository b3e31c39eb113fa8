// Names with control characters are refused where they are read.

#include "core/io/name_json.h"

#include "core/base/errors.h"
#include "core/io/machine_json.h"
#include "core/io/plan_json.h"
#include "models/network_file.h"
#include "tests/catch.h"

namespace plumbline::name_json_test {
namespace {

using Catch::Matchers::ContainsSubstring;

Json with_name(const std::string& name) {
  return Json::Object{{"format", "plumbline.network/1"},
                      {"name", name},
                      {"aliases", Json::Array{}},
                      {"source", "own"},
                      {"config", Json::Object{{"model_type", "gpt2"}}}};
}

TEST_CASE("a name without control characters is read as it is") {
  const Json name("L\xC3\xA9on 7B; rm -rf \"$HOME\"");
  CHECK(name_from_json(JsonPlace(name, "x")) == *name.if_string());
}

TEST_CASE("line breaks, escape codes and characters that turn the text are refused") {
  for (const std::string& name :
       {std::string("a\nimport os"), std::string("a\033[31m"), std::string("a\x7f"), std::string("a\xC2\x85y"),
        std::string("a\xE2\x80\xAEy"), std::string("a\xE2\x80\xA8y")}) {
    const Json json(name);
    CHECK_THROWS_WITH(
        name_from_json(JsonPlace(json, "net.json:/name")),
        ContainsSubstring("net.json:/name: the name \"a") && ContainsSubstring("holds control characters"));
  }
}

TEST_CASE("a network file with a line break in its name or an alias is refused") {
  const Json plain = with_name("mine");
  CHECK(read_network_header(JsonPlace(plain, "net.json:")).name == "mine");
  const Json hostile = with_name("mine\nimport os");
  CHECK_THROWS_WITH(read_network(JsonPlace(hostile, "net.json:"), "net"),
                    ContainsSubstring("holds control characters"));
  Json::Object alias = *plain.if_object();
  for (auto& [key, value] : alias)
    if (key == "aliases") value = Json::Array{Json("a\tb")};
  const Json with_alias(alias);
  CHECK_THROWS_WITH(read_network_header(JsonPlace(with_alias, "net.json:")),
                    ContainsSubstring("holds control characters"));
}

}  // namespace
}  // namespace plumbline::name_json_test
