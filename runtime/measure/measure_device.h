#pragma once
/// \file measure_device.h: measures the kernels of a device of this runtime, and collectives among several: the table
/// that `calibrate --backend cuda` writes.
///
/// Answers: medians in seconds of one call, by the device's own marks. Model: products of linear layers of GPT-2 and
/// Llama 3 sizes, whole and divided by tensor parallelism, with their gradients; causal attention; kernels bound by
/// memory, with the bytes that core/sharding/op_work.h counts; what a kernel without work takes on the device
/// ("tiny_add") and on the host ("launch"); copies within the device and between it and the host. Attention is named
/// after the kernel that takes it, as the table's users price it. Not modelled: what a whole step adds
/// (launches, waits); graphs. Checked against: tests/runtime/measure/measure_device_test.cpp (a table of every kind, on
/// the CPU's device), tests/cuda/cuda_module_test.py.

#include "runtime/communication/group_maker.h"
#include "runtime/measure/measure_kernels.h"

namespace plumbline {

class ComputeDevice;

[[nodiscard]] KernelTable measure_device(ComputeDevice& device, const MeasureOptions& options);

/// What the ranks of a measurement of collectives have.
struct MeasuredRanks {
  std::int32_t ranks = 1;
  std::function<std::unique_ptr<ComputeDevice>(std::int32_t rank)> device;
  /// Of one measurement: what each rank makes its groups with.
  using MakeGroups = std::function<std::shared_ptr<GroupMaker>(std::int32_t rank)>;
  std::function<MakeGroups()> meet;
};
/// Collectives among 2, 4, ... and all of them.
void measure_device_collectives(const MeasuredRanks& ranks, const MeasureOptions& options, KernelTable& table);

}  // namespace plumbline
