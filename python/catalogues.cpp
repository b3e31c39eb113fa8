#include "python/catalogues.h"

#include "core/base/errors.h"
#include "core/io/machine_json.h"
#include "core/io/stack_json.h"
#include "models/calibration_set.h"
#include "models/io/catalogue_json.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/present/catalogue_tables.h"

namespace plumbline::python {
namespace {

Answer models() {
  Answer answer;
  answer.json = to_json_text(network_catalogue_json());
  answer.tables["all"] = present::network_table();
  return answer;
}

Answer model(const std::string& name) {
  const Network network = find_network(name);
  Answer answer;
  answer.json = to_json_text(network_json(network));
  answer.tables["one"] = present::block_table(network);
  answer.warning = network_name_warning(name);
  return answer;
}

Answer machines() {
  Answer answer;
  answer.json = to_json_text(machine_catalogue_json());
  answer.tables["all"] = present::machine_table();
  return answer;
}

Answer machine(const std::string& name) {
  const Cluster cluster = find_machine(name);
  MachineDocument document;
  document.cluster = cluster;
  Answer answer;
  answer.json = to_json_text(machine_json(document));
  answer.tables["one"] = present::machine_number_table(cluster.groups.front().node, cluster.price_per_device_hour);
  answer.warning = machine_name_warning(name);
  return answer;
}

Answer stacks() {
  Answer answer;
  answer.json = to_json_text(stack_catalogue_json());
  answer.tables["all"] = present::stack_table();
  return answer;
}

Answer stack(const std::string& name) {
  const CalibrationSet& set = CalibrationSet::shipped();
  const SoftwareStack stack = set.software_stack(name);
  Answer answer;
  answer.json = to_json_text(software_stack_json(stack));
  answer.tables["one"] = present::stack_axis_table(set, stack);
  answer.warning = set.stack_name_warning(name);
  return answer;
}

}  // namespace

Answer catalogue(const std::string& catalogue, const std::optional<std::string>& name) {
  if (catalogue == "models") return name ? model(*name) : models();
  if (catalogue == "machines") return name ? machine(*name) : machines();
  check(catalogue == "stacks", "there are three catalogues");
  return name ? stack(*name) : stacks();
}

}  // namespace plumbline::python
