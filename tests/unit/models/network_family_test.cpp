// Families of the catalogue: the beginning of names.

#include "models/network_family.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

bool holds(const std::vector<std::string>& members, const std::string& name) {
  return std::find(members.begin(), members.end(), name) != members.end();
}

TEST_CASE("a family is the networks whose names begin so, the largest first") {
  const std::vector<std::string> llama = family_members("llama");
  for (const char* name : {"llama-7b", "llama-3-8b", "llama-3.1-405b", "llama-4-scout"}) CHECK(holds(llama, name));
  CHECK(!holds(llama, "codellama-34b"));
  std::int64_t before = parameter_count(find_network(llama.front()).graph);
  for (const std::string& name : llama) {
    const std::int64_t parameters = parameter_count(find_network(name).graph);
    CHECK(parameters <= before);
    before = parameters;
  }
}

TEST_CASE("a family may be narrow or wide, and written in any case") {
  const std::vector<std::string> third = family_members("Llama-3");
  CHECK(holds(third, "llama-3-70b"));
  CHECK(holds(third, "llama-3.2-1b"));
  CHECK(!holds(third, "llama-30b"));
  CHECK(!holds(third, "llama-2-7b"));
  const std::vector<std::string> qwen = family_members("qwen");
  CHECK(holds(qwen, "qwen2.5-7b"));
  CHECK(holds(qwen, "qwen3-8b"));
  CHECK(family_members("gpt2") == std::vector<std::string>{"gpt2-xl", "gpt2-large", "gpt2-medium", "gpt2"});
}

TEST_CASE("the family of a name is its first part") {
  CHECK(family_of("llama-3-8b") == "llama");
  CHECK(family_of("gpt3-175b") == "gpt3");
  CHECK(family_of("meta-llama/Meta-Llama-3-8B") == "llama");
  CHECK(family_of("./my/config.json").empty());
}

TEST_CASE("a family that nobody knows is refused with the nearest") {
  try {
    (void)family_members("lama");
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("nearest: codellama, llama, tinyllama") != std::string::npos);
  }
  CHECK_THROWS_AS(family_members(""), InputError);
}

}  // namespace
}  // namespace plumbline
