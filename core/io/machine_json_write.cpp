#include "core/io/json_array.h"
#include "core/io/machine_json.h"
#include "core/io/sourced_json.h"

namespace plumbline {
namespace {

template <class T>
void add_if(Json::Object& object, const char* key, const std::optional<T>& number) {
  if (number) object.emplace_back(key, to_json(*number));
}

Json to_json(const NetworkLevel& level) {
  return Json::Object{{"name", level.name},
                      {"nodes_per_group", level.nodes_per_group},
                      {"latency", plumbline::to_json(level.latency)},
                      {"oversubscription", plumbline::to_json(level.oversubscription)}};
}

Json to_json(const Interconnect& interconnect) {
  return Json::Object{{"kind", to_text(interconnect.kind)},
                      {"bandwidth", plumbline::to_json(interconnect.bandwidth)},
                      {"links", interconnect.links},
                      {"domain_devices", interconnect.domain_devices}};
}

Json to_json(const NetworkInterfaces& network) {
  return Json::Object{
      {"count", network.count}, {"bandwidth", plumbline::to_json(network.bandwidth)}, {"path", to_text(network.path)}};
}

Json to_json(const NodeGroup& group) {
  const Node& node = group.node;
  Json::Object object{{"name", node.name},
                      {"count", group.count},
                      {"device", plumbline::to_json(node.device)},
                      {"devices_per_node", node.devices},
                      {"cpu_vendor", to_text(node.cpu_vendor)},
                      {"interconnect", to_json(node.interconnect)}};
  if (node.network) object.emplace_back("network", to_json(*node.network));
  object.emplace_back("host_memory", plumbline::to_json(node.host_memory));
  object.emplace_back("pcie_bandwidth", plumbline::to_json(node.pcie_bandwidth));
  add_if(object, "nvme", node.nvme);
  add_if(object, "nvme_bandwidth", node.nvme_bandwidth);
  object.emplace_back("host_power", plumbline::to_json(node.host_power));
  if (node.shared_cores) object.emplace_back("shared_cores", *node.shared_cores);
  return object;
}

Json to_json(const LinkFactors& factors) {
  Json::Object object;
  for (const LinkFactor factor : all_link_factors)
    if (factors.number(factor)) object.emplace_back(to_text(factor), plumbline::to_json(*factors.number(factor)));
  return object;
}

}  // namespace

Json to_json(const Device& device) {
  Json::Object peaks;
  for (const auto& [format, peak] : device.peaks) peaks.emplace_back(to_text(format), to_json(peak));
  Json::Object object{{"name", device.name},
                      {"vendor", device.vendor},
                      {"architecture", to_text(device.architecture)},
                      {"memory", to_json(device.memory)},
                      {"memory_bandwidth", to_json(device.memory_bandwidth)},
                      {"peaks", std::move(peaks)},
                      {"streaming_multiprocessors", device.streaming_multiprocessors},
                      {"l2_cache", to_json(device.l2_cache)},
                      {"power", to_json(device.power)}};
  add_if(object, "price_usd_per_hour", device.price_per_hour);
  return object;
}

Json to_json(const Fabric& fabric) {
  const auto level_json = [](const NetworkLevel& level) { return to_json(level); };
  return Json::Object{{"name", fabric.name}, {"levels", json_array(fabric.levels, level_json)}};
}

Json to_json(const Cluster& cluster) {
  const auto group_json = [](const NodeGroup& group) { return to_json(group); };
  Json::Object object{
      {"name", cluster.name}, {"fabric", to_json(cluster.fabric)}, {"nodes", json_array(cluster.groups, group_json)}};
  add_if(object, "price_usd_per_device_hour", cluster.price_per_device_hour);
  if (!cluster.link_factors.empty()) object.emplace_back("link_factors", to_json(cluster.link_factors));
  return object;
}

Json machine_json(const MachineDocument& document) {
  Json::Object root{{"format", "plumbline.machine/1"}};
  add_if(root, "device", document.device);
  add_if(root, "fabric", document.fabric);
  add_if(root, "cluster", document.cluster);
  return root;
}

}  // namespace plumbline
