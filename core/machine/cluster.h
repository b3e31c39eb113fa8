#pragma once
/// \file cluster.h: nodes, alike or mixed, and the network that joins them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/link_factors.h"
#include "core/machine/node.h"

namespace plumbline {

/// One tier of switches. Levels are listed from the nodes outwards.
struct NetworkLevel {
  std::string name;                  ///< "leaf", "spine", ...
  std::int32_t nodes_per_group = 1;  ///< nodes that reach each other without leaving this level
  /// One way, on top of what NCCL's tables hold for a NIC-to-NIC path under one InfiniBand switch.
  Sourced<Seconds> latency;
  /// Bandwidth of the nodes below over the bandwidth that this level carries between them; 1 is full bisection.
  Sourced<double> oversubscription{1.0};
  bool operator==(const NetworkLevel&) const = default;
};

struct Fabric {
  std::string name;
  std::vector<NetworkLevel> levels;  ///< empty: nodes are not joined
  bool operator==(const Fabric&) const = default;
};

struct NodeGroup {
  Node node;
  std::int32_t count = 1;
  bool operator==(const NodeGroup&) const = default;
};

struct Cluster {
  std::string name;
  std::vector<NodeGroup> groups;  ///< at least one; more than one kind of node makes the cluster mixed
  Fabric fabric;
  std::optional<Sourced<Dollars>> price_per_device_hour;  ///< instead of the device's own
  LinkFactors link_factors;                               ///< what its collectives were measured to reach

  bool operator==(const Cluster&) const = default;
};

[[nodiscard]] std::int64_t node_count(const Cluster& cluster);
[[nodiscard]] std::int64_t device_count(const Cluster& cluster);
/// The node whose links bound a collective: the least interconnect and, among equals, network bandwidth.
[[nodiscard]] const Node& limiting_node(const Cluster& cluster);
/// What a step waits for when every rank does the same work: the device with the lowest 16-bit peak, at the lowest peak
/// of each format and the lowest memory bandwidth of all. Of one kind of node: its device.
[[nodiscard]] Device slowest_device(const Cluster& cluster);
/// Dollars per device and hour: the cluster's, else the mean of the devices', else nothing.
[[nodiscard]] std::optional<Dollars> price_per_device_hour(const Cluster& cluster);
/// Devices of the job that share one NVLink domain: the node's, or, where a domain spans nodes, the largest equal share
/// of whole nodes when the job is spread over the fewest domains (128 devices of NVL72 racks sit 64 to a rack).
[[nodiscard]] std::int32_t domain_devices(const Cluster& cluster);

/// The same kind of nodes with `devices` devices in all: a part of one node, or whole nodes.
/// Throws InputError (where: "gpus") for counts below 1, counts that leave a node partly used (with the nearest counts
/// that do not), a mixed cluster, or several nodes where no network joins them or more than its largest level joins.
[[nodiscard]] Cluster with_device_count(const Cluster& cluster, std::int64_t devices);

}  // namespace plumbline
