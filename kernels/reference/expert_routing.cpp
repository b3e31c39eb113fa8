#include "kernels/expert_routing.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/lanes.h"

namespace plumbline::reference {

void expert_permutation(const ExpertPermutation& args) {
  std::fill(args.counts, args.counts + args.expert_count, 0);
  for (std::int64_t i = 0; i < args.choices; ++i) {
    check(args.experts[i] >= 0 && args.experts[i] < args.expert_count, "a chosen expert exists");
    ++args.counts[args.experts[i]];
  }
  // The counts serve as each expert's next row while the choices are placed, and are counts again afterwards.
  std::int64_t begin = 0;
  for (std::int64_t e = 0; e < args.expert_count; ++e) begin += std::exchange(args.counts[e], begin);
  for (std::int64_t i = 0; i < args.choices; ++i) {
    args.slots[i] = args.counts[args.experts[i]]++;
    args.sources[args.slots[i]] = i;
  }
  for (std::int64_t e = args.expert_count - 1; e > 0; --e) args.counts[e] -= args.counts[e - 1];
}

void gather_rows(const GatherRows& args) {
  check(args.input.columns == args.output.columns, "gathered rows keep their width");
  for (std::int64_t row = 0; row < args.output.rows; ++row) {
    const bool is_row = args.index[row] >= 0;
    const std::int64_t from = args.index[row] / args.divisor;
    check(!is_row || from < args.input.rows, "a gathered row exists");
    for_each_chunk(args.output.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk chunk = {};
      store(args.output, row, begin, count, is_row ? load(args.input, from, begin, count, chunk) : chunk.values);
    });
  }
}

void combine_forward(const CombineForward& args) {
  check(args.rows.columns == args.output.columns, "combined rows keep their width");
  for (std::int64_t token = 0; token < args.output.rows; ++token)
    for_each_chunk(args.output.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk sum = {};
      for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k) {
        Chunk chunk;
        const float* x = load(args.rows, args.slots[k], begin, count, chunk);
        const float weight = args.weights != nullptr ? args.weights[k] : 1.0F;
        for (std::int64_t i = 0; i < count; ++i) sum.values[i] += weight * x[i];
      }
      store(args.output, token, begin, count, sum.values);
    });
}

void combine_backward(const CombineBackward& args) {
  check(args.rows.columns == args.output_gradient.columns, "combined rows keep their width");
  for (std::int64_t token = 0; token < args.output_gradient.rows; ++token)
    for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k) {
      float dot = 0;
      for_each_chunk(args.rows.columns, [&](std::int64_t begin, std::int64_t count) {
        Chunk a;
        Chunk b;
        Chunk out;
        const float* dy = load(args.output_gradient, token, begin, count, a);
        const float* x = load(args.rows, args.slots[k], begin, count, b);
        dot += lane_sum<float>(count, [&](std::int64_t i) { return dy[i] * x[i]; });
        for (std::int64_t i = 0; i < count; ++i) out.values[i] = args.weights[k] * dy[i];
        store(args.row_gradient, args.slots[k], begin, count, out.values);
      });
      args.weight_gradient[k] = dot;
    }
}

}  // namespace plumbline::reference
