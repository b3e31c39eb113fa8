#include "planner/validate/stage_layout.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

std::vector<std::int32_t> layers(const std::string& text) { return stage_layout_from_text(text); }

using Counts = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("layers of chunks are numbers") {
  CHECK(layers("").empty());
  CHECK(layers("32") == Counts{32});
  CHECK(layers("9,8,8,7") == Counts{9, 8, 8, 7});
}

TEST_CASE("layers of chunks are a layout as Megatron-Core writes it") {
  CHECK(layers("Et*3|(tt|)*2mL") == Counts{3, 2, 2, 1});
  CHECK(layers("Et*4|(t*4|)*14tmL") == Counts{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2});
  CHECK(layers("E|(t|t)*2L") == Counts{0, 1, 2, 1});
  CHECK(layers("E()*9t|t") == Counts{1, 1});
}

// 2 * (1 + 2 * 3) = 14 layers in the second chunk.
TEST_CASE("groups of a layout stand in one another") { CHECK(layers("Et|(t(t*3)*2)*2L") == Counts{1, 14}); }

}  // namespace plumbline
