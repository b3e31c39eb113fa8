#include "runtime/execution/rotary_frequencies.h"

#include <numbers>

#include "core/graph/rotary_features.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

RotaryConstants constants_of(const KernelGolden& g) {
  RotaryConstants r;
  r.base = g.numbers.at("rope_theta");
  r.factor = g.numbers.at("factor");
  r.scaling = RotaryScaling::linear;
  if (g.name == "linear") return r;
  r.scaling = RotaryScaling::llama3;
  r.low_frequency_turns = g.numbers.at("low_freq_factor");
  r.high_frequency_turns = g.numbers.at("high_freq_factor");
  r.original_positions = g.numbers.at("original_max_position_embeddings");
  return r;
}

// transformers blends in fp32: half an ulp of up to 4 turns is 2.4e-7, a third of it kept, of a frequency divided by 8.
TEST_CASE("Scaled rotary frequencies equal those of transformers") {
  for (const KernelGolden& g : kernel_goldens("rotary_frequencies")) {
    INFO(g.name << ' ' << g.whole("head_dim"));
    const std::vector<float> expected = g["frequencies"].values();
    const std::vector<float> ours = rotary_frequencies(constants_of(g), g.whole("head_dim"));
    REQUIRE(ours.size() == expected.size());
    for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == Approx(expected[i]).epsilon(1e-6));
  }
}

// Features 0 and 1 of 4: frequencies 1 and 1/10, so 64 positions are 10.19 and 1.0186 turns. Low 1, high 4, factor 8:
// the first stays; of the second (1.0186 - 1) / 3 = 0.0062 is kept: 0.1 * (0.0062 + 0.9938 / 8) = 0.013042.
TEST_CASE("Llama 3.1's scaling keeps what turns often, divides what turns seldom and blends in between") {
  RotaryConstants r{100, 1, RotaryScaling::llama3, 8, 1, 4, 64};
  const double kept = (64 * 0.1 / (2 * std::numbers::pi) - 1) / 3;
  CHECK(rotary_frequencies(r, 4)[0] == 1.0F);
  CHECK(rotary_frequencies(r, 4)[1] == Approx(0.1 * (kept + (1 - kept) / 8)).epsilon(1e-6));
  CHECK(rotary_frequencies(r, 4)[1] == Approx(0.013042).epsilon(1e-4));
  r.original_positions = 32;
  CHECK(rotary_frequencies(r, 4)[1] == Approx(0.1 / 8).epsilon(1e-6));
  r.scaling = RotaryScaling::linear;
  CHECK(rotary_frequencies(r, 4)[0] == Approx(1.0 / 8));
  r.scaling = RotaryScaling::none;
  CHECK(rotary_frequencies(r, 4)[1] == Approx(0.1));
}

TEST_CASE("The part of a head that turns is rounded down") {
  RotaryConstants r;
  CHECK(rotary_features(r, 128) == 128);
  r.rotated = 0.25;
  CHECK(rotary_features(r, 96) == 24);
  r.rotated = 0.4;
  CHECK(rotary_features(r, 64) == 25);
}

}  // namespace
}  // namespace plumbline
