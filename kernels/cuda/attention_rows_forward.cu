// Attention for any format and head size: a block takes a query of a head.
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/flash_attention.h"

namespace plumbline::cuda {
namespace {

__device__ __forceinline__ float minus_infinity() { return -__uint_as_float(0x7f800000U); }

/// The scores' softmax so far: the largest, and the sum of exp(score - largest).
struct RunningSoftmax {
  float top;
  float sum;
};

/// Adds a thread's score of this step (minus infinity where it has none), and returns its exponential; `shrink` is what
/// earlier sums are multiplied by. All threads call.
static __device__ __forceinline__ float add_score(RunningSoftmax& softmax, float score, float& shrink) {
  const float top = Maximum{}(softmax.top, block_maximum(score));
  const float p = score == minus_infinity() ? 0.0F : expf(score - top);
  shrink = softmax.top == minus_infinity() ? 0.0F : expf(softmax.top - top);
  softmax.sum = softmax.sum * shrink + block_sum(p);
  softmax.top = top;
  return p;
}

__global__ void __launch_bounds__(attention_threads, attention_blocks)
    attend(AttentionForward args, ProbabilityDropout dropout) {
  const AttentionShape& s = args.shape;
  auto* query = dynamic_shared<float>();
  float* output = query + s.qk_head_dim;
  float* probabilities = output + s.v_head_dim;  // of the keys of a step
  const std::int64_t q = blockIdx.x;
  const AttentionPlace at = place_of_block(s);
  load_row(query, args.query, query_row(s, at, q), at.head * s.qk_head_dim, s.qk_head_dim);
  for_each_column(s.v_head_dim, [&](std::int64_t i) { output[i] = 0; });
  __syncthreads();
  RunningSoftmax softmax{minus_infinity(), 0.0F};
  const Range seen = seen_keys(s, q);
  for (std::int64_t begin = seen.begin; begin < seen.end; begin += attention_threads) {
    const std::int64_t key = begin + threadIdx.x;
    const float score = key < seen.end ? s.scale * dot_with(query, args.key, key_row(s, at, key),
                                                            at.kv_head * s.qk_head_dim, s.qk_head_dim)
                                       : minus_infinity();
    float shrink = 0;
    const float p = add_score(softmax, score, shrink);
    probabilities[threadIdx.x] = key < seen.end ? p * probability_factor(dropout, s, at, q, key) : 0.0F;
    __syncthreads();
    const std::int64_t count = seen.end - begin < attention_threads ? seen.end - begin : attention_threads;
    for_each_column(s.v_head_dim, [&](std::int64_t i) {
      float sum = output[i] * shrink;
      PLUMBLINE_ROLLED
      for (std::int64_t k = 0; k < count; ++k)
        sum += probabilities[k] * load(args.value, key_row(s, at, begin + k), at.kv_head * s.v_head_dim + i);
      output[i] = sum;
    });
    __syncthreads();
  }
  const float sum = softmax.sum;
  const float inverse = sum > 0.0F ? 1.0F / sum : (sum == 0.0F ? 0.0F : sum);  // a NaN stays one
  for_each_column(s.v_head_dim, [&](std::int64_t i) {
    store(args.output, query_row(s, at, q), at.head * s.v_head_dim + i, output[i] * inverse);
  });
  if (threadIdx.x == 0)
    args.log_sum_exp[score_row(s, at, q)] = sum == 0.0F ? minus_infinity() : softmax.top + logf(sum);
}

/// A block takes a query of a head: all threads read its log-sum-exp before one writes it.
__global__ void __launch_bounds__(attention_threads, attention_blocks) merge_rows(AttentionMerge args) {
  const std::int64_t at = (static_cast<std::int64_t>(blockIdx.z) * args.heads + blockIdx.y) * args.queries + blockIdx.x;
  const float old_log = args.log_sum_exp[at];
  const float block_log = args.block_log_sum_exp[at];
  const float top = old_log > block_log ? old_log : block_log;
  const bool is_nothing = top == minus_infinity();
  const float old_part = is_nothing ? 0.0F : expf(old_log - top);
  const float block_part = is_nothing ? 0.0F : expf(block_log - top);
  const float sum = is_nothing ? 1.0F : old_part + block_part;
  __syncthreads();
  if (threadIdx.x == 0) args.log_sum_exp[at] = top + logf(sum);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.z) * args.queries + blockIdx.x;
  const std::int64_t width = args.output.columns / args.heads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * width;
  for_each_column(width, [&](std::int64_t i) {
    store(args.output, row, first + i,
          old_part / sum * load(args.output, row, first + i) +
              block_part / sum * load(args.block_output, row, first + i));
  });
}

}  // namespace

void check_attention(const AttentionShape& s, const ConstTensorView& query, const ConstTensorView& key,
                     const ConstTensorView& value, const ConstTensorView& output) {
  check(s.heads % s.kv_heads == 0, "every key head serves as many query heads");
  check(s.heads <= most_grid_rows && s.batch <= most_grid_rows, "heads and sequences are dimensions of a grid");
  check(query.rows == s.batch * s.queries && query.columns == s.heads * s.qk_head_dim, "queries have the shape's size");
  check(key.rows == s.batch * s.keys && key.columns == s.kv_heads * s.qk_head_dim, "keys have the shape's size");
  check(value.rows == s.batch * s.keys && value.columns == s.kv_heads * s.v_head_dim, "values have the shape's size");
  check(output.rows == query.rows && output.columns == s.heads * s.v_head_dim, "the output has the shape's size");
}

Bytes attention_workspace(const AttentionForward& /*args*/) { return Bytes(0); }
void attention_forward(const AttentionForward& args, cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output);
  if (takes_flash_attention(args)) return flash_attention_forward(args, stream);
  launch("attention_forward",
         attention_rows_shape(s.queries, s.heads, s.batch, s.qk_head_dim + s.v_head_dim + attention_threads), stream,
         attend, args, probability_dropout(args.dropout));
}

void attention_merge(const AttentionMerge& args, cudaStream_t stream) {
  check_same_shape(args.output, args.block_output);
  check(args.output.rows == args.batch * args.queries, "merged outputs have a row per query");
  launch("attention_merge", attention_rows_shape(args.queries, args.heads, args.batch, 0), stream, merge_rows, args);
}

}  // namespace plumbline::cuda
