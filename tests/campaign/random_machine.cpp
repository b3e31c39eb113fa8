#include "tests/campaign/random_machine.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/errors.h"
#include "models/machine_catalog.h"

namespace plumbline {
namespace {

/// Joined the catalogue when seeds had been looked at.
constexpr std::array<std::string_view, 1> later_machines{"mi350x"};

bool is_later(std::string_view name) {
  return std::find(later_machines.begin(), later_machines.end(), name) != later_machines.end();
}

enum class Joined : std::uint8_t { first, later };

std::vector<Cluster> machines(Joined when) {
  std::vector<Cluster> all;
  for (const std::string& name : machine_names())
    if (is_later(name) == (when == Joined::later)) all.push_back(find_machine(name));
  return all;
}

/// Later ones from a copy: a seed's other draws stay what they were before these were there.
const Cluster& shipped_machine(Draw& draw) {
  static const std::vector<Cluster> first = machines(Joined::first);
  static const std::vector<Cluster> later = machines(Joined::later);
  Draw copy = draw;
  const Cluster& one = draw.one_of(first);
  return copy.between(1, std::ssize(first) + std::ssize(later)) > std::ssize(first) ? copy.one_of(later) : one;
}

std::int64_t random_nodes(Draw& draw) {
  return draw.one_of<std::int64_t>({1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 24, 32, 36, 64, 96, 128, 1000});
}

/// Part of a node, or whole nodes.
std::int64_t random_devices(const Cluster& one_node, Draw& draw) {
  const std::int64_t per_node = one_node.groups.front().node.devices;
  return draw.one_in(4) ? draw.between(1, per_node) : per_node * random_nodes(draw);
}

void scale(Node& node, Draw& draw) {
  const auto change = [&](auto& number, double least, double most) {
    using Number = std::decay_t<decltype(number.value)>;
    if (draw.one_in(2)) return;
    number.value =
        Number(static_cast<typename Number::rep>(static_cast<double>(number.value.value()) * draw.factor(least, most)));
  };
  change(node.device.memory, 0.1, 8);
  change(node.device.memory_bandwidth, 0.1, 10);
  for (auto& [format, peak] : node.device.peaks) change(peak, 0.1, 10);
  change(node.interconnect.bandwidth, 0.05, 20);
  if (node.network) change(node.network->bandwidth, 0.05, 20);
  change(node.host_memory, 0.2, 5);
  change(node.pcie_bandwidth, 0.1, 10);
}

/// As its file says it: what a number loses in writing is lost before anything is priced.
DrawnMachine written(Cluster cluster) {
  const Json file = machine_json({std::nullopt, std::nullopt, std::move(cluster)});
  const Json text = parse_json(to_json_text(file), "drawn machine");
  return {*read_machine(text, "drawn machine", {}).cluster, "", text};
}

DrawnMachine varied(Cluster cluster, Draw& draw) {
  for (NodeGroup& group : cluster.groups) scale(group.node, draw);
  for (NetworkLevel& level : cluster.fabric.levels) {
    level.latency.value = Seconds(level.latency.value.value() * draw.factor(0.1, 100));
    level.oversubscription.value = draw.one_of({1., 1.5, 2., 3., 7.});
  }
  return written(std::move(cluster));
}

/// Two kinds of nodes in one fabric, both orders.
DrawnMachine mixed(Draw& draw) {
  Cluster cluster = shipped_machine(draw);
  NodeGroup other = shipped_machine(draw).groups.front();
  cluster.groups.front().count = static_cast<std::int32_t>(draw.between(1, 6));
  other.count = static_cast<std::int32_t>(draw.between(1, 6));
  const auto per_node = static_cast<std::int32_t>(draw.between(1, 8));
  if (draw.one_in(2)) {
    other.node = with_devices(other.node, per_node);
    cluster.groups.front().node = with_devices(cluster.groups.front().node, per_node);
  }
  cluster.groups.push_back(std::move(other));
  cluster.name += "-mixed";
  return written(std::move(cluster));
}

DrawnMachine any_machine(Draw& draw) {
  if (draw.one_in(6)) return mixed(draw);
  const Cluster& one_node = shipped_machine(draw);
  Cluster cluster = with_device_count(one_node, random_devices(one_node, draw));
  if (draw.one_in(3)) return varied(std::move(cluster), draw);
  return {std::move(cluster), one_node.name, std::nullopt};
}

}  // namespace

DrawnMachine random_machine(Draw& draw, std::int64_t most_devices) {
  while (true) {
    try {
      DrawnMachine machine = any_machine(draw);
      if (device_count(machine.cluster) <= most_devices) return machine;
    } catch (const InputError&) {
      continue;  // more nodes than a fabric joins, or a number beyond any machine
    }
  }
}

}  // namespace plumbline
