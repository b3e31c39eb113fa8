#include "kernels/dropout.h"

#include "tests/catch.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

constexpr DropoutDraw draw{0.25F, {42, 7, 3}};

TEST_CASE("Dropout zeroes its share of the elements and scales the others") {
  const std::int64_t count = 1 << 18;
  const KernelTensor x(std::vector<float>(count, 3.0F), 1, count);
  KernelTensor y(1, count);
  reference::dropout_forward({x, y, nullptr, draw, {{1, 0, 1}, 0, count}});
  const std::vector<float> values = y.values();
  const auto zeros = std::count(values.begin(), values.end(), 0.0F);
  CHECK(std::count(values.begin(), values.end(), 4.0F) == count - zeros);
  const double deviation = std::sqrt(static_cast<double>(count) * 0.25 * 0.75);
  CHECK(std::abs(static_cast<double>(zeros) - 0.25 * static_cast<double>(count)) < 4 * deviation);
}

TEST_CASE("Every element's factor follows from its own word of the generator, wherever a row begins") {
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{3}, (std::int64_t{1} << 34) - 6}) {
    std::vector<float> factors(300);
    reference::dropout_factors(draw, first, 300, factors.data());
    for (std::int64_t i = 0; i < 300; ++i) {
      const auto element = static_cast<std::uint64_t>(first + i);
      const bool dropped = dropout_words(draw.key, element / 4)[element % 4] < dropout_threshold(0.25F);
      REQUIRE((factors[static_cast<std::size_t>(i)] == 0.0F) == dropped);
    }
  }
}

TEST_CASE("Slices of the sequence and of the columns drop what the whole drops") {
  const KernelTensor x = random_tensor(8, 30, 1);  // 2 sequences of 4 rows
  KernelTensor whole(8, 30);
  reference::dropout_forward({x, whole, nullptr, draw, {{4, 0, 4}, 0, 30}});
  for (std::int64_t first = 0; first < 4; first += 2)
    for (std::int64_t column = 0; column < 30; column += 15)
      for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
        const ConstTensorView slice = x.view().rows_from(sequence * 4 + first, 2).columns_from(column, 15);
        KernelTensor y(2, 15);
        reference::dropout_forward({slice, y, nullptr, draw, {{2, first, 4, sequence}, column, 30}});
        for (std::int64_t r = 0; r < 2; ++r)
          for (std::int64_t c = 0; c < 15; ++c)
            REQUIRE(reference::load_one(y, r, c) == reference::load_one(whole, sequence * 4 + first + r, column + c));
      }
}

TEST_CASE("Backward drops what forward dropped, drawn again or by the mask that forward wrote") {
  const KernelTensor x = random_tensor(3, 700, 1);
  const KernelTensor dy = random_tensor(3, 700, 2);
  const DropoutPlace place{{3, 0, 3}, 0, 700};
  std::vector<std::uint8_t> mask(2100);
  KernelTensor y(3, 700);
  KernelTensor drawn(3, 700);
  KernelTensor kept(3, 700);
  reference::dropout_forward({x, y, mask.data(), draw, place});
  reference::dropout_backward({dy, drawn, nullptr, draw, place});
  reference::dropout_backward({dy, kept, mask.data(), draw, place});
  CHECK(drawn.values() == kept.values());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    REQUIRE((y.values()[i] != 0.0F) == (mask[i] == 1));
    if (i % 100 == 0) REQUIRE((drawn.values()[i] != 0.0F) == (mask[i] == 1));
  }
}

}  // namespace
}  // namespace plumbline
