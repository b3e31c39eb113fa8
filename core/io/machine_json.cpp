#include "core/io/machine_json.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "core/io/json_choice.h"
#include "core/io/name_json.h"
#include "core/io/sourced_json.h"
#include "core/training/limits.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_units = 1'000'000;         // multiprocessors, links, NICs
constexpr std::int64_t most_devices_of_node = 10'000;  // a hundred times the 72 of the largest racks
constexpr std::int64_t most_nodes = 1'000'000;
constexpr double most_oversubscription = 1000;
constexpr std::size_t longest_name = 100;

std::int32_t read_count(const JsonPlace& place, std::int64_t most = most_units) {
  return static_cast<std::int32_t>(place.integer(1, most));
}

std::string read_name(const JsonPlace& place) {
  const std::string& name = name_from_json(place);
  if (name.empty() || name.size() > longest_name)
    throw InputError({place.where(), "a name of " + std::to_string(name.size()) + " characters",
                      "from 1 to " + std::to_string(longest_name), ""});
  return name;
}

Device read_device(const JsonPlace& place) {
  JsonObject object(place);
  Device device;
  device.name = read_name(object.at("name"));
  device.vendor = read_name(object.at("vendor"));
  device.architecture = choice_from_json(object.at("architecture"), all_device_architectures);
  device.memory = read_sourced_bytes(object.at("memory"));
  device.memory_bandwidth = read_sourced_bandwidth(object.at("memory_bandwidth"));
  JsonObject peaks(object.at("peaks"));
  for (const auto& [key, peak] : peaks.members()) {
    const Json name(key);
    const NumberFormat format = choice_from_json(JsonPlace(name, peak.where()), all_number_formats);
    device.peaks[format] = read_sourced_flop_rate(peak);
  }
  if (device.peaks.empty()) throw InputError({peaks.where(), "no peak at all", "at least one number format", ""});
  device.streaming_multiprocessors = read_count(object.at("streaming_multiprocessors"));
  device.l2_cache = read_sourced_bytes(object.at("l2_cache"));
  device.power = read_sourced_power(object.at("power"));
  if (const auto price = object.find("price_usd_per_hour")) device.price_per_hour = read_sourced_dollars(*price);
  object.finish();
  return device;
}

NetworkLevel read_level(const JsonPlace& place) {
  JsonObject object(place);
  NetworkLevel level;
  level.name = read_name(object.at("name"));
  level.nodes_per_group = read_count(object.at("nodes_per_group"), most_nodes);
  level.latency = read_sourced_duration(object.at("latency"));
  level.oversubscription = read_sourced_number(object.at("oversubscription"), 1, most_oversubscription);
  object.finish();
  return level;
}

Fabric read_fabric(const JsonPlace& place) {
  JsonObject object(place);
  Fabric fabric;
  fabric.name = read_name(object.at("name"));
  for (const JsonPlace& level : object.at("levels").elements()) {
    fabric.levels.push_back(read_level(level));
    const std::size_t n = fabric.levels.size();
    if (n > 1 && fabric.levels[n - 1].nodes_per_group <= fabric.levels[n - 2].nodes_per_group)
      throw InputError({level.where() + "/nodes_per_group", "no more nodes than the level before",
                        "levels from the nodes outwards, each larger than the one before", ""});
  }
  object.finish();
  return fabric;
}

/// What a name or an object at `place` stands for; `kind` names it in messages.
template <class T, class Read>
T read_or_find(const JsonPlace& place, const std::vector<T>& known, Read read, const char* kind) {
  const std::string* name = place.value().if_string();
  if (name == nullptr) return read(place);
  std::vector<std::string> names;
  for (const T& candidate : known) {
    if (candidate.name == *name) return candidate;
    names.push_back(candidate.name);
  }
  const std::string nearest = nearest_text(*name, names);
  throw InputError({place.where(), std::string("unknown ") + kind + " \"" + name->substr(0, 60) + "\"",
                    std::string("the name of a known ") + kind + (nearest.empty() ? " (" + joined(names) + ")" : "") +
                        ", or an object",
                    nearest});
}

Interconnect read_interconnect(const JsonPlace& place, std::int32_t node_devices) {
  JsonObject object(place);
  Interconnect interconnect;
  interconnect.kind = choice_from_json(object.at("kind"), all_interconnect_kinds);
  interconnect.bandwidth = read_sourced_bandwidth(object.at("bandwidth"));
  if (const auto links = object.find("links")) interconnect.links = read_count(*links);
  interconnect.domain_devices = node_devices;
  if (const auto domain = object.find("domain_devices")) {
    interconnect.domain_devices = read_count(*domain);
    if (interconnect.domain_devices % node_devices != 0)
      throw InputError({domain->where(), std::to_string(interconnect.domain_devices) + " is no whole number of nodes",
                        "a multiple of devices_per_node (" + std::to_string(node_devices) + ")", ""});
  }
  object.finish();
  return interconnect;
}

