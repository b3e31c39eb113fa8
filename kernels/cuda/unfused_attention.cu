// Attention whose probabilities are kept, rounded to their format before they meet the values.
#include "kernels/cuda/attention_rows_backward.h"
#include "kernels/cuda/cuda_kernels.h"

namespace plumbline::cuda {
namespace {

/// A query's scores are in shared memory together. Source of the limit: CUDA C++ Programming Guide, table "Technical
/// Specifications per Compute Capability": 163 KiB of shared memory for a block of sm_80.
constexpr std::int64_t most_keys = 40000;

__device__ __forceinline__ float minus_infinity() { return -__uint_as_float(0x7f800000U); }

/// A query's scores become probabilities, in shared memory.
static __device__ __forceinline__ void soften(float* scores, const Range& seen) {
  float top = minus_infinity();
  for (std::int64_t k = seen.begin + threadIdx.x; k < seen.end; k += blockDim.x) top = Maximum{}(top, scores[k]);
  top = block_maximum(top);
  float sum = 0;
  for (std::int64_t k = seen.begin + threadIdx.x; k < seen.end; k += blockDim.x) {
    scores[k] = expf(scores[k] - top);
    sum += scores[k];
  }
  const float inverse = 1.0F / block_sum(sum);
  for (std::int64_t k = seen.begin + threadIdx.x; k < seen.end; k += blockDim.x) scores[k] *= inverse;
}

/// Writes a probability and what becomes of it by dropout; returns it as it meets the value.
__device__ __forceinline__ float keep_probability(const UnfusedAttentionForward& args,
                                                  const ProbabilityDropout& dropout, const AttentionPlace& at,
                                                  std::int64_t q, std::int64_t key, float p) {
  const AttentionShape& s = args.shape;
  const std::int64_t row = score_row(s, at, q);
  store(args.probabilities, row, key, p);
  const float rounded = load(args.probabilities, row, key);
  if (args.dropout.draw.probability == 0.0F) return rounded;
  const float factor = probability_factor(dropout, s, at, q, key);
  args.mask[row * s.keys + key] = factor != 0.0F ? 1 : 0;
  store(args.dropped_probabilities, row, key, rounded * factor);
  return load(args.dropped_probabilities, row, key);
}

__global__ void __launch_bounds__(attention_threads, attention_blocks)
    attend(UnfusedAttentionForward args, ProbabilityDropout dropout) {
  const AttentionShape& s = args.shape;
  auto* query = dynamic_shared<float>();
  float* scores = query + s.qk_head_dim;
  const std::int64_t q = blockIdx.x;
  const AttentionPlace at = place_of_block(s);
  load_row(query, args.query, query_row(s, at, q), at.head * s.qk_head_dim, s.qk_head_dim);
  __syncthreads();
  const Range seen = seen_keys(s, q);
  for_each_column(s.keys, [&](std::int64_t k) {
    const bool is_seen = k >= seen.begin && k < seen.end;
    scores[k] = is_seen
                    ? s.scale * dot_with(query, args.key, key_row(s, at, k), at.kv_head * s.qk_head_dim, s.qk_head_dim)
                    : 0.0F;
  });
  __syncthreads();
  if (seen.begin < seen.end) soften(scores, seen);
  __syncthreads();
  for_each_column(s.keys, [&](std::int64_t k) { scores[k] = keep_probability(args, dropout, at, q, k, scores[k]); });
  __syncthreads();
  for_each_column(s.v_head_dim, [&](std::int64_t i) {
    float sum = 0;
    PLUMBLINE_ROLLED
    for (std::int64_t k = seen.begin; k < seen.end; ++k)
      sum += scores[k] * load(args.value, key_row(s, at, k), at.kv_head * s.v_head_dim + i);
    store(args.output, query_row(s, at, q), at.head * s.v_head_dim + i, sum);
  });
}

struct KeptProbability {
  ConstTensorView probabilities;
  ConstTensorView dropped;  ///< nothing without dropout
  const std::uint8_t* mask;
  float kept;  ///< 1 / (1 - probability of dropout)

  __device__ Probability of(const AttentionShape& s, const AttentionPlace& at, std::int64_t query, std::int64_t key,
                            float) const {
    const std::int64_t row = score_row(s, at, query);
    Probability result;
    result.p = load(probabilities, row, key);
    result.factor = dropped.data == nullptr ? 1.0F : (mask[row * s.keys + key] != 0 ? kept : 0.0F);
    result.met = dropped.data == nullptr ? result.p : load(dropped, row, key);
    return result;
  }
};

__global__ void __launch_bounds__(attention_threads, attention_blocks)
    sum_along(AttentionGradients args, KeptProbability source) {
  const AttentionShape& s = args.shape;
  auto* dy = dynamic_shared<float>();
  const std::int64_t q = blockIdx.x;
  const AttentionPlace at = place_of_block(s);
  load_row(dy, args.output_gradient, query_row(s, at, q), at.head * s.v_head_dim, s.v_head_dim);
  __syncthreads();
  const Range seen = seen_keys(s, q);
  float sum = 0;
  for (std::int64_t key = seen.begin + threadIdx.x; key < seen.end; key += blockDim.x) {
    const Probability probability = source.of(s, at, q, key, 0.0F);
    sum += probability.p * probability.factor *
           dot_with(dy, args.value, key_row(s, at, key), at.kv_head * s.v_head_dim, s.v_head_dim);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) args.along[score_row(s, at, q)] = sum;
}

}  // namespace

Bytes unfused_attention_workspace(const UnfusedAttentionForward& /*args*/) { return Bytes(0); }
void unfused_attention_forward(const UnfusedAttentionForward& args, cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output);
  check(s.keys <= most_keys, "the scores of a query fit into a block's shared memory");
  launch("unfused_attention_forward", attention_rows_shape(s.queries, s.heads, s.batch, s.qk_head_dim + s.keys), stream,
         attend, args, probability_dropout(args.dropout));
}

Bytes unfused_attention_workspace(const UnfusedAttentionBackward& args) { return along_bytes(args.shape); }

void unfused_attention_backward(const UnfusedAttentionBackward& args, cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output_gradient);
  check(args.workspace.size >= unfused_attention_workspace(args),
        "the workspace is as large as the op's workspace function says");
  const AttentionGradients gradients{.shape = s,
                                     .output_gradient = args.output_gradient,
                                     .query = args.query,
                                     .key = args.key,
                                     .value = args.value,
                                     .query_gradient = args.query_gradient,
                                     .key_gradient = args.key_gradient,
                                     .value_gradient = args.value_gradient,
                                     .along = static_cast<float*>(args.workspace.data)};
  const bool drops = args.dropout_probability != 0.0F;
  const KeptProbability source{args.probabilities, drops ? args.dropped_probabilities : ConstTensorView{}, args.mask,
                               1.0F / (1.0F - args.dropout_probability)};
  launch("unfused_attention_backward", attention_rows_shape(s.queries, s.heads, s.batch, s.v_head_dim), stream,
         sum_along, gradients, source);
  launch_attention_gradients("unfused_attention_backward", gradients, source, stream);
}

}  // namespace plumbline::cuda
