// Adafactor's four parts, whole and by ranks that hold parts of a matrix, against PyTorch.
#include "kernels/adafactor.h"

#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline::adafactor_test {
namespace {

/// What ranks sum, and the means that they keep.
struct Sums {
  Sums(std::int64_t matrices, std::int64_t rows, std::int64_t columns)
      : row_means(1, matrices * rows),
        column_means(1, matrices * columns),
        row_sums(1, matrices * rows),
        column_sums(1, matrices * columns),
        weight_sums(1, matrices),
        update_sums(1, matrices),
        mean_rows(1, matrices) {}

  void clear() {
    for (KernelTensor* each : {&row_sums, &column_sums, &weight_sums, &update_sums, &mean_rows})
      std::fill_n(each->data(), each->view().columns, 0.0F);
  }
  KernelTensor row_means, column_means, row_sums, column_sums, weight_sums, update_sums, mean_rows;
};

enum class Kind : std::uint8_t { matrix, vector };

/// A weight that takes a golden case's steps, `parts` ranks each their elements of it.
struct Trained {
  Trained(const KernelGolden& golden, NumberFormat format = NumberFormat::fp32)
      : g(golden),
        kind(golden.name == "vector" ? Kind::vector : Kind::matrix),
        size(ConstTensorView(g["start"]).size()),
        columns(kind == Kind::vector ? 1 : ConstTensorView(g["start"]).columns),
        rows(size / columns),
        parameter(g["start"].values(), 1, size, format),
        master(g["start"].values(), 1, size),
        sums(1, rows, columns) {}

  void run(std::int64_t parts, bool with_master = false, float scale = 1.0F) {
    const std::vector<float> all = g["gradients"].values();
    for (std::int64_t t = 0; t < g.whole("steps"); ++t) {
      KernelTensor gradient(1, size);
      for (std::int64_t i = 0; i < size; ++i) gradient.data()[i] = scale * all[static_cast<std::size_t>(t * size + i)];
      sums.clear();
      const auto each = [&](void (*kernel)(const AdafactorStep&)) {
        for (std::int64_t part = 0; part < parts; ++part) {
          const std::int64_t first = part * size / parts;
          kernel(step(gradient, t + 1, {first, (part + 1) * size / parts - first}, with_master, scale));
        }
      };
      each(reference::adafactor_squares);
      reference::adafactor_means(step(gradient, t + 1, {0, size}, with_master, scale));
      each(reference::adafactor_updates);
      each(reference::adafactor_step);
    }
  }

  struct Range {
    std::int64_t first;
    std::int64_t count;
  };
  AdafactorStep step(KernelTensor& gradient, std::int64_t t, Range range, bool with_master, float scale) {
    AdafactorStep args;
    OptimizedParameter& p = args.parameter;
    p.parameter = parameter.view().columns_from(range.first, range.count);
    if (with_master) p.master = master.view().columns_from(range.first, range.count);
    p.gradient = gradient.view().columns_from(range.first, range.count);
    p.gradient_factor = 1.0F / scale;
    p.learning_rate = g.number("rate");
    p.weight_decay = g.number("decay");
    args.first = range.first;
    args.rows = args.whole_rows = rows;
    args.columns = args.whole_columns = columns;
    args.row_means = sums.row_means;
    if (kind == Kind::matrix) args.column_means = sums.column_means;
    args.row_sums = sums.row_sums.data();
    args.column_sums = sums.column_sums.data();
    args.weight_sums = sums.weight_sums.data();
    args.update_sums = sums.update_sums.data();
    args.mean_rows = sums.mean_rows.data();
    args.step = t;
    return args;
  }

  const KernelGolden& g;
  Kind kind;
  std::int64_t size;
  std::int64_t columns;
  std::int64_t rows;
  KernelTensor parameter;
  KernelTensor master;
  Sums sums;
};

TEST_CASE("Ten steps of Adafactor equal PyTorch's, and so do the means that it keeps") {
  for (const KernelGolden& g : kernel_goldens("adafactor")) {
    for (const std::int64_t parts : {1, 3, 5}) {
      INFO(g.name << " of " << ConstTensorView(g["start"]).size() << " in " << parts << " parts");
      Trained run(g);
      run.run(parts);
      CHECK(relative_error(run.parameter.values(), g["end"].values()) < 1e-5);
      CHECK(relative_error(run.sums.row_means.values(), g["row_means"].values()) < 1e-5);
      if (run.kind == Kind::matrix)
        CHECK(relative_error(run.sums.column_means.values(), g["column_means"].values()) < 1e-5);
    }
  }
}

TEST_CASE("Adafactor's 16-bit parameter is its master copy rounded, and a loss scale of two changes no bit") {
  for (const KernelGolden& g : kernel_goldens("adafactor")) {
    INFO(g.name);
    Trained plain(g);
    Trained mixed(g, NumberFormat::bf16);
    Trained scaled(g);
    plain.run(1);
    mixed.run(1, true);
    scaled.run(1, false, 1024.0F);
    CHECK(mixed.master.bytes() == plain.parameter.bytes());
    CHECK(scaled.parameter.bytes() == plain.parameter.bytes());
  }
}

// The mean of the means by row is that by column: ranks that divide the rows have the latter alone.
TEST_CASE("a rank with half of a matrix's rows, or of its columns, takes the whole one's step") {
  const KernelGolden g = kernel_goldens("adafactor").at(1);
  Trained whole(g);
  KernelTensor gradient(1, whole.size);
  std::copy_n(g["gradients"].values().begin(), whole.size, gradient.data());
  const auto all = [&](Trained& t) { return t.step(gradient, 1, {0, t.size}, false, 1); };
  reference::adafactor_squares(all(whole));
  const AdafactorStep one = all(whole);
  reference::adafactor_means(one);
  reference::adafactor_updates(one);

  // Rows 0 to 4 of 11 with sums of all.
  Trained part(g);
  AdafactorStep half = part.step(gradient, 1, {0, 5 * part.columns}, false, 1);
  half.rows = 5;
  half.row_means = part.sums.row_means.view().columns_from(0, 5);
  reference::adafactor_squares(half);
  std::copy_n(whole.sums.column_sums.data(), part.columns, part.sums.column_sums.data());
  part.sums.weight_sums.data()[0] = whole.sums.weight_sums.data()[0];
  reference::adafactor_means(half);
  CHECK(part.sums.mean_rows.data()[0] == Approx(whole.sums.mean_rows.data()[0]).epsilon(1e-6));
  part.sums.update_sums.data()[0] = whole.sums.update_sums.data()[0];
  reference::adafactor_step(half);
  reference::adafactor_step(one);
  for (std::int64_t i = 0; i < 5 * part.columns; ++i)
    CHECK(part.parameter.data()[i] == Approx(whole.parameter.data()[i]).epsilon(1e-6));
}

}  // namespace
}  // namespace plumbline::adafactor_test