NetworkInterfaces read_network(const JsonPlace& place) {
  JsonObject object(place);
  NetworkInterfaces network;
  network.count = read_count(object.at("count"));
  network.bandwidth = read_sourced_bandwidth(object.at("bandwidth"));
  if (const auto path = object.find("path")) network.path = choice_from_json(*path, all_nic_paths);
  object.finish();
  return network;
}

NodeGroup read_node_group(const JsonPlace& place, const MachineParts& known) {
  JsonObject object(place);
  NodeGroup group;
  Node& node = group.node;
  node.name = read_name(object.at("name"));
  if (const auto count = object.find("count")) group.count = read_count(*count, most_nodes);
  node.device = read_or_find(object.at("device"), known.devices, read_device, "device");
  node.devices = read_count(object.at("devices_per_node"), most_devices_of_node);
  node.interconnect = read_interconnect(object.at("interconnect"), node.devices);
  if (const auto network = object.find("network")) node.network = read_network(*network);
  node.cpu_vendor = choice_from_json(object.at("cpu_vendor"), all_cpu_vendors);
  node.host_memory = read_sourced_bytes(object.at("host_memory"));
  node.pcie_bandwidth = read_sourced_bandwidth(object.at("pcie_bandwidth"));
  if (const auto nvme = object.find("nvme")) node.nvme = read_sourced_bytes(*nvme);
  if (const auto rate = object.find("nvme_bandwidth")) node.nvme_bandwidth = read_sourced_bandwidth(*rate);
  node.host_power = read_sourced_power(object.at("host_power"));
  if (const auto cores = object.find("shared_cores")) node.shared_cores = read_count(*cores);
  object.finish();
  return group;
}

LinkFactors read_link_factors(const JsonPlace& place) {
  JsonObject object(place);
  LinkFactors factors;
  for (const LinkFactor factor : all_link_factors)
    if (const auto number = object.find(to_text(factor)))
      factors.set(factor, read_sourced_number(*number, least_link_factor, most_link_factor));
  object.finish();
  return factors;
}

Cluster read_cluster(const JsonPlace& place, const MachineParts& known) {
  JsonObject object(place);
  Cluster cluster;
  cluster.name = read_name(object.at("name"));
  const JsonPlace nodes = object.at("nodes");
  for (const JsonPlace& group : nodes.elements()) cluster.groups.push_back(read_node_group(group, known));
  if (cluster.groups.empty()) throw InputError({nodes.where(), "no nodes", "at least one kind of node", ""});
  if (device_count(cluster) > most_devices)
    throw InputError({nodes.where(), std::to_string(device_count(cluster)) + " devices",
                      "at most " + std::to_string(most_devices), ""});
  cluster.fabric = read_or_find(object.at("fabric"), known.fabrics, read_fabric, "fabric");
  if (const auto price = object.find("price_usd_per_device_hour"))
    cluster.price_per_device_hour = read_sourced_dollars(*price);
  if (const auto factors = object.find("link_factors")) cluster.link_factors = read_link_factors(*factors);
  object.finish();
  return cluster;
}

}  // namespace

MachineDocument read_machine(const Json& json, std::string_view source, const MachineParts& known) {
  const std::string where = std::string(source) + ":";
  JsonObject root = open_document(JsonPlace(json, where), "plumbline.machine/1");
  MachineDocument document;
  if (const auto device = root.find("device")) document.device = read_device(*device);
  if (const auto fabric = root.find("fabric")) document.fabric = read_fabric(*fabric);
  MachineParts parts;
  if (document.device) parts.devices.push_back(*document.device);
  if (document.fabric) parts.fabrics.push_back(*document.fabric);
  parts.devices.insert(parts.devices.end(), known.devices.begin(), known.devices.end());
  parts.fabrics.insert(parts.fabrics.end(), known.fabrics.begin(), known.fabrics.end());
  if (const auto cluster = root.find("cluster")) document.cluster = read_cluster(*cluster, parts);
  root.finish();
  if (!document.device && !document.fabric && !document.cluster)
    throw InputError({where, "an empty machine document", "a device, a fabric or a cluster", ""});
  return document;
}

}  // namespace plumbline
