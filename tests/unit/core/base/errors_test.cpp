#include "core/base/errors.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("a message reads where: what; expected; nearest, and leaves out what is not known") {
  CHECK(to_text({"gpt.json:/hidden_size", "12289 is not divisible by 96", "", "12288"}) ==
        "gpt.json:/hidden_size: 12289 is not divisible by 96; nearest: 12288");
  CHECK(to_text({"--gpus", "0", "a number from 1", ""}) == "--gpus: 0; expected a number from 1");
  CHECK(to_text({"", "no model", "", ""}) == "no model");
}

TEST_CASE("the place of a whole file ends with one colon") {
  CHECK(to_text({"plan.json:", "is no plan", "", ""}) == "plan.json: is no plan");
  CHECK(to_text({"plan.json:/layout", "is missing", "", ""}) == "plan.json:/layout: is missing");
}

TEST_CASE("an InputError carries both its text and its parts") {
  const InputError error({"--model", "\"lama\" is unknown", "a model", "llama"});
  CHECK(std::string(error.what()) == "--model: \"lama\" is unknown; expected a model; nearest: llama");
  CHECK(error.problem().nearest == "llama");
}

TEST_CASE("a check that fails says why it must hold") {
  CHECK_NOTHROW(check(true, "two and two are four"));
  CHECK_THROWS_WITH(check(false, "two and two are four"), "internal check failed: two and two are four");
}

TEST_CASE("a mistyped name finds its neighbours, the nearest first") {
  const std::vector<std::string> names{"llama-3-8b", "llama-3-70b", "mixtral-8x7b", "gpt2"};
  CHECK(nearest_names("llama-3-7b", names) == std::vector<std::string>{"llama-3-8b", "llama-3-70b"});
  CHECK(nearest_names("LLAMA-3-70B", names).front() == "llama-3-70b");
  CHECK(nearest_names("mixtral", names) == std::vector<std::string>{"mixtral-8x7b"});
  CHECK(nearest_text("gtp2", names) == "gpt2");
}

TEST_CASE("a name that is near nothing finds nothing, however long it is") {
  const std::vector<std::string> names{"llama-3-8b", "gpt2"};
  CHECK(nearest_names("zzzzzzzzzz", names).empty());
  CHECK(nearest_names(std::string(1'000'000, 'z'), names).empty());
  CHECK(nearest_text("anything", {}).empty());
}

TEST_CASE("no more names are offered than were asked for") {
  const std::vector<std::string> names{"a1", "a2", "a3", "a4", "a5"};
  CHECK(nearest_names("a", names) == std::vector<std::string>{"a1", "a2", "a3"});
  CHECK(nearest_names("a", names, 1) == std::vector<std::string>{"a1"});
}

}  // namespace
}  // namespace plumbline
