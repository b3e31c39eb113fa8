// plan machines: the clusters that this program knows, with every number's source.
#include "cli/catalogue/catalogue_verb.h"
#include "cli/output/table.h"
#include "core/io/machine_json.h"
#include "models/io/catalogue_json.h"
#include "models/machine_catalog.h"
#include "models/this_computer.h"
#include "planner/present/catalogue_tables.h"

namespace plumbline {
namespace {

/// What its collectives were measured to reach, where they were.
std::string link_factors_text(const LinkFactors& factors) {
  return factors.empty() ? "" : "\n" + indented_text(present::link_factor_table(factors));
}

std::string details_text(const Cluster& cluster) {
  std::string text = cluster.name + ": ";
  for (const NodeGroup& group : cluster.groups)
    text += (&group == &cluster.groups.front() ? "" : " and ") + std::to_string(group.count) + " x " +
            std::to_string(group.node.devices) + " " + group.node.device.name;
  text = wrapped(text + ", network " + cluster.fabric.name, terminal_columns(), 2) + "\n\n";
  for (const NodeGroup& group : cluster.groups)
    text += indented_text(present::machine_number_table(group.node, cluster.price_per_device_hour));
  text += link_factors_text(cluster.link_factors);
  if (cluster.fabric.levels.empty()) return text;
  return text + "\n" + indented_text(present::network_level_table(cluster.fabric));
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
  [[nodiscard]] std::string warning(const std::string& name) const override { return machine_name_warning(name); }
  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> names = machine_names();
    names.emplace_back(this_computer_name);
    return names;
  }
  [[nodiscard]] std::string all() const override {
    return json() ? to_json_text(machine_catalogue_json()) : text(present::machine_table()) + this_computer_text();
  }
  /// No numbers: the list is the same everywhere.
  [[nodiscard]] static std::string this_computer_text() {
    return "\nthis-computer: the cores and the memory here, shared by up to " + std::to_string(most_local_ranks) +
           " ranks\n";
  }
};

const RegisteredVerb machines_verb(110, make_verb<MachinesVerb>);

}  // namespace

}  // namespace plumbline
