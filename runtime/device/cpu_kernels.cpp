#include "runtime/device/cpu_kernels.h"

namespace plumbline {
namespace reference {
namespace {

constexpr DeviceKernels table{
    .add = add,
    .cast = cast,
    .transpose = transpose,
    .fill = fill,
    .fp8_scale = fp8_scale,
    .add_health = {health_workspace, add_health},
    .matmul = {matmul_workspace, matmul},
    .linear_forward = {linear_workspace, linear_forward},
    .linear_weight_gradient = {linear_workspace, linear_weight_gradient},
    .grouped_linear_forward = {grouped_linear_workspace, grouped_linear_forward},
    .grouped_linear_input_gradient = {grouped_linear_workspace, grouped_linear_input_gradient},
    .grouped_linear_weight_gradient = {grouped_linear_workspace, grouped_linear_weight_gradient},
    .attention_forward = {attention_workspace, attention_forward},
    .attention_backward = {attention_workspace, attention_backward},
    .attention_merge = attention_merge,
    .attention_kernel = attention_kernel,
    .unfused_attention_forward = {unfused_attention_workspace, unfused_attention_forward},
    .unfused_attention_backward = {unfused_attention_workspace, unfused_attention_backward},
    .embedding_forward = embedding_forward,
    .embedding_backward = embedding_backward,
    .position_embedding_forward = position_embedding_forward,
    .position_embedding_backward = position_embedding_backward,
    .layer_norm_forward = layer_norm_forward,
    .layer_norm_backward = {layer_norm_workspace, layer_norm_backward},
    .rms_norm_forward = rms_norm_forward,
    .rms_norm_backward = {rms_norm_workspace, rms_norm_backward},
    .relu_forward = relu_forward,
    .relu_backward = relu_backward,
    .gelu_forward = gelu_forward,
    .gelu_backward = gelu_backward,
    .swiglu_forward = swiglu_forward,
    .swiglu_backward = swiglu_backward,
    .rotary = rotary,
    .dropout_forward = dropout_forward,
    .dropout_backward = dropout_backward,
    .cross_entropy_local_maximum = cross_entropy_local_maximum,
    .cross_entropy_local_sum = cross_entropy_local_sum,
    .cross_entropy_add = cross_entropy_add,
    .router_forward = router_forward,
    .router_backward = router_backward,
    .router_choice = router_choice,
    .router_weighing = router_weighing,
    .experts_in_turn = experts_in_turn,
    .expert_permutation = expert_permutation,
    .arrival_counts = arrival_counts,
    .arrival_order = arrival_order,
    .chosen_values = chosen_values,
    .spread_chosen = spread_chosen,
    .gather_rows = gather_rows,
    .combine_forward = combine_forward,
    .combine_backward = combine_backward,
    .decide_step = decide_step,
    .sgd_step = sgd_step,
    .adagrad_step = adagrad_step,
    .rmsprop_step = rmsprop_step,
    .lion_step = lion_step,
    .adamw_step = adamw_step,
    .muon_step = {muon_workspace, muon_step},
    .muon_direction = muon_direction,
    .orthogonalise_scratch = orthogonalise_scratch,
    .orthogonalise = orthogonalise,
    .muon_apply = muon_apply,
};

}  // namespace
}  // namespace reference

const DeviceKernels& cpu_kernels() { return reference::table; }

}  // namespace plumbline
