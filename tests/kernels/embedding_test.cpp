#include "kernels/embedding.h"

#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

TEST_CASE("An embedding and its gradient equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("embedding")) {
    const std::vector<std::int32_t> tokens = g.ids("tokens");
    const ConstTensorView table = g["table"];
    KernelTensor y(static_cast<std::int64_t>(tokens.size()), table.columns);
    KernelTensor gradient(table.rows, table.columns);
    reference::embedding_forward({tokens.data(), table, y});
    reference::embedding_backward({tokens.data(), g["dy"], gradient});
    CHECK(y.values() == g["y"].values());
    CHECK(relative_error(gradient.values(), g["dtable"].values()) < 1e-6);
  }
}

TEST_CASE("Vocabulary-parallel pieces of an embedding sum to the whole, and their gradients are its slices") {
  const KernelGolden g = kernel_goldens("embedding").back();
  const std::vector<std::int32_t> tokens = g.ids("tokens");
  const ConstTensorView table = g["table"];
  std::vector<float> sum(g["y"].values().size(), 0.0F);
  KernelTensor gradient(table.rows, table.columns);
  for (const auto& [first, count] : {std::pair{0, 3}, std::pair{3, 4}}) {
    KernelTensor y(12, table.columns);
    reference::embedding_forward({tokens.data(), table.rows_from(first, count), y, first});
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += y.values()[i];
    reference::embedding_backward({tokens.data(), g["dy"], gradient.view().rows_from(first, count), first});
  }
  CHECK(sum == g["y"].values());
  CHECK(relative_error(gradient.values(), g["dtable"].values()) < 1e-6);
}

TEST_CASE("Learned positions are those of the whole sequence on a rank with a slice of it") {
  const KernelTensor x = random_tensor(8, 3, 1);  // 2 sequences of 4
  const KernelTensor table = random_tensor(4, 3, 2);
  KernelTensor whole(8, 3);
  reference::position_embedding_forward({x, table, whole, {4, 0, 4}});
  for (std::int64_t row = 0; row < 8; ++row)
    for (std::int64_t c = 0; c < 3; ++c)
      CHECK(reference::load_one(whole, row, c) ==
            reference::load_one(x, row, c) + reference::load_one(table, row % 4, c));
  // The second half of each sequence.
  KernelTensor slice(4, 3);
  KernelTensor gradient(4, 3);
  KernelTensor halves(4, 3);
  for (std::int64_t sequence = 0; sequence < 2; ++sequence)
    for (std::int64_t s = 0; s < 2; ++s)
      for (std::int64_t c = 0; c < 3; ++c) {
        const float value = reference::load_one(x, sequence * 4 + 2 + s, c);
        reference::store(halves, sequence * 2 + s, c, 1, &value);
      }
  reference::position_embedding_forward({halves, table, slice, {2, 2, 4}});
  CHECK(reference::load_one(slice, 3, 1) == reference::load_one(whole, 7, 1));
  reference::position_embedding_backward({halves, gradient, {2, 2, 4}});
  CHECK(reference::load_one(gradient, 0, 0) == 0.0F);
  CHECK(reference::load_one(gradient, 3, 2) == reference::load_one(x, 3, 2) + reference::load_one(x, 7, 2));
}

}  // namespace
}  // namespace plumbline
