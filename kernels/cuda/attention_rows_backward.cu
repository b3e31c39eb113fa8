// Gradients of fused attention: probabilities are computed again from the log-sum-exp.
#include "kernels/cuda/attention_rows_backward.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/flash_attention.h"

namespace plumbline::cuda {
namespace {

struct RecomputedProbability {
  const float* log_sum_exp;
  ProbabilityDropout dropout;

  __device__ Probability of(const AttentionShape& s, const AttentionPlace& at, std::int64_t query, std::int64_t key,
                            float score) const {
    const float log_sum = log_sum_exp[score_row(s, at, query)];
    Probability result;
    result.p = log_sum == -__uint_as_float(0x7f800000U) ? 0.0F : expf(s.scale * score - log_sum);
    result.factor = probability_factor(dropout, s, at, query, key);
    result.met = result.p * result.factor;
    return result;
  }
};

/// The sum of P dP over a query's keys equals that of the output times its gradient.
__global__ void __launch_bounds__(attention_threads, attention_blocks)
    dot_outputs(AttentionShape s, ConstTensorView output, ConstTensorView output_gradient, float* along) {
  const AttentionPlace at{blockIdx.z, blockIdx.y, 0};
  const std::int64_t row = query_row(s, at, blockIdx.x);
  float sum = 0;
  for_each_column(s.v_head_dim, [&](std::int64_t i) {
    sum += load(output, row, at.head * s.v_head_dim + i) * load(output_gradient, row, at.head * s.v_head_dim + i);
  });
  sum = block_sum(sum);
  if (threadIdx.x == 0) along[score_row(s, at, blockIdx.x)] = sum;
}

}  // namespace

Bytes attention_workspace(const AttentionBackward& args) { return along_bytes(args.shape); }

void attention_backward(const AttentionBackward& args, cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output);
  check_same_shape(args.output, args.output_gradient);
  check_same_shape(args.query, args.query_gradient);
  check_same_shape(args.key, args.key_gradient);
  check_same_shape(args.value, args.value_gradient);
  check(args.workspace.size >= attention_workspace(args),
        "the workspace is as large as the op's workspace function says");
  auto* along = static_cast<float*>(args.workspace.data);
  launch("attention_backward", attention_rows_shape(s.queries, s.heads, s.batch, 0), stream, dot_outputs, s,
         args.output, args.output_gradient, along);
  if (takes_flash_attention(args)) return flash_attention_backward(args, along, stream);
  const AttentionGradients gradients{s,
                                     args.output_gradient,
                                     args.query,
                                     args.key,
                                     args.value,
                                     args.query_gradient,
                                     args.key_gradient,
                                     args.value_gradient,
                                     args.write_query,
                                     args.write_key_value,
                                     along};
  launch_attention_gradients("attention_backward", gradients,
                             RecomputedProbability{args.log_sum_exp, probability_dropout(args.dropout)}, stream);
}

}  // namespace plumbline::cuda
