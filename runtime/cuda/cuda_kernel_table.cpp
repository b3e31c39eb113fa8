#include "runtime/cuda/cuda_kernel_table.h"

#include "kernels/cuda/cuda_kernels.h"
#include "runtime/cuda/attention_kernels.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/product_kernels.h"

namespace plumbline {
namespace cuda {
namespace {

constexpr auto no_scratch = [](const auto&) { return Bytes(0); };

constexpr CombinedKernels combined{
    .add_health = {health_sums_workspace, [](const auto& a) { add_health_sums(a, current_stream()); }},
    .adamw_steps = [](std::span<const AdamwStep> steps) { adamw_steps(steps, current_stream()); },
};

constexpr DeviceKernels table{
    .add = [](const auto& a) { add(a, current_stream()); },
    .cast = [](const auto& a) { cast(a, current_stream()); },
    .transpose = [](const auto& a) { transpose(a, current_stream()); },
    .fill = [](const auto& a) { fill(a, current_stream()); },
    .fp8_scale = [](const auto& a) { fp8_scale(a, current_stream()); },
    .add_health = {health_workspace, [](const auto& a) { add_health(a, current_stream()); }},
    .matmul = {matmul_scratch, run_matmul},
    .linear_forward = {linear_forward_scratch, run_linear_forward},
    .linear_weight_gradient = {linear_weight_gradient_scratch, run_linear_weight_gradient},
    .grouped_linear_forward = {no_scratch, [](const auto& a) { grouped_linear_forward(a, current_stream()); }},
    .grouped_linear_input_gradient = {no_scratch,
                                      [](const auto& a) { grouped_linear_input_gradient(a, current_stream()); }},
    .grouped_linear_weight_gradient = {no_scratch,
                                       [](const auto& a) { grouped_linear_weight_gradient(a, current_stream()); }},
    .attention_forward = {attention_forward_scratch, run_attention_forward},
    .attention_backward = {attention_backward_scratch, run_attention_backward},
    .attention_merge = [](const auto& a) { attention_merge(a, current_stream()); },
    .attention_kernel = attention_kernel_name,
    .unfused_attention_forward = {no_scratch, [](const auto& a) { unfused_attention_forward(a, current_stream()); }},
    .unfused_attention_backward = {unfused_attention_workspace,
                                   [](const auto& a) { unfused_attention_backward(a, current_stream()); }},
    .embedding_forward = [](const auto& a) { embedding_forward(a, current_stream()); },
    .embedding_backward = [](const auto& a) { embedding_backward(a, current_stream()); },
    .position_embedding_forward = [](const auto& a) { position_embedding_forward(a, current_stream()); },
    .position_embedding_backward = [](const auto& a) { position_embedding_backward(a, current_stream()); },
    .layer_norm_forward = [](const auto& a) { layer_norm_forward(a, current_stream()); },
    .layer_norm_backward = {layer_norm_workspace, [](const auto& a) { layer_norm_backward(a, current_stream()); }},
    .rms_norm_forward = [](const auto& a) { rms_norm_forward(a, current_stream()); },
    .rms_norm_backward = {rms_norm_workspace, [](const auto& a) { rms_norm_backward(a, current_stream()); }},
    .relu_forward = [](const auto& a) { relu_forward(a, current_stream()); },
    .relu_backward = [](const auto& a) { relu_backward(a, current_stream()); },
    .gelu_forward = [](const auto& a) { gelu_forward(a, current_stream()); },
    .gelu_backward = [](const auto& a) { gelu_backward(a, current_stream()); },
    .swiglu_forward = [](const auto& a) { swiglu_forward(a, current_stream()); },
    .swiglu_backward = [](const auto& a) { swiglu_backward(a, current_stream()); },
    .rotary = [](const auto& a) { rotary(a, current_stream()); },
    .dropout_forward = [](const auto& a) { dropout_forward(a, current_stream()); },
    .dropout_backward = [](const auto& a) { dropout_backward(a, current_stream()); },
    .cross_entropy_local_maximum = [](const auto& a) { cross_entropy_local_maximum(a, current_stream()); },
    .cross_entropy_local_sum = [](const auto& a) { cross_entropy_local_sum(a, current_stream()); },
    .cross_entropy_add = [](const CrossEntropy& a,
                            CrossEntropyLoss* sum) { cross_entropy_add(a, sum, current_stream()); },
    .router_forward = [](const auto& a) { router_forward(a, current_stream()); },
    .router_backward = [](const auto& a) { router_backward(a, current_stream()); },
    .router_choice = [](const auto& a) { router_choice(a, current_stream()); },
    .router_weighing = [](const auto& a) { router_weighing(a, current_stream()); },
    .experts_in_turn = [](const auto& a) { experts_in_turn(a, current_stream()); },
    .expert_permutation = [](const auto& a) { expert_permutation(a, current_stream()); },
    .arrival_counts = [](const auto& a) { arrival_counts(a, current_stream()); },
    .arrival_order = [](const auto& a) { arrival_order(a, current_stream()); },
    .chosen_values = [](const auto& a) { chosen_values(a, current_stream()); },
    .spread_chosen = [](const auto& a) { spread_chosen(a, current_stream()); },
    .gather_rows = [](const auto& a) { gather_rows(a, current_stream()); },
    .combine_forward = [](const auto& a) { combine_forward(a, current_stream()); },
    .combine_backward = [](const auto& a) { combine_backward(a, current_stream()); },
    .decide_step = [](const auto& a) { decide_step(a, current_stream()); },
    .sgd_step = [](const auto& a) { sgd_step(a, current_stream()); },
    .adagrad_step = [](const auto& a) { adagrad_step(a, current_stream()); },
    .rmsprop_step = [](const auto& a) { rmsprop_step(a, current_stream()); },
    .lion_step = [](const auto& a) { lion_step(a, current_stream()); },
    .adamw_step = [](const auto& a) { adamw_step(a, current_stream()); },
    .muon_step = {muon_workspace, [](const auto& a) { muon_step(a, current_stream()); }},
    .muon_direction = [](const MuonStep& a, float* direction) { muon_direction(a, direction, current_stream()); },
    .orthogonalise_scratch = orthogonalise_scratch,
    .orthogonalise =
        [](float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, float* scratch) {
          orthogonalise(matrix, rows, columns, iterations, scratch, current_stream());
        },
    .muon_apply = [](const MuonStep& a, const float* orthogonal, std::int64_t rows,
                     std::int64_t columns) { muon_apply(a, orthogonal, rows, columns, current_stream()); },
    .combined = &combined,
};

}  // namespace
}  // namespace cuda

const DeviceKernels& cuda_kernel_table() { return cuda::table; }

}  // namespace plumbline
