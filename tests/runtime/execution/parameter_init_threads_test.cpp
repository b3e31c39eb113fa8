#include "runtime/execution/parameter_init.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// More elements than one thread takes, of a box within a larger tensor: elements 5 to the last of 3 x 100 x 1000.
LocalParameter box_of_experts() {
  LocalParameter p;
  p.name = "layer0.mlp.up.weight";
  p.box = {{8, 300, 1100}, {2, 50, 7}, {3, 100, 1000}};
  return p;
}

}  // namespace

TEST_CASE("first weights that threads draw are those that are drawn one by one, of any part of a parameter") {
  const LocalParameter p = box_of_experts();
  constexpr std::int64_t first = 5;
  std::vector<float> values(static_cast<std::size_t>(p.box.elements() - first));
  for (const Initialisation initialisation : all_initialisations) {
    draw_initial_values(initialisation, 7, p, first, values);
    const double deviation = initial_deviation(initialisation, p.box);
    bool is_same = true;
    for (std::int64_t e = 0; e < std::ssize(values); ++e)
      is_same = is_same && values[static_cast<std::size_t>(e)] ==
                               initial_value(p.starts, deviation, 7, p.name, p.box.whole_index(first + e));
    CHECK(is_same);
  }
}

TEST_CASE("first weights of norms and biases are not drawn") {
  LocalParameter p = box_of_experts();
  std::vector<float> values(100, 7.0F);
  p.starts = InitialValues::ones;
  draw_initial_values(Initialisation::normal, 7, p, 0, values);
  CHECK(values == std::vector<float>(100, 1.0F));
  p.starts = InitialValues::zeros;
  draw_initial_values(Initialisation::normal, 7, p, 0, values);
  CHECK(values == std::vector<float>(100, 0.0F));
}

}  // namespace plumbline
