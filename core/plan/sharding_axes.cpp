// How data-parallel ranks divide states: ZeRO and its details.
#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/asked_strategy.h"
#include "core/plan/axis_row.h"

namespace plumbline::axes {
namespace {

bool shards(const Strategy& s) { return s.zero_stage > 0; }
bool shards_weights(const Strategy& s) { return s.zero_stage == 3; }

Broken zero_stage_range(const AskedStrategy& a) {
  if (a.s.zero_stage < 0 || a.s.zero_stage > 3) return "ZeRO stage " + number(a.s.zero_stage);
  return std::nullopt;
}

Broken fault_of_shard_group(const AskedStrategy& a) {
  const std::int64_t ranks = a.s.gradient_ranks();
  if (a.s.shard_group < 1 || ranks % a.s.shard_group != 0)
    return "a shard group of " + number(a.s.shard_group) + " among " + number(ranks) + " ranks";
  if (a.s.zero_stage > 0 && a.s.shard_group == 1)
    return "ZeRO-" + number(a.s.zero_stage) + " over a shard group of 1 rank";
  if (a.s.zero_stage == 0 && a.s.shard_group != 1)
    return "a shard group of " + number(a.s.shard_group) + " without ZeRO";
  return std::nullopt;
}

Broken fault_of_prefetch(const AskedStrategy& a) {
  if (a.s.prefetch == ParameterPrefetch::off && a.s.zero_stage < 3)
    return "no prefetch of parameters under ZeRO-" + number(a.s.zero_stage);
  return std::nullopt;
}

Broken fault_of_units(const AskedStrategy& a) {
  const std::int64_t layers = a.s.layers_per_unit;
  if (layers == 1) return std::nullopt;
  if (layers < 1) return "units of " + number(layers) + " layers";
  if (a.s.zero_stage < 3) return "units of " + number(layers) + " layers under ZeRO-" + number(a.s.zero_stage);
  if (const std::int64_t most = most_layers_of_chunk(a); layers > most)
    return "units of " + number(layers) + " layers where a pipeline chunk holds " + number(most);
  return std::nullopt;
}

Broken fault_of_secondary_shards(const AskedStrategy& a) {
  const std::int64_t ranks = a.s.secondary_shard_group;
  if (ranks == 1) return std::nullopt;
  const std::string group = "a secondary shard group of " + number(ranks);
  if (a.s.zero_stage < 3) return group + " under ZeRO-" + number(a.s.zero_stage);
  if (!divides_shard_group(a.s)) return group + " in a shard group of " + number(a.s.shard_group);
  return std::nullopt;
}

/// Every number of ranks that divides all, but one alone.
std::vector<std::int64_t> dividing_groups(const Strategy& s) {
  std::vector<std::int64_t> groups;
  for (std::int64_t ranks = 2; ranks <= s.gradient_ranks(); ++ranks)
    if (s.gradient_ranks() % ranks == 0) groups.push_back(ranks);
  return groups;
}

}  // namespace

StrategyAxis zero_stage_axis() {
  StrategyAxis row = first_row(
      {.file = 9, .change = 13, .column = 12, .form = 7}, number_kind<&Strategy::zero_stage>(0, 3),
      {.flag = "--zero",
       .key = "zero_stage",
       .change = "ZeRO",
       .help = "ZeRO stage; 3 is FSDP (0)",
       .foreign = {"--zero-stage", "--fsdp", "--fully-shard", "--sharding-strategy", "--use-distributed-optimizer"},
       .meaning = "ZeRO stage",
       .examples = ", 0 to 3",
       .column = "zero",
       .caption = "ZeRO"});
  row.values = "0|1|2|3";
  row.follows = [](const Strategy&, const Strategy& after) { return after.gradient_ranks() == 1; };
  row.rules = {{{"R13", "ZeRO stages are 0 to 3"}, zero_stage_range}};
  return row;
}

StrategyAxis shard_group_axis() {
  StrategyAxis row =
      first_row({.file = 10, .change = 14}, degree_kind<&Strategy::shard_group>(),
                {.flag = "--shard-group",
                 .key = "shard_group",
                 .change = "shard group",
                 .help = "ranks that share one copy of the sharded states (all)",
                 .foreign = {"--data-parallel-shard-degree", "--hsdp", "--num-distributed-optimizer-instances"},
                 .in_schema = "ranks that divide states, gradients or parameters"});
  row.applies = shards;
  row.refined = dividing_groups;
  row.follows = [](const Strategy& a, const Strategy& b) { return !a.is_hybrid() && !b.is_hybrid(); };
  row.rules = {{{"R14", "the shard group divides the data-parallel ranks"}, fault_of_shard_group}};
  return row;
}

StrategyAxis prefetch_axis() {
  StrategyAxis row =
      new_row(toggle_kind<&Strategy::prefetch, ParameterPrefetch::on, ParameterPrefetch::off>(),
              {.flag = "--prefetch",
               .key = "prefetch",
               .change = "prefetch",
               .help = "ZeRO-3: gather a unit alongside the one before it (on)",
               .meaning = "ZeRO-3: whether a unit is gathered alongside the one before it",
               .column = "prefetch",
               .in_schema = "false: ZeRO-3 gathers a unit's parameters when the unit begins; absent: alongside the "
                            "unit before it"});
  row.change_place = 15;
  row.column_place = 13;
  row.applies = shards_weights;
  row.detail_of = "--zero";
  row.summary = [](const Strategy&) { return std::string("no prefetch"); };
  row.rules = {{{"R22", "parameters that are gathered without prefetch go with ZeRO-3"}, fault_of_prefetch}};
  return row;
}

StrategyAxis layers_per_unit_axis() {
  StrategyAxis row =
      new_row(number_kind<&Strategy::layers_per_unit>(1, most_layers),
              {.flag = "--layers-per-unit",
               .key = "layers_per_unit",
               .change = "layers per unit",
               .help = "ZeRO-3: layers gathered and reduced at once (1)",
               .meaning = "ZeRO-3: layers that are gathered and reduced at once",
               .column = "layers/unit",
               .in_schema = "layers whose parameters ZeRO-3 gathers, and whose gradients it reduces, at once; "
                            "absent: 1"});
  row.change_place = 16;
  row.column_place = 14;
  row.applies = shards_weights;
  row.detail_of = "--zero";
  row.summary = [](const Strategy& s) { return "units of " + std::to_string(s.layers_per_unit) + " layers"; };
  row.rules = {{{"R23", "units of several layers go with ZeRO-3, and hold at most the layers of a pipeline chunk"},
                fault_of_units}};
  return row;
}

StrategyAxis secondary_shard_group_axis() {
  StrategyAxis row = new_row(
      degree_kind<&Strategy::secondary_shard_group>(),
      {.flag = "--secondary-shard-group",
       .key = "secondary_shard_group",
       .change = "secondary shard group",
       .help = "ZeRO-3: ranks that keep all parameters for the backward (1: none)",
       .foreign = {"--reshard-after-forward", "--zero-hpz-partition-size"},
       .meaning = "ZeRO-3: ranks that keep all parameters for the backward",
       .column = "secondary group",
       .in_schema = "ranks that hold all parameters from a forward of ZeRO-3 to its backward, which gathers over them; "
                    "absent: none"});
  row.change_place = 17;
  row.column_place = 15;
  row.applies = shards_weights;
  row.detail_of = "--zero";
  row.goes_with = divides_shard_group;
  row.considered = Considered::when_named;
  row.summary = [](const Strategy& s) { return "secondary shards over " + std::to_string(s.secondary_shard_group); };
  row.rules = {{{"R28", "a secondary shard group goes with ZeRO-3, and divides the shard group into several"},
                fault_of_secondary_shards}};
  return row;
}

}  // namespace plumbline::axes
