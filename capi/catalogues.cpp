#include "capi/catalogues.h"

#include <memory>
#include <optional>
#include <string>

#include "core/io/machine_json.h"
#include "core/io/stack_json.h"
#include "models/calibration_set.h"
#include "models/io/catalogue_json.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/present/catalogue_tables.h"

namespace plumbline::capi {
namespace {

using session::Answer;

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

using All = Answer (*)();
using One = Answer (*)(const std::string& name);

session::UseCase catalogue(All all, One one) {
  const auto name = std::make_shared<std::optional<std::string>>();
  session::UseCase use_case;
  use_case.options = {session::bound("--name", "NAME", *name)};
  use_case.work = [=](const session::Inputs& /*inputs*/) {
    return session::Work{[=](const Task& /*task*/) { return *name ? one(**name) : all(); }, {}};
  };
  return use_case;
}

}  // namespace

session::UseCase models_use_case() { return catalogue(models, model); }
session::UseCase machines_use_case() { return catalogue(machines, machine); }
session::UseCase stacks_use_case() { return catalogue(stacks, stack); }

}  // namespace plumbline::capi
