#include "core/machine/node.h"

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

std::optional<InterconnectKind> interconnect_kind_from_text(std::string_view text) {
  for (const InterconnectKind kind : all_interconnect_kinds)
    if (to_text(kind) == text) return kind;
  return std::nullopt;
}

std::string_view to_text(CpuVendor vendor) {
  switch (vendor) {
    case CpuVendor::intel: return "intel";
    case CpuVendor::amd: return "amd";
    case CpuVendor::arm: return "arm";
  }
  return "";
}

std::optional<CpuVendor> cpu_vendor_from_text(std::string_view text) {
  for (const CpuVendor vendor : all_cpu_vendors)
    if (to_text(vendor) == text) return vendor;
  return std::nullopt;
}

std::string_view to_text(NicPath path) { return path == NicPath::direct ? "direct" : "through_host"; }

std::optional<NicPath> nic_path_from_text(std::string_view text) {
  for (const NicPath path : all_nic_paths)
    if (to_text(path) == text) return path;
  return std::nullopt;
}

BytesPerSecond Node::network_bandwidth() const {
  return network ? network->bandwidth.value * static_cast<double>(network->count) : BytesPerSecond(0);
}

}  // namespace plumbline
