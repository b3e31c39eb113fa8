// The numbers of a cluster, and the cluster with some of them edited.
#include "gui/machine/machine_numbers.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/io/machine_json.h"
#include "gui/machine/edited_machine_file.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"
#include "tests/gui/pages/command.h"

namespace plumbline::gui {
namespace {

constexpr const char* memory = "/cluster/nodes/0/device/memory";
constexpr const char* bandwidth = "/cluster/nodes/0/device/memory_bandwidth";

MachineNumber number_at(const std::vector<MachineNumber>& numbers, const std::string& place) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [&](const MachineNumber& number) { return number.place == place; });
  if (found == numbers.end()) throw std::logic_error("no number at " + place);
  return *found;
}

Cluster edited_cluster(const std::vector<MachineEdit>& edits) {
  const Json document = edited_machine(machine_document("dgx-h100"), edits, "dgx-h100");
  return *read_machine(document, "edited", machine_parts()).cluster;
}

TEST_CASE("every number of a cluster is there with its part, its value and its source") {
  const std::vector<MachineNumber> numbers = machine_numbers(machine_document("dgx-h100"));
  const MachineNumber held = number_at(numbers, memory);
  CHECK(held.part == "H100-SXM-80GB");
  CHECK(held.name == "memory");
  CHECK(held.value == "80998 MiB");
  CHECK(held.kind == "measured");
  CHECK_FALSE(held.source.empty());
  CHECK(number_at(numbers, "/cluster/nodes/0/interconnect/bandwidth").name == "interconnect bandwidth");
  CHECK(number_at(numbers, "/cluster/nodes/0/device/peaks/bf16").name == "peaks bf16");
  CHECK(number_at(numbers, "/cluster/nodes/0/devices_per_node").source.empty());
  const auto levels = std::count_if(numbers.begin(), numbers.end(), [](const MachineNumber& number) {
    return number.place.starts_with("/cluster/fabric/levels/") && number.name == "latency";
  });
  CHECK(levels == static_cast<std::int64_t>(find_machine("dgx-h100").fabric.levels.size()));
}

TEST_CASE("an edited number is an assumed one that says what it was, and all others stay") {
  const Cluster before = find_machine("dgx-h100");
  Cluster after = edited_cluster({{memory, "40 GiB", "", ""}});
  Sourced<Bytes>& edited = after.groups.front().node.device.memory;
  CHECK(edited.value == Bytes(40LL << 30));
  CHECK(edited.kind == SourceKind::assumed);
  CHECK(edited.source.find("80998 MiB") != std::string::npos);
  CHECK(after.name == "dgx-h100-edited");
  edited = before.groups.front().node.device.memory;
  after.name = before.name;
  CHECK(after == before);
}

TEST_CASE("a source and a kind can be given with a value, or without one") {
  const Cluster cluster =
      edited_cluster({{bandwidth, "3 TB/s", "own STREAM run", "measured"}, {memory, "", "a", "published"}});
  const Device& device = cluster.groups.front().node.device;
  CHECK(device.memory_bandwidth.value == BytesPerSecond(3e12));
  CHECK(device.memory_bandwidth.source == "own STREAM run");
  CHECK(device.memory_bandwidth.kind == SourceKind::measured);
  CHECK(device.memory.value == Bytes(80998LL << 20));
  CHECK(device.memory.kind == SourceKind::published);
}

TEST_CASE("what the format's reader refuses is refused, where it stands") {
  const auto message = [](const MachineEdit& edit) -> std::string {
    try {
      (void)edited_cluster({edit});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message({memory, "80 parsecs", "", ""}).find(memory) != std::string::npos);
  CHECK(message({memory, "0 GiB", "", ""}).find("beyond any machine") != std::string::npos);
  CHECK(message({memory, "80 GiB", "", "rumour"}).find("datasheet") != std::string::npos);
  CHECK(message({"/cluster/nodes/7/device/memory", "1 GiB", "", ""}).find("no number") != std::string::npos);
  CHECK_FALSE(message({"/cluster/nodes/0/devices_per_node", "eight", "", ""}).empty());
}

TEST_CASE("a question on an edited cluster has the numbers of plan search on that file") {
  QuestionForm form = small_form();
  form.machine_edits = {{bandwidth, "1.5 TB/s", "", ""}};
  const std::string file = edited_machine_file("dgx-h100", form.machine_edits);
  CHECK(edited_machine_file("dgx-h100", form.machine_edits) == file);
  const session::SearchAnswer answer = session::search(search_request(form));
  QuestionForm of_file = small_form();
  of_file[Field::machine] = file;
  const Json said =
      command_answer(QStringList{"search", "--top", "200", "--json", "--fix", "zero=0"} + flags_of_question(of_file));
  const Json::Array& plans = *said.find("plans")->if_array();
  REQUIRE(plans.size() == answer.plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    CHECK(*plans[i].find("prediction")->find("step_time_s")->find("expected")->if_double() ==
          answer.plans[i].prediction.step_time_s.expected);
  // Half the bandwidth cannot be as fast.
  const session::SearchAnswer own = session::search(search_request(small_form()));
  CHECK(answer.plans.front().prediction.step_time_s.expected > own.plans.front().prediction.step_time_s.expected);
  CHECK(answer.plans.front().machine.name == "dgx-h100-edited");
}

TEST_CASE("a number that is edited to what it is changes no price") {
  QuestionForm form = small_form();
  form.machine_edits = {{memory, "80998 MiB", "", ""}};
  const session::SearchAnswer edited = session::search(search_request(form));
  const session::SearchAnswer own = session::search(search_request(small_form()));
  REQUIRE(edited.plans.size() == own.plans.size());
  for (std::size_t i = 0; i < own.plans.size(); ++i)
    CHECK(edited.plans[i].prediction.time.by_cause == own.plans[i].prediction.time.by_cause);
}

}  // namespace
}  // namespace plumbline::gui
