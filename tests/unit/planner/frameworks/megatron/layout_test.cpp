// Layers of pipeline stages as Megatron-Core spells them.

#include "planner/frameworks/megatron/layout.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::megatron {
namespace {

using Layers = std::vector<std::int32_t>;

TEST_CASE("layers of stages are written as a layout and read back") {
  CHECK(layout_text({3, 4, 0, 1}) == "Et*3|t*4||tL");
  for (const Layers& layers : {Layers{3, 4, 0, 1}, Layers{0, 60}, Layers{1}, Layers{20, 21, 20, 19}})
    CHECK(layers_from_layout(layout_text(layers)) == layers);
}

// The examples of the framework's own comments: 3 + 29 * 2 layers, the prediction layer and the loss on stages alone.
TEST_CASE("repetitions, brackets, commas and layers of other kinds are understood") {
  Layers expected{3};
  expected.insert(expected.end(), 29, 2);
  expected.insert(expected.end(), {0, 0});
  CHECK(layers_from_layout("Ettt|(tt|)*29,m|L") == expected);
  CHECK(layers_from_layout("E|(t|)*3,m|m||L") == Layers{0, 1, 1, 1, 0, 0, 0, 0});
  CHECK(layers_from_layout("Et*2|t,t|tL") == Layers{2, 2, 1});
}

TEST_CASE("what is no layout, or grows without end, is refused") {
  for (const char* const text : {"Etx|L", "E(t|", "Et)|L", "Et*|L", "t*999999999999999999999", "(t*90000)*90000",
                                 "((((((((((((((((((((t))))))))))))))))))))"})
    CHECK_THROWS_AS(layers_from_layout(text), InputError);
}

}  // namespace
}  // namespace plumbline::megatron
