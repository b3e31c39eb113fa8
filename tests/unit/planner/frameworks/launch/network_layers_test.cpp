#include "planner/frameworks/launch/network_layers.h"

#include "tests/catch.h"

namespace plumbline::network_layers_test {
namespace {

TEST_CASE("a config says the layers of a network, and otherwise the catalogue does") {
  LaunchSettings settings;
  CHECK(!known_layers(settings));
  settings.model = "llama-3-8b";
  CHECK(known_layers(settings) == 32);
  settings.network_config = parse_json(R"({"num_hidden_layers": 7})", "test");
  CHECK(known_layers(settings) == 7);
  settings.network_config = Json();
  settings.model = "a name of somebody else's";
  CHECK(!known_layers(settings));
}

// 30 layers on 4 chunks: with the embedding and the output as a layer each, 32 / 4 = 8.
TEST_CASE("an even split counts the ends where layers do not divide") {
  CHECK(even_split(32, 4) == std::vector<std::int32_t>{8, 8, 8, 8});
  CHECK(even_split(30, 4) == std::vector<std::int32_t>{7, 8, 8, 7});
}

}  // namespace
}  // namespace plumbline::network_layers_test
