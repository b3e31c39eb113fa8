#pragma once
/// \file kernel_list.h: the kernels that devices have: one row each.
///
/// Answers: what a device's table has, in its order. The members of the table, the entries of the CPU, of CUDA and of
/// the device that computes nothing, and the declarations for CUDA are expansions of these rows. A row is
/// KERNEL(name, parameters...), or, where the device is asked for scratch memory first, in the member `workspace` of
/// the arguments, SCRATCH_KERNEL(name, workspace function, arguments). Model: a ladder. The first step is
/// `reference::name` in kernels/reference, declared beside its arguments, which all others are tested against; the
/// second `cuda::name` in kernels/cuda, for any format, size and alignment, with faster forms of our own behind it; a
/// LIBRARY_KERNEL has a third, `library::name` in runtime/cuda, which cuBLASLt or cuDNN computes where it can. Each
/// step has a workspace function of the same name. Not listed: functions that answer something and compute nothing
/// (runtime/device/device_kernels.h), and what no program calls by itself.
/// Checked against: tests/runtime/device/device_kernels_threads_test.cpp, tests/kernels/cuda/kernel_tables_test.cpp.

#include "kernels/adafactor.h"
#include "kernels/adagrad.h"
#include "kernels/adamw.h"
#include "kernels/adamw_8bit.h"
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
#include "kernels/step_decision.h"
#include "kernels/unfused_attention.h"

