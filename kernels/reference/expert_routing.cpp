#include "kernels/expert_routing.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/lanes.h"

namespace plumbline::reference {

void experts_in_turn(const ExpertsInTurn& args) {
  for (std::int64_t i = 0; i < args.tokens * args.chosen; ++i)
    args.experts[i] = static_cast<std::int32_t>((args.first_token * args.chosen + i) % args.expert_count);
}

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

void arrival_counts(const ArrivalCounts& args) {
  for (std::int64_t e = 0; e < args.experts; ++e) {
    args.by_expert[e] = 0;
    for (std::int64_t source = 0; source < args.sources; ++source)
      args.by_expert[e] += args.counts[source * args.experts + e];
  }
}

void arrival_order(const ArrivalOrder& args) {
  std::int64_t sorted = 0;
  for (std::int64_t e = 0; e < args.experts; ++e) {
    std::int64_t begin = 0;  // of the source's rows of this expert, as they arrived
    for (std::int64_t before = 0; before < e; ++before) begin += args.counts[before];
    for (std::int64_t source = 0; source < args.sources; ++source) {
      const std::int64_t* const counts = args.counts + source * args.experts;
      for (std::int64_t row = begin; row < begin + counts[e]; ++row, ++sorted) {
        if (args.of == ArrivalIndex::sorted)
          args.index[sorted] = row;
        else
          args.index[row] = sorted;
      }
      // From this expert's rows of one source to those of the next.
      for (std::int64_t i = e; i < e + args.experts && source + 1 < args.sources; ++i) begin += counts[i];
    }
  }
}

void chosen_values(const ChosenValues& args) {
  for (std::int64_t i = 0; i < args.tokens * args.chosen; ++i)
    args.of_choices[i] = args.values[i / args.chosen * args.expert_count + args.experts[i]];
}

void spread_chosen(const ChosenValues& args) {
  std::fill(args.values, args.values + args.tokens * args.expert_count, 0.0F);
  for (std::int64_t i = 0; i < args.tokens * args.chosen; ++i)
    args.values[i / args.chosen * args.expert_count + args.experts[i]] = args.of_choices[i];
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
