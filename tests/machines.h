#pragma once
/// \file machines.h: a machine and a calibration with round numbers, so that tests of laws depend on no catalogue.

#include "core/cost/calibration.h"
#include "core/machine/cluster.h"

namespace plumbline {

/// Nodes of eight devices behind one switch, a NIC per device, leaves of four nodes below one spine. The device has
/// the datasheet numbers of an H100 SXM.
[[nodiscard]] inline Cluster round_cluster(std::int32_t nodes) {
  Device device;
  device.name = "round device";
  device.architecture = DeviceArchitecture::hopper;
  device.memory.value = 80_GiB;
  device.memory_bandwidth.value = BytesPerSecond(3.35e12);
  device.peaks[NumberFormat::bf16].value = FlopsPerSecond(989e12);
  device.peaks[NumberFormat::fp16].value = FlopsPerSecond(989e12);
  device.peaks[NumberFormat::fp8_e4m3].value = FlopsPerSecond(1979e12);
  device.peaks[NumberFormat::tf32].value = FlopsPerSecond(495e12);
  device.peaks[NumberFormat::fp32].value = FlopsPerSecond(67e12);
  device.streaming_multiprocessors = 132;
  Node node;
  node.name = "round node";
  node.device = device;
  node.devices = 8;
  node.interconnect.kind = InterconnectKind::nvlink_switch;
  node.interconnect.bandwidth.value = BytesPerSecond(450e9);
  node.interconnect.links = 18;
  node.interconnect.domain_devices = 8;
  node.network.emplace();
  node.network->count = 8;
  node.network->bandwidth.value = BytesPerSecond(50e9);
  Cluster cluster;
  cluster.name = "round cluster";
  cluster.groups.push_back({node, nodes});
  NetworkLevel leaf;
  leaf.name = "leaf";
  leaf.nodes_per_group = 4;
  NetworkLevel spine;
  spine.name = "spine";
  spine.nodes_per_group = 100'000;
  spine.latency.value = Seconds(1e-6);
  cluster.fabric = {"round fabric", {leaf, spine}};
  return cluster;
}

/// Shares of a peak by the shape of a product, as the generic GPU has them.
[[nodiscard]] inline ProductShapes round_shapes() {
  ProductShapes shapes;
  shapes.tiles = {{256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.94}, {256, 64, 0.85},
                  {64, 256, 0.85}, {128, 64, 0.78}, {64, 128, 0.78},  {64, 64, 0.62}};
  shapes.splits = {{2, 4, 8}, 512, 0.93};
  shapes.alignments = {{64, 1.0}, {32, 0.956}, {16, 0.951}, {1, 0.775}};
  shapes.head_alignments = {{16, 1.0}, {8, 0.773}, {1, 0.107}};
  return shapes;
}

[[nodiscard]] inline Calibration round_calibration() {
  const auto number = [](double value) {
    Coefficient coefficient;
    coefficient.value = value;
    return coefficient;
  };
  Calibration c;
  c.device.products = {{NumberFormat::bf16, number(0.8), number(256)}};
  c.device.wave_exponent = number(1);
  c.device.batched_product_factor = c.device.grouped_product_factor = number(1);
  c.device.flash_forward_fraction = number(0.6);
  c.device.flash_backward_factor = number(0.8);
  c.device.flash_half_sequence = number(512);
  c.device.bandwidth_fraction = number(0.9);
  c.device.kernel_gap_s = number(2e-6);
  c.device.shapes = round_shapes();
  StackCalibration& s = c.stack;
  for (Coefficient* one :
       {&s.compute.step_factor, &s.compute.memory_bound_factor, &s.compute.loss_factor, &s.compute.flash_factor,
        &s.communication.tensor_parallel_exposure, &s.communication.tensor_parallel_backward_factor,
        &s.communication.pipeline_exposure, &s.communication.data_parallel_exposure,
        &s.communication.context_parallel_exposure, &s.communication.expert_parallel_exposure,
        &s.optimizer.optimizer_traffic_factor, &s.experts.expert_imbalance, &s.communication.network_card_share,
        &s.experts.routing_factor, &s.experts.kernels_per_routing, &s.compute.quantisation_factor,
        &s.compute.row_scaled_rate, &s.compute.block_scaled_rate, &s.compute.microscaled_rate})
    *one = number(1);
  s.communication.overlap_slowdown = number(0.2);
  s.communication.bucket_bytes = number(80e6);
  s.host.host_time_per_kernel_s = number(4e-6);
  s.host.host_time_per_collective_s = number(10e-6);
  s.host.kernels_per_operator = number(1);
  s.optimizer.accumulation_bytes = number(8);
  s.compute.score_bytes_forward = number(10);
  s.compute.score_bytes_backward = number(20);
  s.memory.logit_bytes = number(10);
  s.features.fp8_copies = QuantizedCopies::two;
  s.sharding.gathered_parameters = s.sharding.gathered_gradients = number(1e13);
  s.memory.context_bytes = number(500e6);
  s.memory.communicator_bytes = number(100e6);
  s.memory.workspace_bytes = number(32e6);
  s.memory.fragmentation_fraction = number(0.05);
  return c;
}

}  // namespace plumbline
