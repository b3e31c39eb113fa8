#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "kernels/attention.h"
#include "kernels/reference/chunk.h"

namespace plumbline::reference {
namespace {

/// Shares of the old and the new block in the sum of both, and that sum's logarithm.
struct Shares {
  float old_share = 0;
  float block_share = 0;
  float log_sum_exp = 0;
};

Shares shares_of(float old_log, float block_log) {
  const float top = std::max(old_log, block_log);
  if (top == -std::numeric_limits<float>::infinity()) return {0.0F, 0.0F, top};
  const float old_part = std::exp(old_log - top);
  const float block_part = std::exp(block_log - top);
  const float sum = old_part + block_part;
  return {old_part / sum, block_part / sum, top + std::log(sum)};
}

void merge_head(const AttentionMerge& args, std::int64_t row, std::int64_t head, const Shares& shares) {
  const std::int64_t width = args.output.columns / args.heads;
  for_each_chunk(width, [&](std::int64_t begin, std::int64_t count) {
    Chunk a;
    Chunk b;
    Chunk sum;
    const float* old = load(args.output, row, head * width + begin, count, a);
    const float* block = load(args.block_output, row, head * width + begin, count, b);
    for (std::int64_t i = 0; i < count; ++i) sum.values[i] = shares.old_share * old[i] + shares.block_share * block[i];
    store(args.output, row, head * width + begin, count, sum.values);
  });
}

}  // namespace

void attention_merge(const AttentionMerge& args) {
  check_same_shape(args.output, args.block_output);
  check(args.output.rows == args.batch * args.queries, "merged outputs have a row per query");
  for (std::int64_t sequence = 0; sequence < args.batch; ++sequence)
    for (std::int64_t head = 0; head < args.heads; ++head)
      for (std::int64_t query = 0; query < args.queries; ++query) {
        const std::int64_t at = (sequence * args.heads + head) * args.queries + query;
        const Shares shares = shares_of(args.log_sum_exp[at], args.block_log_sum_exp[at]);
        merge_head(args, sequence * args.queries + query, head, shares);
        args.log_sum_exp[at] = shares.log_sum_exp;
      }
}

}  // namespace plumbline::reference
