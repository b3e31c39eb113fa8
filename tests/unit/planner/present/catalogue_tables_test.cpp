// The catalogues as tables.

#include "planner/present/catalogue_tables.h"

#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "models/stack_composition.h"
#include "tests/unit/planner/present/whole_table.h"

namespace plumbline::present {
namespace {

TEST_CASE("every entry of the catalogues is a row") {
  for (const Table& table : {network_table(), machine_table(), stack_table()}) check_whole(table);
  CHECK(network_table().rows.size() == network_names().size());
  CHECK(machine_table().rows.size() == machine_names().size());
  CHECK(stack_table().rows.size() == CalibrationSet::shipped().stack_names().size());
}

TEST_CASE("a machine's numbers come with kind, date and source") {
  const Cluster cluster = find_machine("dgx-h100");
  const Table numbers = machine_number_table(cluster.groups.front().node);
  check_whole(numbers);
  CHECK(cell(numbers, 0, "number").text == "memory");
  for (std::size_t i = 0; i < numbers.rows.size(); ++i) CHECK(!cell(numbers, i, "source").text.empty());
  // Plans on aws-p5 are billed by its list price, not by what others ask for an H100.
  const Cluster rented = find_machine("aws-p5");
  const Table paid = machine_number_table(rented.groups.front().node, rented.price_per_device_hour);
  bool is_paid = false;
  for (std::size_t i = 0; i < paid.rows.size(); ++i)
    is_paid = is_paid || (cell(paid, i, "number").text == "price per hour" && cell(paid, i, "value").text == "$12.29");
  CHECK(is_paid);
  check_whole(network_level_table(cluster.fabric));
  LinkFactors factors;
  CHECK(link_factor_table(factors).rows.empty());
  factors.set(all_link_factors.front(), {0.75, "my cluster"});
  check_whole(link_factor_table(factors));
  CHECK(cell(link_factor_table(factors), 0, "factor").text == "0.750");
}

TEST_CASE("a network's blocks and a stack's traits and numbers are listed") {
  const Table blocks = block_table(find_network("gpt2"));
  check_whole(blocks);
  CHECK(blocks.rows.size() >= 3);
  const CalibrationSet& set = CalibrationSet::shipped();
  const SoftwareStack stack = set.software_stack("torchtitan");
  check_whole(stack_axis_table(set, stack));
  const Table numbers = coefficient_table(set, stack);
  check_whole(numbers);
  CHECK(numbers.rows.size() == decided_coefficients(set, stack).size());
}

}  // namespace
}  // namespace plumbline::present