#define PLUMBLINE_KERNELS(KERNEL, SCRATCH_KERNEL, LIBRARY_KERNEL)                                        \
  /* Elements, one by one, and over a whole tensor. */                                                   \
  KERNEL(add, const Add& args)                                                                           \
  KERNEL(cast, const Cast& args)                                                                         \
  KERNEL(transpose, const TransposeCopy& args)                                                           \
  KERNEL(fill, const Fill& args)                                                                         \
  KERNEL(fp8_scale, const Fp8Scale& args)                                                                \
  SCRATCH_KERNEL(add_health, health_workspace, HealthSum)                                                \
                                                                                                         \
  /* Matrix products. */                                                                                 \
  LIBRARY_KERNEL(matmul, matmul_workspace, Matmul)                                                       \
  LIBRARY_KERNEL(linear_forward, linear_workspace, LinearForward)                                        \
  LIBRARY_KERNEL(linear_weight_gradient, linear_workspace, LinearWeightGradient)                         \
  SCRATCH_KERNEL(grouped_linear_forward, grouped_linear_workspace, GroupedLinearForward)                 \
  SCRATCH_KERNEL(grouped_linear_input_gradient, grouped_linear_workspace, GroupedLinearInputGradient)    \
  SCRATCH_KERNEL(grouped_linear_weight_gradient, grouped_linear_workspace, GroupedLinearWeightGradient)  \
                                                                                                         \
  /* Attention. */                                                                                       \
  LIBRARY_KERNEL(attention_forward, attention_workspace, AttentionForward)                               \
  LIBRARY_KERNEL(attention_backward, attention_workspace, AttentionBackward)                             \
  KERNEL(attention_merge, const AttentionMerge& args)                                                    \
  SCRATCH_KERNEL(unfused_attention_forward, unfused_attention_workspace, UnfusedAttentionForward)        \
  SCRATCH_KERNEL(unfused_attention_backward, unfused_attention_workspace, UnfusedAttentionBackward)      \
                                                                                                         \
  /* Single tokens. */                                                                                   \
  KERNEL(embedding_forward, const EmbeddingForward& args)                                                \
  KERNEL(embedding_backward, const EmbeddingBackward& args)                                              \
  KERNEL(position_embedding_forward, const PositionEmbeddingForward& args)                               \
  KERNEL(position_embedding_backward, const PositionEmbeddingBackward& args)                             \
  KERNEL(layer_norm_forward, const LayerNormForward& args)                                               \
  SCRATCH_KERNEL(layer_norm_backward, layer_norm_workspace, LayerNormBackward)                           \
  KERNEL(rms_norm_forward, const RmsNormForward& args)                                                   \
  SCRATCH_KERNEL(rms_norm_backward, rms_norm_workspace, RmsNormBackward)                                 \
  KERNEL(relu_forward, const ReluForward& args)                                                          \
  KERNEL(relu_backward, const ReluBackward& args)                                                        \
  KERNEL(gelu_forward, const GeluForward& args)                                                          \
  KERNEL(gelu_backward, const GeluBackward& args)                                                        \
  KERNEL(swiglu_forward, const SwigluForward& args)                                                      \
  KERNEL(swiglu_backward, const SwigluBackward& args)                                                    \
  KERNEL(rotary, const Rotary& args)                                                                     \
  KERNEL(dropout_forward, const ElementDropout& args)                                                    \
  KERNEL(dropout_backward, const ElementDropout& args)                                                   \
  KERNEL(cross_entropy_local_maximum, const CrossEntropy& args)                                          \
  KERNEL(cross_entropy_local_sum, const CrossEntropy& args)                                              \
  KERNEL(cross_entropy_add, const CrossEntropy& args, CrossEntropyLoss* sum)                             \
                                                                                                         \
  /* Experts. */                                                                                         \
  KERNEL(router_forward, const RouterForward& args)                                                      \
  KERNEL(router_backward, const RouterBackward& args)                                                    \
  KERNEL(router_choice, const RouterChoice& args)                                                        \
  KERNEL(router_weighing, const RouterWeighing& args)                                                    \
  KERNEL(experts_in_turn, const ExpertsInTurn& args)                                                     \
  KERNEL(expert_permutation, const ExpertPermutation& args)                                              \
  KERNEL(arrival_counts, const ArrivalCounts& args)                                                      \
  KERNEL(arrival_order, const ArrivalOrder& args)                                                        \
  KERNEL(chosen_values, const ChosenValues& args)                                                        \
  KERNEL(spread_chosen, const ChosenValues& args)                                                        \
  KERNEL(gather_rows, const GatherRows& args)                                                            \
  KERNEL(combine_forward, const CombineForward& args)                                                    \
  KERNEL(combine_backward, const CombineBackward& args)                                                  \
                                                                                                         \
  /* Optimizers. */                                                                                      \
  KERNEL(decide_step, const DecideStep& args)                                                            \
  KERNEL(sgd_step, const SgdStep& args)                                                                  \
  KERNEL(adagrad_step, const AdagradStep& args)                                                          \
  KERNEL(rmsprop_step, const RmspropStep& args)                                                          \
  KERNEL(lion_step, const LionStep& args)                                                                \
  KERNEL(adamw_step, const AdamwStep& args)                                                              \
  KERNEL(adamw_8bit_step, const Adamw8bitStep& args)                                                     \
  SCRATCH_KERNEL(muon_step, muon_workspace, MuonStep)                                                    \
  KERNEL(muon_direction, const MuonStep& args, float* direction)                                         \
  KERNEL(orthogonalise, float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, \
         float* scratch)                                                                                 \
  KERNEL(muon_apply, const MuonStep& args, const float* orthogonal, std::int64_t matrix_rows,            \
         std::int64_t matrix_columns)                                                                    \
  SCRATCH_KERNEL(adafactor_squares, adafactor_workspace, AdafactorStep)                                  \
  KERNEL(adafactor_means, const AdafactorStep& args)                                                     \
  SCRATCH_KERNEL(adafactor_updates, adafactor_workspace, AdafactorStep)                                  \
  KERNEL(adafactor_step, const AdafactorStep& args)

/// Kernels that take several tensors at once, which CUDA alone has: a row each. `adamw_steps` updates tensors of
/// other formats, and tensors that are not aligned to 16 bytes, one by one.
#define PLUMBLINE_COMBINED_KERNELS(KERNEL, SCRATCH_KERNEL)           \
  SCRATCH_KERNEL(add_health_sums, health_sums_workspace, HealthSums) \
  KERNEL(adamw_steps, std::span<const AdamwStep> steps)
