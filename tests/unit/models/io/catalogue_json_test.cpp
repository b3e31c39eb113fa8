// The catalogues as JSON: the contract of models, machines and stacks.

#include "models/io/catalogue_json.h"

#include "core/graph/parameter_count.h"
#include "models/calibration_set.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/json_members.h"

namespace plumbline {
namespace {

TEST_CASE("every network of the catalogue is listed with its parameters and source") {
  const Json json = network_catalogue_json();
  const std::vector<std::string> names = network_names();
  REQUIRE(json.if_array()->size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Json& entry = json.if_array()->at(i);
    CHECK(keys(entry) == Names{"name", "parameters", "active_parameters", "source"});
    CHECK(*entry.find("name")->if_string() == names[i]);
  }
}

TEST_CASE("one network is its entry with its blocks") {
  const Network network = find_network("gpt2");
  const Json json = network_json(network);
  CHECK(*json.find("parameters")->if_integer() == parameter_count(network.graph));
  std::int64_t parameters = 0;
  for (const Json& block : *json.find("blocks")->if_array())
    parameters += *block.find("count")->if_integer() * *block.find("parameters_each")->if_integer();
  CHECK(parameters == parameter_count(network.graph));
}

TEST_CASE("machines and stacks are listed by name") {
  CHECK(machine_catalogue_json().if_array()->size() == machine_names().size());
  const Json stacks = stack_catalogue_json();
  REQUIRE(stacks.if_array()->size() == CalibrationSet::shipped().stack_names().size());
  CHECK(keys(stacks.if_array()->front()) == Names{"name", "aliases", "framework", "oldest_release", "newest_release",
                                                  "description", "traits", "residuals"});
}

}  // namespace
}  // namespace plumbline
