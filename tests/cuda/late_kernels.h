#pragma once
/// \file late_kernels.h: the CPU's kernels as work of CUDA streams that the CPU carries out: late, in any order that
/// events leave open, on memory that the host may not touch.
///
/// What a device does around its kernels is tested with them. Of kernels/cuda nothing is used.

#include "runtime/cuda/current_lane.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {
namespace late {

template <auto Member, class... Arguments>
void put(DeviceKernels& table, void (*DeviceKernels::*)(Arguments...)) {
  table.*Member = [](Arguments... arguments) {
    (void)cuda_on_cpu::enqueue_work(current_stream(), [=] { (cpu_kernels().*Member)(arguments...); });
  };
}

template <auto Member, class Arguments>
void put(DeviceKernels& table, ScratchKernel<Arguments> DeviceKernels::*) {
  (table.*Member).run = [](const Arguments& arguments) {
    (void)cuda_on_cpu::enqueue_work(current_stream(), [=] { (cpu_kernels().*Member).run(arguments); });
  };
}

template <auto... Members>
void put_all(DeviceKernels& table) {
  (put<Members>(table, Members), ...);
}

}  // namespace late

[[nodiscard]] inline const DeviceKernels& late_kernels() {
  using K = DeviceKernels;
  static const DeviceKernels table = [] {
    DeviceKernels made = cpu_kernels();
    late::put_all<&K::add, &K::cast, &K::transpose, &K::fill, &K::fp8_scale, &K::add_health>(made);
    late::put_all<&K::matmul, &K::linear_forward, &K::linear_weight_gradient, &K::grouped_linear_forward,
                  &K::grouped_linear_input_gradient, &K::grouped_linear_weight_gradient>(made);
    late::put_all<&K::attention_forward, &K::attention_backward, &K::attention_merge, &K::unfused_attention_forward,
                  &K::unfused_attention_backward>(made);
    late::put_all<&K::embedding_forward, &K::embedding_backward, &K::position_embedding_forward,
                  &K::position_embedding_backward>(made);
    late::put_all<&K::layer_norm_forward, &K::layer_norm_backward, &K::rms_norm_forward, &K::rms_norm_backward>(made);
    late::put_all<&K::relu_forward, &K::relu_backward, &K::gelu_forward, &K::gelu_backward, &K::swiglu_forward,
                  &K::swiglu_backward>(made);
    late::put_all<&K::rotary, &K::dropout_forward, &K::dropout_backward>(made);
    late::put_all<&K::cross_entropy_local_maximum, &K::cross_entropy_local_sum, &K::cross_entropy_add>(made);
    late::put_all<&K::router_forward, &K::router_backward, &K::router_choice, &K::router_weighing, &K::experts_in_turn,
                  &K::expert_permutation, &K::arrival_counts, &K::arrival_order, &K::chosen_values, &K::spread_chosen,
                  &K::gather_rows, &K::combine_forward, &K::combine_backward>(made);
    late::put_all<&K::decide_step, &K::sgd_step, &K::adagrad_step, &K::rmsprop_step, &K::lion_step, &K::adamw_step,
                  &K::muon_step, &K::muon_direction, &K::orthogonalise, &K::muon_apply>(made);
    return made;
  }();
  return table;
}

}  // namespace plumbline
