#include "kernels/adafactor.h"

#include <cmath>

#include "kernels/reference/update.h"

namespace plumbline::reference {
namespace {

/// Elements of one row that follow on each other.
struct RowSegment {
  std::int64_t row = 0;     ///< of all matrices
  std::int64_t column = 0;  ///< first, of all matrices
  std::int64_t matrix = 0;
  std::int64_t begin = 0;  ///< of the chunk
  std::int64_t count = 0;
};

/// Of the elements [first, first + count) of the matrices.
template <class Visit>
void for_each_segment(const AdafactorStep& args, std::int64_t first, std::int64_t count, Visit visit) {
  for (std::int64_t done = 0; done < count;) {
    RowSegment segment;
    segment.row = (first + done) / args.columns;
    segment.matrix = segment.row / args.rows;
    const std::int64_t of_row = (first + done) % args.columns;
    segment.column = segment.matrix * args.columns + of_row;
    segment.begin = done;
    segment.count = std::min(count - done, args.columns - of_row);
    visit(segment);
    done += segment.count;
  }
}

/// 1 / root of what the means say of an element's square, at least the least one.
class AdafactorRoots {
 public:
  explicit AdafactorRoots(const AdafactorStep& args) : args_(args) {}

  /// `take(i, root)` for each element of the chunk.
  template <class Take>
  void of(const RowSegment& s, Take take) const {
    const float row = load_one(args_.row_means, 0, s.row);
    const bool is_vector = !args_.column_means.is_there();
    const float mean = is_vector ? 1.0F : std::max(args_.mean_rows[s.matrix], AdafactorStep::least_mean);
    for (std::int64_t i = 0; i < s.count; ++i) {
      const float square = is_vector ? row : row * load_one(args_.column_means, 0, s.column + i) / mean;
      take(s.begin + i, 1.0F / std::sqrt(std::max(square, AdafactorStep::least_square)));
    }
  }

 private:
  const AdafactorStep& args_;
};

double squares_of(const float* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{values[i]} * double{values[i]};
  return sum;
}

void keep_means(const TensorView& means, const float* sums, float count, float share) {
  for (std::int64_t i = 0; i < means.columns; ++i)
    store_one(means, 0, i, AdafactorStep::moved(load_one(means, 0, i), sums[i] / count, share));
}

float mean_of(const TensorView& means, std::int64_t first, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{load_one(means, 0, first + i)};
  return static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

Bytes adafactor_workspace(const AdafactorStep& /*args*/) { return Bytes(0); }

void adafactor_squares(const AdafactorStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check_same_shape(p.parameter, p.gradient);
  const TensorView& source = p.master.is_there() ? p.master : p.parameter;
  for_each_chunk(p.gradient.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk loaded;
    Chunk weight;
    Chunk g;
    const float* gradient = load(p.gradient, 0, begin, count, loaded);
    load_to(source, 0, begin, count, weight.values);
    for (std::int64_t i = 0; i < count; ++i) g.values[i] = scaled_gradient(p, gradient[i]);
    for_each_segment(args, args.first + begin, count, [&](const RowSegment& s) {
      args.row_sums[s.row] += static_cast<float>(squares_of(g.values + s.begin, s.count));
      args.weight_sums[s.matrix] += static_cast<float>(squares_of(weight.values + s.begin, s.count));
      if (!args.column_means.is_there()) return;
      for (std::int64_t i = 0; i < s.count; ++i)
        args.column_sums[s.column + i] += g.values[s.begin + i] * g.values[s.begin + i];
    });
  });
}

void adafactor_means(const AdafactorStep& args) {
  if (!decided(args.parameter)) return;
  check(args.update() >= 1 && args.row_means.is_there(), "Adafactor keeps means");
  const auto share = static_cast<float>(std::pow(static_cast<double>(args.update()), -0.8));
  keep_means(args.row_means, args.row_sums, static_cast<float>(args.whole_columns), share);
  if (!args.column_means.is_there()) return;
  keep_means(args.column_means, args.column_sums, static_cast<float>(args.whole_rows), share);
  for (std::int64_t m = 0; m < args.matrices; ++m)
    args.mean_rows[m] = args.rows == args.whole_rows ? mean_of(args.row_means, m * args.rows, args.rows)
                                                     : mean_of(args.column_means, m * args.columns, args.columns);
}

void adafactor_updates(const AdafactorStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  const AdafactorRoots roots(args);
  for_each_chunk(p.gradient.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk loaded;
    Chunk updates;
    const float* gradient = load(p.gradient, 0, begin, count, loaded);
    for_each_segment(args, args.first + begin, count, [&](const RowSegment& s) {
      roots.of(s, [&](std::int64_t i, float root) { updates.values[i] = scaled_gradient(p, gradient[i]) * root; });
      args.update_sums[s.matrix] += static_cast<float>(squares_of(updates.values + s.begin, s.count));
    });
  });
}

void adafactor_step(const AdafactorStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  const AdafactorRoots roots(args);
  const float keep = 1.0F - p.learning_rate * p.weight_decay;
  const float rate = std::min(p.learning_rate, 1.0F / std::sqrt(static_cast<float>(args.update())));
  const auto rate_of = [&](std::int64_t matrix) {
    const float size = std::sqrt(args.weight_sums[matrix] / args.elements());
    const float of_update = std::sqrt(args.update_sums[matrix] / args.elements());
    return std::max(AdafactorStep::least_size, size) * rate / std::max(1.0F, of_update);
  };
  std::int64_t at = args.first;
  update(p, {}, {}, [&](UpdateChunk& chunk) {
    for_each_segment(args, at, chunk.count, [&](const RowSegment& s) {
      const float of_matrix = rate_of(s.matrix);
      roots.of(s, [&](std::int64_t i, float root) {
        float& w = chunk.weight.values[i];
        w = w * keep - of_matrix * (scaled_gradient(p, chunk.gradient[i]) * root);
      });
    });
    at += chunk.count;
  });
}

}  // namespace plumbline::reference
