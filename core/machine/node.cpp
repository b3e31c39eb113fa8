#include "core/machine/node.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {

std::string_view to_text(InterconnectKind kind) {
  switch (kind) {
    case InterconnectKind::nvlink_switch: return "nvlink_switch";
    case InterconnectKind::nvlink_mesh: return "nvlink_mesh";
    case InterconnectKind::pcie: return "pcie";
    case InterconnectKind::xgmi: return "xgmi";
    case InterconnectKind::shared_memory: return "shared_memory";
  }
  return "";
}

std::string_view to_text(CpuVendor vendor) {
  switch (vendor) {
    case CpuVendor::intel: return "intel";
    case CpuVendor::amd: return "amd";
    case CpuVendor::arm: return "arm";
  }
  return "";
}

std::string_view to_text(NicPath path) { return path == NicPath::direct ? "direct" : "through_host"; }

BytesPerSecond Node::network_bandwidth() const {
  return network ? network->bandwidth.value * static_cast<double>(network->count) : BytesPerSecond(0);
}

Node with_devices(Node node, std::int32_t devices) {
  check(devices >= 1, "a node has at least one device");
  const std::int32_t before = node.devices;
  node.devices = devices;
  node.interconnect.domain_devices = std::min(node.interconnect.domain_devices, devices);
  if (!node.shared_cores) return node;
  node.interconnect.domain_devices = devices;
  const auto share = [&](std::int32_t of) { return std::min(1.0, static_cast<double>(*node.shared_cores) / of); };
  const double factor = share(devices) / share(before);
  node.device.memory.value = node.host_memory.value / devices;
  node.device.memory_bandwidth.value = node.device.memory_bandwidth.value * factor;
  node.interconnect.bandwidth.value = node.interconnect.bandwidth.value * factor;
  for (auto& [format, peak] : node.device.peaks) peak.value = peak.value * factor;
  return node;
}

}  // namespace plumbline
