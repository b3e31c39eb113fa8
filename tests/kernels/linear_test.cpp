#include "kernels/linear.h"

#include "kernels/grouped_linear.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline {
namespace {

TEST_CASE("A linear layer, its input gradient, weight gradient and bias gradient equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("linear")) {
    INFO(g.name);
    const ConstTensorView x = g["x"];
    const ConstTensorView w = g["w"];
    KernelTensor y(x.rows, w.rows);
    KernelTensor dx(x.rows, x.columns);
    KernelTensor dw(w.rows, w.columns);
    KernelTensor db(1, w.rows);
    LinearForward forward{x, w, g["b"], y};
    WorkspaceMemory memory(reference::linear_workspace(forward));
    forward.workspace = memory;
    reference::linear_forward(forward);
    reference::linear_input_gradient({g["dy"], w, dx});
    reference::linear_weight_gradient({x, g["dy"], dw, db, Write::accumulate});
    CHECK(relative_error(y.values(), g["y"].values()) < 1e-5);
    CHECK(relative_error(dx.values(), g["dx"].values()) < 1e-5);
    CHECK(relative_error(dw.values(), g["dw"].values()) < 1e-5);
    CHECK(relative_error(db.values(), g["db"].values()) < 1e-5);
  }
}

TEST_CASE("Column slices of a weight give slices of the output, row slices give parts of its sum") {
  const KernelTensor x = random_tensor(6, 8, 1);
  const KernelTensor w = random_tensor(10, 8, 2);
  KernelTensor whole(6, 10);
  reference::linear_forward({x, w, {}, whole});
  KernelTensor columns(6, 10);
  KernelTensor sum(6, 10);
  for (int rank = 0; rank < 2; ++rank) {
    reference::linear_forward({x, w.view().rows_from(5 * rank, 5), {}, columns.view().columns_from(5 * rank, 5)});
    KernelTensor part(6, 10);
    reference::linear_forward({x.view().columns_from(4 * rank, 4), w.view().columns_from(4 * rank, 4), {}, part});
    for (int i = 0; i < 60; ++i) sum.data()[i] += part.data()[i];
  }
  CHECK(relative_error(columns.values(), whole.values()) < 1e-6);
  CHECK(relative_error(sum.values(), whole.values()) < 1e-6);
}

TEST_CASE("Weight gradients of two micro-batches add up to that of both") {
  const KernelTensor x = random_tensor(12, 8, 1);
  const KernelTensor dy = random_tensor(12, 5, 2);
  KernelTensor whole(5, 8);
  KernelTensor parts(5, 8);
  reference::linear_weight_gradient({x, dy, whole, {}, Write::overwrite});
  for (int half = 0; half < 2; ++half)
    reference::linear_weight_gradient(
        {x.view().rows_from(6 * half, 6), dy.view().rows_from(6 * half, 6), parts, {}, Write::accumulate});
  CHECK(relative_error(parts.values(), whole.values()) < 1e-6);
}

TEST_CASE("A grouped linear layer is a linear layer on each expert's rows; experts without rows get a zero gradient") {
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16}) {
    const std::vector<std::int64_t> counts{3, 0, 5};
    const ExpertRows groups{3, counts.data()};
    const KernelTensor x = random_tensor(8, 6, 1, format);
    const KernelTensor w = random_tensor(3 * 4, 6, 2, format);
    const KernelTensor b = random_tensor(3, 4, 3, format);
    const KernelTensor dy = random_tensor(8, 4, 4, format);
    KernelTensor y(8, 4, format);
    KernelTensor dx(8, 6, format);
    KernelTensor dw = random_tensor(12, 6, 5);
    KernelTensor db = random_tensor(3, 4, 6);
    GroupedLinearForward forward{groups, x, w, b, y};
    GroupedLinearInputGradient backward{groups, dy, w, dx};
    GroupedLinearWeightGradient weight{groups, x, dy, dw, db, Write::overwrite};
    WorkspaceMemory memory(
        std::max({reference::grouped_linear_workspace(forward), reference::grouped_linear_workspace(backward),
                  reference::grouped_linear_workspace(weight)}));
    forward.workspace = backward.workspace = weight.workspace = memory;
    reference::grouped_linear_forward(forward);
    reference::grouped_linear_input_gradient(backward);
    reference::grouped_linear_weight_gradient(weight);
    for (const auto& [expert, first, rows] : {std::array<std::int64_t, 3>{0, 0, 3}, {2, 3, 5}}) {
      KernelTensor y_part(rows, 4, format);
      KernelTensor dx_part(rows, 6, format);
      KernelTensor dw_part(4, 6);
      KernelTensor db_part(1, 4);
      const ConstTensorView x_rows = x.view().rows_from(first, rows);
      const ConstTensorView dy_rows = dy.view().rows_from(first, rows);
      const ConstTensorView w_rows = w.view().rows_from(4 * expert, 4);
      reference::linear_forward({x_rows, w_rows, b.view().rows_from(expert, 1), y_part, memory});
      reference::linear_input_gradient({dy_rows, w_rows, dx_part, Write::overwrite, memory});
      reference::linear_weight_gradient({x_rows, dy_rows, dw_part, db_part, Write::overwrite, memory});
      const auto same = [](const KernelTensor& part, TensorView whole, std::int64_t row) {
        for (std::int64_t r = 0; r < part.view().rows; ++r)
          for (std::int64_t c = 0; c < whole.columns; ++c)
            REQUIRE(reference::load_one(part, r, c) == reference::load_one(whole, row + r, c));
      };
      same(y_part, y, first);
      same(dx_part, dx, first);
      same(dw_part, dw, 4 * expert);
      same(db_part, db, expert);
    }
    for (std::int64_t c = 0; c < 6; ++c) CHECK(reference::load_one(dw, 4 + 2, c) == 0.0F);
    CHECK(reference::load_one(db, 1, 0) == 0.0F);
  }
}

}  // namespace
}  // namespace plumbline
