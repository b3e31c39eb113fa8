#pragma once
/// \file node.h: a server: its devices, what joins them, its way out, and its host.
///
/// Rates are per direction and per device (or per NIC), as the datasheet names them; what a protocol leaves of them is
/// the business of core/cost.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/device.h"

namespace plumbline {

enum class InterconnectKind : std::uint8_t { nvlink_switch, nvlink_mesh, pcie, xgmi, shared_memory };
inline constexpr std::array all_interconnect_kinds{InterconnectKind::nvlink_switch, InterconnectKind::nvlink_mesh,
                                                   InterconnectKind::pcie, InterconnectKind::xgmi,
                                                   InterconnectKind::shared_memory};
[[nodiscard]] std::string_view to_text(InterconnectKind kind);

/// Who made the host's processor: NCCL's tables know them apart.
enum class CpuVendor : std::uint8_t { intel, amd, arm };
inline constexpr std::array all_cpu_vendors{CpuVendor::intel, CpuVendor::amd, CpuVendor::arm};
[[nodiscard]] std::string_view to_text(CpuVendor vendor);

/// What joins the devices of a node. `domain_devices`: devices that reach each other through it; it exceeds the node
/// where the switch spans nodes (72 on GB200 NVL72, whose nodes have 4).
struct Interconnect {
  InterconnectKind kind = InterconnectKind::pcie;
  Sourced<BytesPerSecond> bandwidth;  ///< of one device to all others together, one direction
  std::int32_t links = 1;             ///< links per device that share `bandwidth`
  std::int32_t domain_devices = 1;
  bool operator==(const Interconnect&) const = default;
};

/// Whether the NICs read device memory without passing the host's.
enum class NicPath : std::uint8_t { through_host, direct };
inline constexpr std::array all_nic_paths{NicPath::through_host, NicPath::direct};
[[nodiscard]] std::string_view to_text(NicPath path);

/// Whose network it is: that of the machine which was asked about, or the catalogue's in place of one that the source
/// of a measured run does not state.
enum class NetworkOrigin : std::uint8_t { of_machine, catalogue_for_run };

struct NetworkInterfaces {
  std::int32_t count = 1;             ///< per node
  Sourced<BytesPerSecond> bandwidth;  ///< of one
  NicPath path = NicPath::direct;
  NetworkOrigin origin = NetworkOrigin::of_machine;
  bool operator==(const NetworkInterfaces&) const = default;
};

struct Node {
  std::string name;
  Device device;
  std::int32_t devices = 1;
  Interconnect interconnect;
  std::optional<NetworkInterfaces> network;  ///< nothing: the node stands alone
  CpuVendor cpu_vendor = CpuVendor::intel;
  Sourced<Bytes> host_memory;
  Sourced<BytesPerSecond> pcie_bandwidth;  ///< of one device to host memory
  std::optional<Sourced<Bytes>> nvme;
  std::optional<Sourced<BytesPerSecond>> nvme_bandwidth;  ///< read, all drives together
  Sourced<Watts> host_power;                              ///< of the node alongside its devices
  /// Processor cores that the devices share, where they are processes of one computer: their memory is a part of
  /// `host_memory`, and their rates, each alone at most those of one core, are a share of the cores'.
  std::optional<std::int32_t> shared_cores;

  bool operator==(const Node&) const = default;
  /// All NICs together; zero without any.
  [[nodiscard]] BytesPerSecond network_bandwidth() const;
};

/// The node with another number of devices. Where devices share cores, each gets its part of memory, and of rates
/// when there are more devices than cores. Requires at least one device.
[[nodiscard]] Node with_devices(Node node, std::int32_t devices);

}  // namespace plumbline
