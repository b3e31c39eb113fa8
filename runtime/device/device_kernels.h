#pragma once
/// \file device_kernels.h: the kernels of one kind of device, by name.
///
/// Answers: what to call for an operator. Model: one function for each kernel of kernels/*.h, with the arguments that
/// are declared there; whoever runs a program knows no other way to a tensor's elements. A kernel is work of the lane
/// whose work calls it, and of the compute lane where none does. Views lie in the device's memory. `workspace` answers
/// the scratch that a call needs, in bytes, and reads no element. Nothing is returned: sums stay in the
/// device's memory.
/// Source: kernels/*.h. Not modelled: kernels that fuse several operators.
/// Checked against: tests/runtime/device/device_kernels_threads_test.cpp (complete; what a device replaces is what a
/// step runs), tests/architecture/test_kernels_by_table.py (nobody else calls kernels).

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
#include "kernels/step_decision.h"
#include "kernels/unfused_attention.h"

namespace plumbline {

template <class Arguments>
using Kernel = void (*)(const Arguments&);

/// A kernel that needs scratch memory: `Arguments` has a member `workspace`.
template <class Arguments>
struct ScratchKernel {
  Bytes (*workspace)(const Arguments&) = nullptr;
  Kernel<Arguments> run = nullptr;
};

/// Kernels that take several tensors at once, as a device needs fewer launches for them.
struct CombinedKernels {
  ScratchKernel<HealthSums> add_health;
  void (*adamw_steps)(std::span<const AdamwStep>) = nullptr;
};

struct DeviceKernels {
  // Elements, one by one, and over a whole tensor.
  Kernel<Add> add = nullptr;
  Kernel<Cast> cast = nullptr;
  Kernel<TransposeCopy> transpose = nullptr;
  Kernel<Fill> fill = nullptr;
  Kernel<Fp8Scale> fp8_scale = nullptr;
  ScratchKernel<HealthSum> add_health;

  // Matrix products.
  ScratchKernel<Matmul> matmul;
  ScratchKernel<LinearForward> linear_forward;
  ScratchKernel<LinearWeightGradient> linear_weight_gradient;
  ScratchKernel<GroupedLinearForward> grouped_linear_forward;
  ScratchKernel<GroupedLinearInputGradient> grouped_linear_input_gradient;
  ScratchKernel<GroupedLinearWeightGradient> grouped_linear_weight_gradient;

  // Attention.
  ScratchKernel<AttentionForward> attention_forward;
  ScratchKernel<AttentionBackward> attention_backward;
  Kernel<AttentionMerge> attention_merge = nullptr;
  /// Which kernel takes the call, as kernel tables name it (core/measurement/kernel_table.h).
  const char* (*attention_kernel)(const AttentionForward&) = nullptr;
  ScratchKernel<UnfusedAttentionForward> unfused_attention_forward;
  ScratchKernel<UnfusedAttentionBackward> unfused_attention_backward;

  // Single tokens.
  Kernel<EmbeddingForward> embedding_forward = nullptr;
  Kernel<EmbeddingBackward> embedding_backward = nullptr;
  Kernel<PositionEmbeddingForward> position_embedding_forward = nullptr;
  Kernel<PositionEmbeddingBackward> position_embedding_backward = nullptr;
  Kernel<LayerNormForward> layer_norm_forward = nullptr;
  ScratchKernel<LayerNormBackward> layer_norm_backward;
  Kernel<RmsNormForward> rms_norm_forward = nullptr;
  ScratchKernel<RmsNormBackward> rms_norm_backward;
  Kernel<ReluForward> relu_forward = nullptr;
  Kernel<ReluBackward> relu_backward = nullptr;
  Kernel<GeluForward> gelu_forward = nullptr;
  Kernel<GeluBackward> gelu_backward = nullptr;
  Kernel<SwigluForward> swiglu_forward = nullptr;
  Kernel<SwigluBackward> swiglu_backward = nullptr;
  Kernel<Rotary> rotary = nullptr;
  Kernel<ElementDropout> dropout_forward = nullptr;
  Kernel<ElementDropout> dropout_backward = nullptr;
  Kernel<CrossEntropy> cross_entropy_local_maximum = nullptr;
  Kernel<CrossEntropy> cross_entropy_local_sum = nullptr;
  void (*cross_entropy_add)(const CrossEntropy&, CrossEntropyLoss* sum) = nullptr;

  // Experts.
  Kernel<RouterForward> router_forward = nullptr;
  Kernel<RouterBackward> router_backward = nullptr;
  Kernel<RouterChoice> router_choice = nullptr;
  Kernel<RouterWeighing> router_weighing = nullptr;
  Kernel<ExpertsInTurn> experts_in_turn = nullptr;
  Kernel<ExpertPermutation> expert_permutation = nullptr;
  Kernel<ArrivalCounts> arrival_counts = nullptr;
  Kernel<ArrivalOrder> arrival_order = nullptr;
  Kernel<ChosenValues> chosen_values = nullptr;
  Kernel<ChosenValues> spread_chosen = nullptr;
  Kernel<GatherRows> gather_rows = nullptr;
  Kernel<CombineForward> combine_forward = nullptr;
  Kernel<CombineBackward> combine_backward = nullptr;

  // Optimizers.
  Kernel<DecideStep> decide_step = nullptr;
  Kernel<SgdStep> sgd_step = nullptr;
  Kernel<AdagradStep> adagrad_step = nullptr;
  Kernel<RmspropStep> rmsprop_step = nullptr;
  Kernel<LionStep> lion_step = nullptr;
  Kernel<AdamwStep> adamw_step = nullptr;
  ScratchKernel<MuonStep> muon_step;
  void (*muon_direction)(const MuonStep&, float* direction) = nullptr;
  std::int64_t (*orthogonalise_scratch)(std::int64_t rows, std::int64_t columns) = nullptr;
  void (*orthogonalise)(float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations,
                        float* scratch) = nullptr;
  void (*muon_apply)(const MuonStep&, const float* orthogonal, std::int64_t matrix_rows,
                     std::int64_t matrix_columns) = nullptr;

  /// Nothing: tensors are taken one by one.
  const CombinedKernels* combined = nullptr;
};

}  // namespace plumbline
