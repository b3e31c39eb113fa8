#pragma once
/// \file cuda_kernels.h: the kernels of kernels/*.h on a GPU.
///
/// Answers: for each function of `reference` that a device's kernel table names, one of the same name and arguments in
/// a stream. Model: straightforward kernels for every format; all memory that the arguments name, counts and indices
/// included, is the device's, and is read and written when the stream gets there. Numbers are computed in fp32 and
/// rounded once, sums are made in an order that is the same at every run, and no atomic operation adds numbers. A
/// launch that CUDA refuses is an EnvironmentError that names the kernel. Not modelled: checks of what the memory holds
/// (indices in range); speed: docs/cuda.md has what was measured. Checked against:
/// tests/kernels/cuda/kernel_tables_test.cpp (the CPU's kernels, carried out on the CPU).

#include <cuda_runtime_api.h>

#include "kernels/adagrad.h"
#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/expert_routing.h"
#include "kernels/gated_activation.h"
#include "kernels/gelu.h"
#include "kernels/grouped_linear.h"
#include "kernels/layer_norm.h"
#include "kernels/linear.h"
#include "kernels/lion.h"
#include "kernels/matmul.h"
#include "kernels/muon.h"
#include "kernels/quantize.h"
#include "kernels/reductions.h"
#include "kernels/relu.h"
#include "kernels/rms_norm.h"
#include "kernels/rmsprop.h"
#include "kernels/rotary.h"
#include "kernels/router.h"
#include "kernels/sgd.h"
#include "kernels/unfused_attention.h"

