#pragma once
/// \file calibration_fields.h: the coefficients of a calibration as one table: name, member, and the range that physics
/// leaves it. Readers, writers and sensitivities walk it. Choices of a stack have a table of their own
/// (stack_feature_table.h).
///
/// Ranges are limits of what makes sense, not measurements, and no answer depends on them. A fraction or a share of a
/// peak lies in (0, 1]; the exponent of wave quantisation too, as no device does more work in less time; an exposure, a
/// copy or a factor is at least 0 (above 0 where it divides); a time is at most a second for one launch and an hour or
/// two for a step's overhead; bytes are at most what no computer holds; the rate of one kind of product lies between a
/// hundredth of another's and twice it. All other upper limits are powers of ten, far above any correct value and far
/// below one read in the wrong unit, such as microseconds taken for seconds.

#include <array>
#include <string_view>

#include "core/base/errors.h"
#include "core/cost/calibration.h"

namespace plumbline {

/// Key in the file, the coefficient of an owner that it fills, and the range that physics leaves it.
template <class Owner>
struct CoefficientField {
  std::string_view key;
  Coefficient& (*in)(Owner&);
  const Coefficient& (*in_const)(const Owner&);
  double smallest;
  double largest;

  [[nodiscard]] Coefficient& of(Owner& owner) const { return in(owner); }
  [[nodiscard]] const Coefficient& of(const Owner& owner) const { return in_const(owner); }
};

/// Members: the way from the owner to the coefficient.
template <class Owner, auto... Members>
constexpr CoefficientField<Owner> coefficient_field(std::string_view key, double smallest, double largest) {
  return {key, [](Owner& owner) -> Coefficient& { return (owner.*....*Members); },
          [](const Owner& owner) -> const Coefficient& { return (owner.*....*Members); }, smallest, largest};
}
template <auto Group, auto Member>
constexpr CoefficientField<StackCalibration> stack_field(std::string_view key, double smallest, double largest) {
  return coefficient_field<StackCalibration, Group, Member>(key, smallest, largest);
}

/// Of a relative error, as a logarithm: beyond it nothing was predicted.
inline constexpr double largest_sigma = 2;

inline constexpr std::array product_fields{
    coefficient_field<ProductEfficiency, &ProductEfficiency::peak_fraction>("peak_fraction", 0.001, 1),
    coefficient_field<ProductEfficiency, &ProductEfficiency::half_depth>("half_depth", 0, 1e6),
};

inline constexpr std::array operator_fields{
    coefficient_field<OperatorTraffic, &OperatorTraffic::forward>("forward", 0, 1e4),
    coefficient_field<OperatorTraffic, &OperatorTraffic::backward>("backward", 0, 1e4),
};

inline constexpr std::array device_fields{
    coefficient_field<DeviceCalibration, &DeviceCalibration::wave_exponent>("wave_exponent", 0, 1),
    coefficient_field<DeviceCalibration, &DeviceCalibration::batched_product_factor>("batched_product_factor", 0.01, 2),
    coefficient_field<DeviceCalibration, &DeviceCalibration::grouped_product_factor>("grouped_product_factor", 0.01, 2),
    coefficient_field<DeviceCalibration, &DeviceCalibration::flash_forward_fraction>("flash_forward_fraction", 0.001,
                                                                                     1),
    coefficient_field<DeviceCalibration, &DeviceCalibration::flash_backward_factor>("flash_backward_factor", 0.01, 2),
    coefficient_field<DeviceCalibration, &DeviceCalibration::flash_half_sequence>("flash_half_sequence", 0, 1e6),
    coefficient_field<DeviceCalibration, &DeviceCalibration::bandwidth_fraction>("bandwidth_fraction", 0.01, 1),
    coefficient_field<DeviceCalibration, &DeviceCalibration::kernel_gap_s>("kernel_gap_s", 0, 1),
};

inline constexpr std::array stack_fields{
    stack_field<&StackCalibration::compute, &ComputeEfficiency::step_factor>("step_factor", 0.1, 10),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::memory_bound_factor>("memory_bound_factor", 0.01, 100),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::ring_bytes_forward>("ring_bytes_forward", 0,
                                                                                                1000),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::ring_bytes_backward>("ring_bytes_backward",
                                                                                                 0, 1000),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::loss_factor>("loss_factor", 0.01, 100),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::flash_factor>("flash_factor", 0.01, 10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::tensor_parallel_exposure>(
        "tensor_parallel_exposure", 0, 10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::tensor_parallel_backward_factor>(
        "tensor_parallel_backward_factor", 0, 10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::pipeline_exposure>("pipeline_exposure", 0,
                                                                                               10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::data_parallel_exposure>(
        "data_parallel_exposure", 0, 10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::context_parallel_exposure>(
        "context_parallel_exposure", 0, 10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::expert_parallel_exposure>(
        "expert_parallel_exposure", 0, 10),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::overlap_slowdown>("overlap_slowdown", 0, 1),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::bucket_bytes>("bucket_bytes", 1, 1e13),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::collective_gap_s>("collective_gap_s", 0, 1),
    stack_field<&StackCalibration::host, &HostEfficiency::host_time_per_kernel_s>("host_time_per_kernel_s", 0, 1),
    stack_field<&StackCalibration::host, &HostEfficiency::host_time_per_collective_s>("host_time_per_collective_s", 0,
                                                                                      1),
    stack_field<&StackCalibration::host, &HostEfficiency::kernels_per_operator>("kernels_per_operator", 0, 100),
    stack_field<&StackCalibration::experts, &ExpertEfficiency::kernels_per_expert>("kernels_per_expert", 0, 10),
    stack_field<&StackCalibration::experts, &ExpertEfficiency::kernels_per_routing>("kernels_per_routing", 0, 100),
    stack_field<&StackCalibration::experts, &ExpertEfficiency::expert_synchronisation>("expert_synchronisation", 0, 1),
    stack_field<&StackCalibration::experts, &ExpertEfficiency::routing_factor>("routing_factor", 0.01, 100),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::gather_copy_bytes>("gather_copy_bytes", 0, 100),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::scatter_copy_bytes>("scatter_copy_bytes", 0, 100),
    stack_field<&StackCalibration::communication, &CommunicationEfficiency::network_card_share>("network_card_share",
                                                                                                0.01, 1),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::gathered_from_elements>("gathered_from_elements", 0,
                                                                                          1e12),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::regathered_from_elements>("regathered_from_elements",
                                                                                            0, 1e12),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::host_time_per_piece_s>("host_time_per_piece_s", 0, 1),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::host_time_per_tensor_s>("host_time_per_tensor_s", 0,
                                                                                          1),
    stack_field<&StackCalibration::host, &HostEfficiency::step_overhead_s>("step_overhead_s", 0, 1e4),
    stack_field<&StackCalibration::host, &HostEfficiency::rank_delay_s>("rank_delay_s", 0, 1e4),
    stack_field<&StackCalibration::optimizer, &OptimizerEfficiency::accumulation_bytes>("accumulation_bytes", 0, 100),
    stack_field<&StackCalibration::optimizer, &OptimizerEfficiency::optimizer_traffic_factor>(
        "optimizer_traffic_factor", 0, 100),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::score_bytes_forward>("score_bytes_forward", 0, 1000),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::score_bytes_backward>("score_bytes_backward", 0, 1000),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::quantisation_factor>("quantisation_factor", 0, 10),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::row_scaled_rate>("row_scaled_rate", 0.01, 2),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::block_scaled_rate>("block_scaled_rate", 0.01, 2),
    stack_field<&StackCalibration::compute, &ComputeEfficiency::microscaled_rate>("microscaled_rate", 0.01, 2),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::logit_bytes>("logit_bytes", 0, 100),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::copied_gradient_bytes>("copied_gradient_bytes", 0, 8),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::updated_gradient_bytes>("updated_gradient_bytes", 0, 8),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::gathered_parameters>("gathered_parameters", 0, 1e15),
    stack_field<&StackCalibration::sharding, &ShardingEfficiency::gathered_gradients>("gathered_gradients", 0, 1e15),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::context_bytes>("context_bytes", 0, 1e12),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::communicator_bytes>("communicator_bytes", 0, 1e12),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::workspace_bytes>("workspace_bytes", 0, 1e12),
    stack_field<&StackCalibration::memory, &MemoryEfficiency::fragmentation_fraction>("fragmentation_fraction", 0, 1),
    stack_field<&StackCalibration::experts, &ExpertEfficiency::expert_imbalance>("expert_imbalance", 1, 1000),
    stack_field<&StackCalibration::host, &HostEfficiency::host_bytes_per_rank>("host_bytes_per_rank", 0, 1e13),
    stack_field<&StackCalibration::uncertainty, &UncertaintySlopes::shared_time_sigma>("shared_time_sigma", 0,
                                                                                       largest_sigma),
    stack_field<&StackCalibration::uncertainty, &UncertaintySlopes::sigma_per_doubling>("sigma_per_doubling", 0,
                                                                                        largest_sigma),
    stack_field<&StackCalibration::uncertainty, &UncertaintySlopes::sigma_per_novelty>("sigma_per_novelty", 0,
                                                                                       largest_sigma),
    stack_field<&StackCalibration::uncertainty, &UncertaintySlopes::host_sigma>("host_sigma", 0, largest_sigma),
    stack_field<&StackCalibration::uncertainty, &UncertaintySlopes::unstated_network_sigma>("unstated_network_sigma", 0,
                                                                                            largest_sigma),
    stack_field<&StackCalibration::uncertainty, &UncertaintySlopes::unmeasured_host_sigma>("unmeasured_host_sigma", 0,
                                                                                           largest_sigma),
};

/// The field with a key, or null.
template <class Owner, std::size_t N>
[[nodiscard]] constexpr const CoefficientField<Owner>* find_field(const std::array<CoefficientField<Owner>, N>& fields,
                                                                  std::string_view key) {
  for (const CoefficientField<Owner>& field : fields)
    if (field.key == key) return &field;
  return nullptr;
}
/// The field that fills a coefficient of an owner; every coefficient has one.
template <class Owner, std::size_t N>
[[nodiscard]] constexpr const CoefficientField<Owner>& field_of(const std::array<CoefficientField<Owner>, N>& fields,
                                                                const Owner& owner, const Coefficient& coefficient) {
  for (const CoefficientField<Owner>& field : fields)
    if (&field.of(owner) == &coefficient) return field;
  check(false, "every coefficient is in the table of fields");
  return fields.front();
}

}  // namespace plumbline
