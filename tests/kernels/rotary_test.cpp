#include "kernels/rotary.h"

#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

TEST_CASE("Rotary positions and their gradient equal Hugging Face's Llama") {
  for (const KernelGolden& g : kernel_goldens("rotary")) {
    INFO(g.name);
    const ConstTensorView x = g["x"];
    const std::int64_t head_dim = g.whole("head_dim");
    // An ulp of a frequency is 2.4e-4 of angle at position 4000, so the turn is judged with PyTorch's frequencies.
    KernelTensor frequencies = g["frequencies"];
    KernelTensor ours(1, head_dim / 2);
    rotary_frequencies(g.numbers.at("base"), head_dim, ours.data());
    for (std::int64_t i = 0; i < head_dim / 2; ++i)
      CHECK(ours.data()[i] == Approx(frequencies.data()[i]).epsilon(2.4e-7));
    const RowPlace place{g.whole("positions"), g.whole("first"), 8192};
    KernelTensor y(x.rows, x.columns);
    KernelTensor dx(x.rows, x.columns);
    reference::rotary({x, y, frequencies.data(), head_dim, head_dim, place, Rotation::forward});
    reference::rotary({g["dy"], dx, frequencies.data(), head_dim, head_dim, place, Rotation::backward});
    CHECK(relative_error(y.values(), g["y"].values()) < 1e-6);
    CHECK(relative_error(dx.values(), g["dx"].values()) < 1e-6);
  }
}

TEST_CASE("Of heads that turn in part the first features turn as GPT-NeoX's, and the rest pass") {
  const KernelGolden g = kernel_goldens("partial_rotary").front();
  const ConstTensorView x = g["x"];
  const std::int64_t head_dim = g.whole("head_dim");
  const std::int64_t rotary_dim = g.whole("rotary_dim");
  KernelTensor frequencies = g["frequencies"];
  const RowPlace place{g.whole("positions"), g.whole("first"), 8192};
  KernelTensor y(x.rows, x.columns);
  KernelTensor dx(x.rows, x.columns);
  reference::rotary({x, y, frequencies.data(), head_dim, rotary_dim, place, Rotation::forward});
  reference::rotary({g["dy"], dx, frequencies.data(), head_dim, rotary_dim, place, Rotation::backward});
  CHECK(relative_error(y.values(), g["y"].values()) < 1e-6);
  CHECK(relative_error(dx.values(), g["dx"].values()) < 1e-6);
  KernelTensor in_place = g["x"];
  reference::rotary({in_place, in_place, frequencies.data(), head_dim, rotary_dim, place, Rotation::forward});
  CHECK(in_place.values() == y.values());
  for (std::int64_t i = rotary_dim; i < head_dim; ++i)
    CHECK(y.values()[static_cast<std::size_t>(i)] == g["x"].values()[static_cast<std::size_t>(i)]);
}

TEST_CASE("Turning back undoes a turn, and may happen in place") {
  const KernelTensor x = random_tensor(6, 16, 1);
  std::vector<float> frequencies(4);
  rotary_frequencies(10000.0, 8, frequencies.data());
  KernelTensor y = x;
  reference::rotary({y, y, frequencies.data(), 8, 8, {3, 100, 200}, Rotation::forward});
  CHECK(relative_error(y.values(), x.values()) > 0.1);
  reference::rotary({y, y, frequencies.data(), 8, 8, {3, 100, 200}, Rotation::backward});
  CHECK(relative_error(y.values(), x.values()) < 1e-6);
}

}  // namespace
}  // namespace plumbline