namespace plumbline::cuda {

// Elements, one by one, and over a whole tensor.
void add(const Add& args, cudaStream_t stream);
void scale(const Scale& args, cudaStream_t stream);
void cast(const Cast& args, cudaStream_t stream);
void transpose(const TransposeCopy& args, cudaStream_t stream);
void fill(const Fill& args, cudaStream_t stream);
void fp8_scale(const Fp8Scale& args, cudaStream_t stream);
[[nodiscard]] Bytes health_workspace(const HealthSum& args);
void add_health(const HealthSum& args, cudaStream_t stream);
[[nodiscard]] Bytes health_sums_workspace(const HealthSums& args);
void add_health_sums(const HealthSums& args, cudaStream_t stream);

// Matrix products: no scratch but for the bias's gradient.
void matmul(const Matmul& args, cudaStream_t stream);
void linear_forward(const LinearForward& args, cudaStream_t stream);
void linear_input_gradient(const LinearInputGradient& args, cudaStream_t stream);
void linear_weight_gradient(const LinearWeightGradient& args, cudaStream_t stream);
/// Of the bias alone, which is there: what linear_weight_gradient takes for it too.
[[nodiscard]] Bytes bias_gradient_workspace(const LinearWeightGradient& args);
void linear_bias_gradient(const LinearWeightGradient& args, cudaStream_t stream);
void grouped_linear_forward(const GroupedLinearForward& args, cudaStream_t stream);
void grouped_linear_input_gradient(const GroupedLinearInputGradient& args, cudaStream_t stream);
void grouped_linear_weight_gradient(const GroupedLinearWeightGradient& args, cudaStream_t stream);

// Attention. Scratch of forward: none.
[[nodiscard]] Bytes attention_workspace(const AttentionBackward& args);
[[nodiscard]] Bytes unfused_attention_workspace(const UnfusedAttentionBackward& args);
void attention_forward(const AttentionForward& args, cudaStream_t stream);
void attention_backward(const AttentionBackward& args, cudaStream_t stream);
void attention_merge(const AttentionMerge& args, cudaStream_t stream);
[[nodiscard]] inline const char* attention_kernel(const AttentionForward& /*args*/) { return "flash-2"; }
void unfused_attention_forward(const UnfusedAttentionForward& args, cudaStream_t stream);
void unfused_attention_backward(const UnfusedAttentionBackward& args, cudaStream_t stream);

// Single tokens.
void embedding_forward(const EmbeddingForward& args, cudaStream_t stream);
void embedding_backward(const EmbeddingBackward& args, cudaStream_t stream);
void position_embedding_forward(const PositionEmbeddingForward& args, cudaStream_t stream);
void position_embedding_backward(const PositionEmbeddingBackward& args, cudaStream_t stream);
void layer_norm_forward(const LayerNormForward& args, cudaStream_t stream);
[[nodiscard]] Bytes layer_norm_workspace(const LayerNormBackward& args);
void layer_norm_backward(const LayerNormBackward& args, cudaStream_t stream);
void rms_norm_forward(const RmsNormForward& args, cudaStream_t stream);
[[nodiscard]] Bytes rms_norm_workspace(const RmsNormBackward& args);
void rms_norm_backward(const RmsNormBackward& args, cudaStream_t stream);
void relu_forward(const ReluForward& args, cudaStream_t stream);
void relu_backward(const ReluBackward& args, cudaStream_t stream);
void gelu_forward(const GeluForward& args, cudaStream_t stream);
void gelu_backward(const GeluBackward& args, cudaStream_t stream);
void swiglu_forward(const SwigluForward& args, cudaStream_t stream);
void swiglu_backward(const SwigluBackward& args, cudaStream_t stream);
void rotary(const Rotary& args, cudaStream_t stream);
void dropout_forward(const ElementDropout& args, cudaStream_t stream);
void dropout_backward(const ElementDropout& args, cudaStream_t stream);
void cross_entropy_local_maximum(const CrossEntropy& args, cudaStream_t stream);
void cross_entropy_local_sum(const CrossEntropy& args, cudaStream_t stream);
void cross_entropy_add(const CrossEntropy& args, CrossEntropyLoss* sum, cudaStream_t stream);

// Experts.
void router_forward(const RouterForward& args, cudaStream_t stream);
void router_backward(const RouterBackward& args, cudaStream_t stream);
void router_choice(const RouterChoice& args, cudaStream_t stream);
void router_weighing(const RouterWeighing& args, cudaStream_t stream);
void experts_in_turn(const ExpertsInTurn& args, cudaStream_t stream);
void expert_permutation(const ExpertPermutation& args, cudaStream_t stream);
void arrival_counts(const ArrivalCounts& args, cudaStream_t stream);
void arrival_order(const ArrivalOrder& args, cudaStream_t stream);
void chosen_values(const ChosenValues& args, cudaStream_t stream);
void spread_chosen(const ChosenValues& args, cudaStream_t stream);
void gather_rows(const GatherRows& args, cudaStream_t stream);
void combine_forward(const CombineForward& args, cudaStream_t stream);
void combine_backward(const CombineBackward& args, cudaStream_t stream);

// Optimizers.
void decide_step(const DecideStep& args, cudaStream_t stream);
void sgd_step(const SgdStep& args, cudaStream_t stream);
void adagrad_step(const AdagradStep& args, cudaStream_t stream);
void rmsprop_step(const RmspropStep& args, cudaStream_t stream);
void lion_step(const LionStep& args, cudaStream_t stream);
void adamw_step(const AdamwStep& args, cudaStream_t stream);
/// Tensors of other formats, and those that begin elsewhere than at multiples of 16 bytes, one by one.
void adamw_steps(std::span<const AdamwStep> steps, cudaStream_t stream);
[[nodiscard]] Bytes muon_workspace(const MuonStep& args);
void muon_step(const MuonStep& args, cudaStream_t stream);
void muon_direction(const MuonStep& args, float* direction, cudaStream_t stream);
/// As many floats as `reference` takes.
[[nodiscard]] std::int64_t orthogonalise_scratch(std::int64_t rows, std::int64_t columns);
void orthogonalise(float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, float* scratch,
                   cudaStream_t stream);
void muon_apply(const MuonStep& args, const float* orthogonal, std::int64_t matrix_rows, std::int64_t matrix_columns,
                cudaStream_t stream);

}  // namespace plumbline::cuda
