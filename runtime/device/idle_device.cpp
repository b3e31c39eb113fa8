#include "runtime/device/idle_device.h"

#include <sys/mman.h>

#include <new>

namespace plumbline {
namespace {

template <class... Arguments>
void idle(void (*&kernel)(Arguments...)) {
  kernel = [](Arguments...) {};
}
template <class Arguments>
void idle(ScratchKernel<Arguments>& kernel) {
  idle(kernel.run);
}
template <class... Entries>
void all_idle(Entries&... entries) {
  (idle(entries), ...);
}

}  // namespace

IdleDevice::IdleDevice(const DeviceKernels& table) : kernels_(table) {
  DeviceKernels& k = kernels_;
  all_idle(k.add, k.cast, k.transpose, k.fill, k.fp8_scale, k.add_health);
  all_idle(k.matmul, k.linear_forward, k.linear_weight_gradient, k.grouped_linear_forward,
           k.grouped_linear_input_gradient, k.grouped_linear_weight_gradient);
  all_idle(k.attention_forward, k.attention_backward, k.attention_merge, k.unfused_attention_forward,
           k.unfused_attention_backward);
  all_idle(k.embedding_forward, k.embedding_backward, k.position_embedding_forward, k.position_embedding_backward);
  all_idle(k.layer_norm_forward, k.layer_norm_backward, k.rms_norm_forward, k.rms_norm_backward);
  all_idle(k.relu_forward, k.relu_backward, k.gelu_forward, k.gelu_backward, k.swiglu_forward, k.swiglu_backward);
  all_idle(k.rotary, k.dropout_forward, k.dropout_backward);
  all_idle(k.cross_entropy_local_maximum, k.cross_entropy_local_sum, k.cross_entropy_add);
  all_idle(k.router_forward, k.router_backward, k.router_choice, k.router_weighing, k.experts_in_turn,
           k.expert_permutation, k.arrival_counts, k.arrival_order, k.chosen_values, k.spread_chosen, k.gather_rows,
           k.combine_forward, k.combine_backward);
  all_idle(k.decide_step, k.sgd_step, k.adagrad_step, k.rmsprop_step, k.lion_step, k.adamw_step);
  all_idle(k.muon_step, k.muon_direction, k.orthogonalise, k.muon_apply);
  if (k.combined == nullptr) return;
  combined_ = *k.combined;
  all_idle(combined_.add_health, combined_.adamw_steps);
  k.combined = &combined_;
}

/// Pages of the system that nobody touches cost nothing; memory of the heap might be touched to be zero.
DeviceMemory IdleDevice::reserve(Bytes bytes) {
  if (memory_ != nullptr && bytes <= size_) return memory_;
  const std::size_t size = static_cast<std::size_t>(bytes.value()) + 1;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = DeviceMemory(static_cast<std::byte*>(memory), [size](std::byte* held) { (void)::munmap(held, size); });
  size_ = bytes;
  return memory_;
}

}  // namespace plumbline
