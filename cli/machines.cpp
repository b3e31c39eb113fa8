// plan machines: the clusters that this program knows, with every number's source.
#include "cli/catalogue_verb.h"
#include "cli/table.h"
#include "core/io/machine_json.h"
#include "core/quantity/text.h"
#include "models/io/catalogue_json.h"
#include "models/machine_catalog.h"
#include "models/this_computer.h"

namespace plumbline {
namespace {

std::string price_text(const Cluster& cluster) {
  const auto price = price_per_device_hour(cluster);
  return price ? "$" + fixed(price->value(), 2) : "";
}

constexpr double bytes_per_gib = 1024. * 1024. * 1024.;

std::string giga_text(BytesPerSecond rate) { return fixed(rate.value() / 1e9, 1); }

/// One number of a machine with where it comes from.
class Numbers {
 public:
  template <class T>
  void add(const std::string& name, const Sourced<T>& number, const std::string& shown) {
    table_.add_row({name, shown, std::string(to_text(number.kind)), number.date, number.source});
  }
  [[nodiscard]] std::string text() const { return table_.text(terminal_columns); }

 private:
  Table table_{{{"  number", Align::left}, {"value"}, {"kind", Align::left}, {"date"}, {"source", Align::left}}};
};

/// `price`: the machine's own, which stands before the device's.
void add_device(Numbers& numbers, const Device& device, const std::optional<Sourced<Dollars>>& price) {
  numbers.add("  memory", device.memory, to_text(device.memory.value));
  numbers.add("  memory bandwidth", device.memory_bandwidth, to_text(device.memory_bandwidth.value));
  for (const auto& [format, peak] : device.peaks)
    numbers.add("  dense " + std::string(to_text(format)), peak, to_text(peak.value));
  numbers.add("  L2 cache", device.l2_cache, to_text(device.l2_cache.value));
  numbers.add("  power", device.power, fixed(device.power.value.value(), 0) + " W");
  if (const auto& paid = price ? price : device.price_per_hour)
    numbers.add("  price per hour", *paid, "$" + fixed(paid->value.value(), 2));
}

void add_node(Numbers& numbers, const Node& node) {
  numbers.add("  " + std::string(to_text(node.interconnect.kind)), node.interconnect.bandwidth,
              to_text(node.interconnect.bandwidth.value));
  if (node.network)
    numbers.add("  NIC (" + std::to_string(node.network->count) + " a node)", node.network->bandwidth,
                to_text(node.network->bandwidth.value));
  numbers.add("  PCIe to host", node.pcie_bandwidth, to_text(node.pcie_bandwidth.value));
  numbers.add("  host memory", node.host_memory, to_text(node.host_memory.value));
  numbers.add("  host power", node.host_power, fixed(node.host_power.value.value(), 0) + " W");
}

/// What its collectives were measured to reach, where they were.
std::string link_factors_text(const LinkFactors& factors) {
  if (factors.empty()) return "";
  Table table({{"  measured over modelled", Align::left}, {"factor"}, {"source", Align::left}});
  for (const LinkFactor factor : all_link_factors)
    if (const auto& number = factors.number(factor))
      table.add_row({"  " + std::string(to_text(factor)), fixed(number->value, 3), number->source});
  return "\n" + table.text(terminal_columns);
}

std::string details_text(const Cluster& cluster) {
  std::string text = cluster.name + ": ";
  for (const NodeGroup& group : cluster.groups)
    text += (&group == &cluster.groups.front() ? "" : " and ") + std::to_string(group.count) + " x " +
            std::to_string(group.node.devices) + " " + group.node.device.name;
  text = wrapped(text + ", network " + cluster.fabric.name, terminal_columns, 2) + "\n\n";
  for (const NodeGroup& group : cluster.groups) {
    Numbers numbers;
    add_device(numbers, group.node.device, cluster.price_per_device_hour);
    add_node(numbers, group.node);
    text += numbers.text();
  }
  text += link_factors_text(cluster.link_factors);
  if (cluster.fabric.levels.empty()) return text;
  Table levels({{"  network level", Align::left}, {"nodes"}, {"latency"}, {"oversubscription"}});
  for (const NetworkLevel& level : cluster.fabric.levels)
    levels.add_row({"  " + level.name, std::to_string(level.nodes_per_group), to_text(level.latency.value),
                    fixed(level.oversubscription.value, 2)});
  return text + "\n" + levels.text(terminal_columns);
}

class MachinesVerb : public CatalogueVerb {
 public:
  MachinesVerb() : CatalogueVerb("MACHINE") {}
  [[nodiscard]] VerbWords words() const override {
    return {"machines", "the machines of the catalogue, or one of them in detail", "[NAME|FILE]",
            "Without a name lists every machine. With a name or a machine file: every number with its kind and source. "
            "--json of one machine is a machine file to start one's own from. this-computer is the computer that the "
            "program runs on: up to 64 ranks that share its cores and memory, for plan run.",
            "plan machines dgx-h100\nplan machines this-computer"};
  }

 private:
  [[nodiscard]] std::string one(const std::string& name) const override {
    const Cluster cluster = find_machine(name);
    if (!json()) return details_text(cluster);
    MachineDocument document;
    document.cluster = cluster;
    return to_json_text(machine_json(document));
  }
  [[nodiscard]] std::string remark(const std::string& name) const override { return machine_name_remark(name); }
  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> names = machine_names();
    names.emplace_back(this_computer_name);
    return names;
  }
  [[nodiscard]] std::string all() const override {
    if (json()) return to_json_text(machine_catalogue_json());
    Table table({{"name", Align::left},
                 {"device", Align::left},
                 {"GPUs"},
                 {"GiB"},
                 {"bf16 TFLOP/s"},
                 {"link GB/s"},
                 {"node GB/s"},
                 {"$/GPU/h"}});
    for (const std::string& name : machine_names()) {
      const Cluster cluster = find_machine(name);
      const Node& node = cluster.groups.front().node;
      const auto peak = node.device.peak(NumberFormat::bf16);
      table.add_row({name, node.device.name, std::to_string(node.devices),
                     fixed(static_cast<double>(node.device.memory.value.value()) / bytes_per_gib, 1),
                     peak ? fixed(peak->value() / 1e12, 0) : "", giga_text(node.interconnect.bandwidth.value),
                     node.network ? giga_text(node.network_bandwidth()) : "", price_text(cluster)});
    }
    return table.text(terminal_columns) + this_computer_text();
  }
  /// No numbers: the list is the same everywhere.
  [[nodiscard]] static std::string this_computer_text() {
    return "\nthis-computer: the cores and the memory here, shared by up to " + std::to_string(most_local_ranks) +
           " ranks\n";
  }
};

}  // namespace

std::unique_ptr<Verb> make_machines_verb() { return std::make_unique<MachinesVerb>(); }

}  // namespace plumbline
