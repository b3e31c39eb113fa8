#include "core/machine/cluster.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::int64_t largest_device_count = 16'777'216;

[[noreturn]] void refuse(std::int64_t devices, std::string what, std::string expected, std::string nearest) {
  throw InputError({"gpus", std::to_string(devices) + " " + what, std::move(expected), std::move(nearest)});
}

void require_whole_nodes(const Cluster& cluster, std::int64_t devices) {
  const std::int64_t per_node = cluster.groups.front().node.devices;
  if (devices % per_node == 0) return;
  const std::int64_t below = devices / per_node * per_node;
  refuse(devices, "is not a whole number of nodes of " + cluster.name,
         "a multiple of " + std::to_string(per_node) + ", or fewer than one node has",
         std::to_string(below) + ", " + std::to_string(below + per_node));
}

void require_network(const Cluster& cluster, std::int64_t devices) {
  const Node& node = cluster.groups.front().node;
  const std::int64_t nodes = devices / node.devices;
  if (devices <= std::max(node.devices, node.interconnect.domain_devices)) return;
  if (!node.network || cluster.fabric.levels.empty())
    refuse(devices, "needs " + std::to_string(nodes) + " nodes, but no network joins the nodes of " + cluster.name,
           "at most " + std::to_string(node.devices), std::to_string(node.devices));
  const std::int64_t joined = cluster.fabric.levels.back().nodes_per_group;
  if (nodes > joined)
    refuse(devices, "needs more nodes than fabric " + cluster.fabric.name + " joins",
           "at most " + std::to_string(joined * node.devices), std::to_string(joined * node.devices));
}

}  // namespace

std::int64_t node_count(const Cluster& cluster) {
  std::int64_t count = 0;
  for (const NodeGroup& group : cluster.groups) count += group.count;
  return count;
}

std::int64_t device_count(const Cluster& cluster) {
  std::int64_t count = 0;
  for (const NodeGroup& group : cluster.groups) count += std::int64_t{group.count} * group.node.devices;
  return count;
}

const Node& limiting_node(const Cluster& cluster) {
  check(!cluster.groups.empty(), "a cluster has at least one group of nodes");
  // Beyond the rates, so that the order in which nodes are listed is no matter.
  const auto rates = [](const NodeGroup& group) {
    const Node& node = group.node;
    const auto nics = node.network ? std::pair(node.network->path, node.network->count) : std::pair(NicPath::direct, 0);
    return std::tuple(node.interconnect.bandwidth.value, node.network_bandwidth(), node.devices,
                      node.interconnect.domain_devices, nics, node.cpu_vendor, node.device.architecture,
                      std::string_view(node.device.name));
  };
  return std::min_element(cluster.groups.begin(), cluster.groups.end(),
                          [&](const NodeGroup& a, const NodeGroup& b) { return rates(a) < rates(b); })
      ->node;
}

namespace {

const Device& slowest_kind(const Cluster& cluster) {
  // Beyond the rates, so that the order in which nodes are listed is no matter.
  const auto speed = [](const NodeGroup& group) {
    const Device& device = group.node.device;
    const FlopsPerSecond peak =
        device.peak(NumberFormat::bf16).value_or(device.peak(NumberFormat::fp32).value_or(FlopsPerSecond(0)));
    return std::tuple(peak, device.memory_bandwidth.value, device.product_peak(NumberFormat::fp8_e4m3),
                      device.memory.value, device.streaming_multiprocessors, std::string_view(device.name));
  };
  return std::min_element(cluster.groups.begin(), cluster.groups.end(),
                          [&](const NodeGroup& a, const NodeGroup& b) { return speed(a) < speed(b); })
      ->node.device;
}

}  // namespace

Device slowest_device(const Cluster& cluster) {
  Device device = slowest_kind(cluster);
  for (const NodeGroup& group : cluster.groups) {
    const Device& other = group.node.device;
    if (other.memory_bandwidth.value < device.memory_bandwidth.value) device.memory_bandwidth = other.memory_bandwidth;
    for (auto& [format, peak] : device.peaks) peak.value = std::min(peak.value, other.product_peak(format));
  }
  return device;
}

std::optional<Dollars> price_per_device_hour(const Cluster& cluster) {
  if (cluster.price_per_device_hour) return cluster.price_per_device_hour->value;
  Dollars sum(0);
  for (const NodeGroup& group : cluster.groups) {
    if (!group.node.device.price_per_hour) return std::nullopt;
    sum += group.node.device.price_per_hour->value * static_cast<double>(group.count) * group.node.devices;
  }
  return sum / static_cast<double>(device_count(cluster));
}

std::int32_t domain_devices(const Cluster& cluster) {
  std::int32_t per_node = std::numeric_limits<std::int32_t>::max();
  std::int32_t domain = per_node;
  for (const NodeGroup& group : cluster.groups) {
    per_node = std::min(per_node, group.node.devices);
    domain = std::min(domain, std::max(group.node.devices, group.node.interconnect.domain_devices));
  }
  if (domain <= per_node) return per_node;
  const std::int64_t nodes = node_count(cluster);
  const std::int64_t nodes_per_domain = domain / per_node;
  const std::int64_t fewest = (nodes + nodes_per_domain - 1) / nodes_per_domain;
  // Past twice the fewest domains an even split wastes more than it aligns.
  for (std::int64_t domains = fewest; domains <= 2 * fewest; ++domains)
    if (nodes % domains == 0) return static_cast<std::int32_t>(nodes / domains * per_node);
  return domain;
}

Cluster with_device_count(const Cluster& cluster, std::int64_t devices) {
  if (devices < 1 || devices > largest_device_count)
    refuse(devices, "is no usable device count", "from 1 to " + std::to_string(largest_device_count), "");
  if (cluster.groups.size() != 1 && devices == device_count(cluster)) return cluster;
  if (cluster.groups.size() != 1)
    refuse(devices, "cannot be taken from the mixed cluster " + cluster.name,
           "all of its " + std::to_string(device_count(cluster)) + " devices", "");
  Cluster result = cluster;
  NodeGroup& group = result.groups.front();
  if (devices < group.node.devices) {
    group.node = with_devices(std::move(group.node), static_cast<std::int32_t>(devices));
    group.count = 1;
    return result;
  }
  require_whole_nodes(cluster, devices);
  require_network(cluster, devices);
  group.count = static_cast<std::int32_t>(devices / group.node.devices);
  return result;
}

}  // namespace plumbline
