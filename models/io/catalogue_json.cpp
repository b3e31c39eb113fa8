#include "models/io/catalogue_json.h"

#include "core/graph/block_text.h"
#include "core/graph/parameter_count.h"
#include "core/io/json_array.h"
#include "core/io/residuals_json.h"
#include "models/calibration_set.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "models/stack_composition.h"

namespace plumbline {
namespace {

Json summary_json(const Network& network) {
  return Json::Object{{"name", network.name},
                      {"parameters", parameter_count(network.graph)},
                      {"active_parameters", active_parameter_count(network.graph)},
                      {"source", network.source}};
}

Json summary_json(const Cluster& cluster) {
  const Node& node = cluster.groups.front().node;
  const auto price = price_per_device_hour(cluster);
  const auto peak = node.device.peak(NumberFormat::bf16);
  return Json::Object{{"name", cluster.name},
                      {"device", node.device.name},
                      {"devices_per_node", node.devices},
                      {"memory_bytes", node.device.memory.value.value()},
                      {"memory_bandwidth_bytes_per_s", node.device.memory_bandwidth.value.value()},
                      {"bf16_flops_per_s", peak ? Json(peak->value()) : Json()},
                      {"interconnect_bytes_per_s", node.interconnect.bandwidth.value.value()},
                      {"network_bytes_per_s_per_node", node.network_bandwidth().value()},
                      {"dollars_per_device_hour", price ? Json(price->value()) : Json()},
                      {"source", node.device.memory.source}};
}

Json summary_json(const CalibrationSet& set, const SoftwareStack& stack) {
  const Residuals residuals = set.stack(stack.name).residuals;
  Json::Object choices;
  for (const AxisChoice& choice : axis_choices_of(set, stack)) choices.emplace_back(choice.axis, choice.value);
  return Json::Object{{"name", stack.name},
                      {"aliases", json_array(stack.aliases)},
                      {"framework", stack.framework},
                      {"oldest_release", stack.releases ? Json(stack.releases->oldest) : Json()},
                      {"newest_release", stack.releases ? Json(stack.releases->newest) : Json()},
                      {"description", stack.description},
                      {"traits", std::move(choices)},
                      {"residuals", residuals_json(residuals)}};
}

}  // namespace

Json network_json(const Network& network) {
  Json::Object object = *summary_json(network).if_object();
  const auto run_json = [&](const BlockRun& run) {
    const Block& block = network.graph.block(run.block);
    return Json::Object{{"block", block.name()},
                        {"kind", to_text(block.kind())},
                        {"count", run.count},
                        {"parameters_each", parameter_count(block)}};
  };
  object.emplace_back("published_parameters",
                      network.published_parameters ? Json(*network.published_parameters) : Json());
  object.emplace_back("published_source", network.published_source);
  object.emplace_back("model_type", network.model_type);
  object.emplace_back("layers", network.graph.layer_count());
  object.emplace_back("default_sequence_length", network.default_sequence_length);
  object.emplace_back("aliases", json_array(network.aliases));
  object.emplace_back("blocks", json_array(network.graph.runs(), run_json));
  object.emplace_back("note", network.note);
  return object;
}

Json network_catalogue_json() {
  return json_array(network_names(), [](const std::string& name) { return summary_json(find_network(name)); });
}

Json machine_catalogue_json() {
  return json_array(machine_names(), [](const std::string& name) { return summary_json(find_machine(name)); });
}

Json stack_catalogue_json() {
  const CalibrationSet& set = CalibrationSet::shipped();
  return json_array(set.stack_names(),
                    [&](const std::string& name) { return summary_json(set, set.software_stack(name)); });
}

}  // namespace plumbline
