#pragma once
/// \file machine_json.h: reads and writes devices, fabrics and clusters: format "plumbline.machine/1".
///
/// A document holds at least one of "device", "fabric" and "cluster":
///
///   {"format": "plumbline.machine/1",
///    "device":  {"name", "vendor", "architecture", "memory": N, "memory_bandwidth": N, "peaks": {"bf16": N, ...},
///                "streaming_multiprocessors": 132, "l2_cache": N, "power": N, "price_usd_per_hour": N},
///    "fabric":  {"name", "levels": [{"name", "nodes_per_group", "latency": N, "oversubscription": N}, ...]},
///    "cluster": {"name", "fabric": name or object, "price_usd_per_device_hour": N,
///                "link_factors": {"node_bandwidth": N, ...},
///                "nodes": [{"name", "count", "device": name or object, "devices_per_node", "cpu_vendor",
///                  "interconnect": {"kind", "bandwidth": N, "links", "domain_devices"},
///                  "network": {"count", "bandwidth": N, "path": "direct" or "through_host"},
///                  "host_memory": N, "pcie_bandwidth": N, "nvme": N, "nvme_bandwidth": N, "host_power": N}, ...]}}
///
/// N = {"value": "80 GiB", "source": "...", "kind": "datasheet|measured|published|assumed", "date": "2024-05"}; the
/// value is text with its unit, or a plain number where the key names the unit or there is none; "date" may be absent.
/// N may also be the value alone ("80 GiB"): an assumed number.
/// May be absent: price_usd_per_hour, price_usd_per_device_hour, network, nvme, nvme_bandwidth, links (1),
/// domain_devices (the node's devices), path (direct), count (1), link_factors and each of them (link_factors.h). Rates
/// are per direction. Peaks are dense.

#include <optional>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "core/machine/cluster.h"

namespace plumbline {

/// Devices and fabrics that a document may name instead of spelling out.
struct MachineParts {
  std::vector<Device> devices;
  std::vector<Fabric> fabrics;
};

struct MachineDocument {
  std::optional<Device> device;
  std::optional<Fabric> fabric;
  std::optional<Cluster> cluster;
};

/// Reads strictly. Names are looked up in the document itself, then in `known`. Throws InputError that names the
/// source, the JSON pointer, what was expected and the nearest name: unknown or missing keys, wrong units, rates and
/// sizes that are zero or beyond any machine, levels that do not grow outwards.
[[nodiscard]] MachineDocument read_machine(const Json& json, std::string_view source, const MachineParts& known);

/// Writes what `read_machine` reads back to an equal value; devices and fabrics of clusters are spelled out.
[[nodiscard]] Json to_json(const Device& device);
[[nodiscard]] Json to_json(const Fabric& fabric);
[[nodiscard]] Json to_json(const Cluster& cluster);
[[nodiscard]] Json machine_json(const MachineDocument& document);

}  // namespace plumbline
