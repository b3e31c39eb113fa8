// Modules of pipeline chunks. Lists were printed by torchtitan v0.2.2's generate_llm_fqn_per_model_part.

#include "planner/frameworks/torchtitan/model_parts.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::torchtitan {
namespace {

using Layers = std::vector<std::int32_t>;

TEST_CASE("torchtitan's own split allows for the embedding and the output") {
  CHECK(own_split(32, 4, 1, 1) == Layers{8, 9, 8, 7});
  CHECK(own_split(126, 16, 1, 1) == Layers{7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7});
  CHECK(own_split(30, 7, 2, 1) == Layers{3, 5, 5, 5, 5, 4, 3});
  CHECK(own_split(32, 4, 0, 0) == Layers{8, 8, 8, 8});
  CHECK(!own_split(32, 40, 1, 1));  // more stages than layers
  CHECK(!own_split(8, 8, 3, 1));    // the allowance is more than a stage holds
}

TEST_CASE("modules are named in order and read back") {
  const Json parts = module_parts({2, 0, 2}, "output");
  std::string text = to_json_text(parts, -1);
  CHECK(text == R"([["tok_embeddings","layers.0","layers.1"],[],["layers.2","layers.3","norm","output"]])"
                "\n");
  CHECK(layers_of(parts) == Layers{2, 0, 2});
  CHECK(layers_of(module_parts({0, 7}, "lm_head")) == Layers{0, 7});
}

TEST_CASE("modules that are no such list are refused") {
  for (const char* text : {R"(1)", R"([1])", R"([[1]])", R"([["layers.1"]])", R"([["layers.0"],["tok_embeddings"]])",
                           R"([["norm"],["layers.0"]])", R"([["layers.0","layers.0"]])", R"([["vision"]])"})
    CHECK_THROWS_AS(layers_of(parse_json(text, "test")), InputError);
}

}  // namespace
}  // namespace plumbline::torchtitan
