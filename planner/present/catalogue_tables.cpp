// Networks and machines.
#include "planner/present/catalogue_tables.h"

#include "core/graph/block_text.h"
#include "core/graph/parameter_count.h"
#include "core/quantity/text.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

Cell count_cell(std::int64_t count) { return {count_text(count), static_cast<double>(count)}; }
Cell giga_cell(BytesPerSecond rate) { return {fixed(rate.value() / 1e9, 1), rate.value()}; }

Cell price_cell(const Cluster& cluster) {
  const auto price = price_per_device_hour(cluster);
  return price ? Cell{"$" + fixed(price->value(), 2), price->value()} : words("");
}

Cell peak_cell(const Device& device) {
  const auto peak = device.peak(NumberFormat::bf16);
  return peak ? Cell{fixed(peak->value() / 1e12, 0), peak->value()} : words("");
}

/// Numbers of a machine, each with where it is from.
class Numbers {
 public:
  template <class T>
  void add(const std::string& name, const Sourced<T>& number, const std::string& shown) {
    table_.rows.push_back(
        {words(name), words(shown), words(to_text(number.kind)), words(number.date), words(number.source)});
  }
  Table take() { return std::move(table_); }

 private:
  Table table_{{{"number", "number", Unit::text, "what is stated of the device or node", left},
                {"value", "value", Unit::text, "its value with its unit"},
                {"kind", "kind", Unit::text, "from a datasheet, measured or assumed", left},
                {"date", "date", Unit::text, "when the source was read"},
                {"source", "source", Unit::text, "where it is from", left}},
               {}};
};

void add_device(Numbers& numbers, const Device& device, const std::optional<Sourced<Dollars>>& machine_price) {
  numbers.add("memory", device.memory, to_text(device.memory.value));
  numbers.add("memory bandwidth", device.memory_bandwidth, to_text(device.memory_bandwidth.value));
  for (const auto& [format, peak] : device.peaks)
    numbers.add("dense " + std::string(to_text(format)), peak, to_text(peak.value));
  numbers.add("L2 cache", device.l2_cache, to_text(device.l2_cache.value));
  numbers.add("power", device.power, fixed(device.power.value.value(), 0) + " W");
  if (const auto& price = machine_price ? machine_price : device.price_per_hour)
    numbers.add("price per hour", *price, "$" + fixed(price->value.value(), 2));
}

void add_node(Numbers& numbers, const Node& node) {
  numbers.add(std::string(to_text(node.interconnect.kind)), node.interconnect.bandwidth,
              to_text(node.interconnect.bandwidth.value));
  if (node.network)
    numbers.add("NIC (" + std::to_string(node.network->count) + " a node)", node.network->bandwidth,
                to_text(node.network->bandwidth.value));
  numbers.add("PCIe to host", node.pcie_bandwidth, to_text(node.pcie_bandwidth.value));
  numbers.add("host memory", node.host_memory, to_text(node.host_memory.value));
  numbers.add("host power", node.host_power, fixed(node.host_power.value.value(), 0) + " W");
}

}  // namespace

Table network_table() {
  Table table{{{"name", "name", Unit::text, "name in the catalogue", left},
               {"parameters", "parameters", Unit::number, "parameters of the network"},
               {"active", "active", Unit::number, "parameters that one token uses"},
               {"source", "source", Unit::text, "where its facts come from", left}},
              {}};
  for (const std::string& name : network_names()) {
    const Network network = find_network(name);
    table.rows.push_back({words(name), count_cell(parameter_count(network.graph)),
                          count_cell(active_parameter_count(network.graph)), words(network.source)});
  }
  return table;
}

Table block_table(const Network& network) {
  Table table{{{"block", "block", Unit::text, "a part of the network that repeats", left},
               {"kind", "kind", Unit::text, "input, layer or output", left},
               {"times", "times", Unit::number, "how often it is executed in a row"},
               {"parameters", "parameters each", Unit::number, "parameters of one of them"},
               {"operators", "operators", Unit::number, "operators of one of them"}},
              {}};
  for (const BlockRun& run : network.graph.runs()) {
    const Block& block = network.graph.block(run.block);
    table.rows.push_back({words(block.name()), words(to_text(block.kind())), whole(run.count),
                          grouped_cell(parameter_count(block)), whole(std::ssize(block.ops()))});
  }
  return table;
}

Table machine_table() {
  Table table{{{"name", "name", Unit::text, "name in the catalogue", left},
               {"device", "device", Unit::text, "GPU of a node", left},
               {"devices", "GPUs", Unit::number, "GPUs of a node"},
               {"memory", "GiB", Unit::gibibytes, "memory of a GPU"},
               {"peak", "bf16 TFLOP/s", Unit::flops_per_second, "dense bf16 peak of a GPU"},
               {"interconnect", "link GB/s", Unit::bytes_per_second, "interconnect of a GPU inside its node"},
               {"network", "node GB/s", Unit::bytes_per_second, "network of a node"},
               {"price", "$/GPU/h", Unit::dollars_per_hour, "price of a GPU for an hour"}},
              {}};
  for (const std::string& name : machine_names()) {
    const Cluster cluster = find_machine(name);
    const Node& node = cluster.groups.front().node;
    table.rows.push_back({words(name), words(node.device.name), whole(node.devices), gib_cell(node.device.memory.value),
                          peak_cell(node.device), giga_cell(node.interconnect.bandwidth.value),
                          node.network ? giga_cell(node.network_bandwidth()) : words(""), price_cell(cluster)});
  }
  return table;
}

Table machine_number_table(const Node& node, const std::optional<Sourced<Dollars>>& machine_price) {
  Numbers numbers;
  add_device(numbers, node.device, machine_price);
  add_node(numbers, node);
  return numbers.take();
}

Table link_factor_table(const LinkFactors& factors) {
  Table table{{{"link", "measured over modelled", Unit::text, "collectives that were measured", left},
               {"factor", "factor", Unit::number, "measured time over the model's"},
               {"source", "source", Unit::text, "which measurements", left}},
              {}};
  for (const LinkFactor factor : all_link_factors)
    if (const auto& number = factors.number(factor))
      table.rows.push_back({words(to_text(factor)), decimal(number->value, 3), words(number->source)});
  return table;
}

Table network_level_table(const Fabric& fabric) {
  Table table{{{"level", "network level", Unit::text, "switches of one height", left},
               {"nodes", "nodes", Unit::number, "nodes below one group of them"},
               {"latency", "latency", Unit::seconds, "of one message"},
               {"oversubscription", "oversubscription", Unit::number, "bandwidth below over bandwidth above"}},
              {}};
  for (const NetworkLevel& level : fabric.levels)
    table.rows.push_back({words(level.name),
                          whole(level.nodes_per_group),
                          {to_text(level.latency.value), level.latency.value.value()},
                          decimal(level.oversubscription.value, 2)});
  return table;
}

}  // namespace plumbline::present
