#include "kernels/adamw_8bit.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/training/optimizer.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline::adamw_8bit_test {
namespace {

/// A weight of one row with its two moments in codes, which takes the golden case's steps.
struct Trained {
  explicit Trained(const KernelGolden& golden)
      : g(golden),
        count(ConstTensorView(g["w"]).size()),
        weight(g["w"].values(), 1, count),
        first(static_cast<std::size_t>(quantized_state_values(count))),
        second(first.size()) {}

  void run() {
    for (std::int64_t t = 1; t <= g.whole("steps"); ++t) {
      const KernelTensor gradient(g["g" + std::to_string(t)].values(), 1, count);
      Adamw8bitStep step;
      step.parameter.parameter = weight;
      step.parameter.gradient = gradient;
      step.parameter.learning_rate = g.number("lr");
      step.parameter.weight_decay = g.number("weight_decay");
      step.first_moment = coded_moment(first.data(), count);
      step.second_moment = coded_moment(second.data(), count);
      step.beta1 = g.number("beta1");
      step.beta2 = g.number("beta2");
      step.epsilon = g.number("eps");
      step.step = t;
      reference::adamw_8bit_step(step);
    }
  }
  /// Codes that differ from bitsandbytes', none by more than one.
  [[nodiscard]] std::int64_t other_codes(std::vector<float>& memory, const std::string& state) const {
    const CodedMoment own = coded_moment(memory.data(), count);
    const std::vector<float> wanted = g[state].values();
    std::int64_t others = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const int distance = std::abs(int{own.codes[i]} - static_cast<int>(wanted[static_cast<std::size_t>(i)]));
      CHECK(distance <= 1);
      if (distance != 0) ++others;
    }
    return others;
  }

  const KernelGolden& g;
  std::int64_t count;
  KernelTensor weight;
  std::vector<float> first;
  std::vector<float> second;
};

TEST_CASE("The code books are bitsandbytes', bit for bit") {
  for (const KernelGolden& g : kernel_goldens("adamw_8bit")) {
    const CodeBook both = dynamic_code_book(MomentSigns::both);
    const CodeBook positive = dynamic_code_book(MomentSigns::positive);
    CHECK(std::vector<float>(both.begin(), both.end()) == g["qmap1"].values());
    CHECK(std::vector<float>(positive.begin(), positive.end()) == g["qmap2"].values());
  }
}

// A moment in the middle of two codes may fall to either side.
TEST_CASE("Steps of 8-bit AdamW equal bitsandbytes', weights, scales and codes") {
  for (const KernelGolden& g : kernel_goldens("adamw_8bit")) {
    INFO(g.name);
    Trained trained(g);
    trained.run();
    CHECK(relative_error(trained.weight.values(), g["w4"].values()) < 1e-5);
    CHECK(trained.other_codes(trained.first, "state1") <= 3);
    CHECK(trained.other_codes(trained.second, "state2") <= 3);
    for (std::size_t block = 0; block < 2; ++block) {
      CHECK(trained.first[block] == Approx(g["absmax1"].values()[block]).epsilon(1e-5));
      CHECK(trained.second[block] == Approx(g["absmax2"].values()[block]).epsilon(1e-5));
    }
  }
}

TEST_CASE("The nearest code of every number of a book is its own, and no code is further than half a gap") {
  for (const MomentSigns signs : {MomentSigns::both, MomentSigns::positive}) {
    const CodeBook book = dynamic_code_book(signs);
    for (std::size_t code = 0; code < book.size(); ++code) CHECK(reference::nearest_code(book, book[code]) == code);
    CHECK(reference::nearest_code(book, 2.0F) == 255);
    CHECK(reference::nearest_code(book, -2.0F) == 0);
    const float lower = book[200] + 0.4F * (book[201] - book[200]);
    CHECK(reference::nearest_code(book, lower) == 200);
  }
}

TEST_CASE("A range of 300 elements takes two blocks: two scales and 512 codes; others need room for a few more") {
  CHECK(quantized_state_values(300) == 2 + 512 / 4);
  CHECK(quantized_state_values(0) == 0);
  for (const std::int64_t count : {1, 255, 256, 257, 4096, 10'000})
    CHECK(most_quantized_state_values(count, 1) >= quantized_state_values(count));
  CHECK(most_quantized_state_values(4096, 0) == std::int64_t{16} * 65);
}

}  // namespace
}  // namespace plumbline::adamw_8bit_test
