// Degrees of parallelism that divide a layer: tensor, sequence, context, expert, data.
#include <cstdint>

#include "core/plan/asked_strategy.h"
#include "core/plan/axis_row.h"

namespace plumbline::axes {
namespace {

bool has_tensor_ranks(const Strategy& s) { return s.tensor_parallel > 1; }

Broken tensor_parallel_in_domain(const AskedStrategy& a) {
  if (a.limits.tensor_parallel_across_domains || a.limits.nvlink_domain % a.s.tensor_parallel == 0) return std::nullopt;
  return "tp " + number(a.s.tensor_parallel) + " does not divide the " + number(a.limits.nvlink_domain) +
         " GPUs that share the fast interconnect";
}

Broken heads_and_widths(const AskedStrategy& a) {
  if (a.facts.is_undivided() && a.s.tensor_parallel > 1)
    return "tp " + number(a.s.tensor_parallel) + " for a network none of whose weights is divided";
  for (const std::int64_t heads : a.facts.heads)
    if (heads % a.s.tensor_parallel != 0) return not_divisible("attention heads", heads, "tp", a.s.tensor_parallel);
  for (const std::int64_t heads : a.facts.state_heads)
    if (heads % a.s.tensor_parallel != 0)
      return not_divisible("heads of a recurrent layer", heads, "tp", a.s.tensor_parallel);
  for (const std::int64_t width : a.facts.widths)
    if (width % a.s.tensor_parallel != 0)
      return not_divisible("features of an inner layer", width, "tp", a.s.tensor_parallel);
  return std::nullopt;
}

Broken shared_heads(const AskedStrategy& a) {
  for (const std::int64_t groups : a.facts.kv_heads)
    if (groups % a.s.tensor_parallel != 0 && a.s.tensor_parallel % groups != 0)
      return not_divisible("kv heads", groups, "tp", a.s.tensor_parallel);
  return std::nullopt;
}

Broken needless_sequence_parallel(const AskedStrategy& a) {
  if (a.s.sequence_parallel == SequenceParallel::on && a.s.tensor_parallel == 1)
    return "sequence parallelism with tp 1";
  return std::nullopt;
}

Broken recurrence(const AskedStrategy& a) {
  if (a.s.context_parallel == 1 || a.facts.state_heads.empty()) return std::nullopt;
  return "cp " + number(a.s.context_parallel) + " for layers whose state passes from token to token";
}

}  // namespace

StrategyAxis tensor_parallel_axis() {
  StrategyAxis row =
      first_row({.file = 2, .change = 1, .column = 1, .form = 1}, degree_kind<&Strategy::tensor_parallel>(),
                {.flag = "--tp",
                 .key = "tensor_parallel",
                 .change = "tp",
                 .foreign = {"--tensor-parallel", "--tensor-parallel-size", "--tensor-model-parallel-size", "--tp-size",
                             "--tensor-parallel-degree", "--autotp-size"},
                 .meaning = "tensor-parallel ranks",
                 .column = "tp",
                 .caption = "TP"});
  row.rules = {
      {{"R02", "tensor parallelism stays inside the fast interconnect (policy; lift with --tp-across-nodes)"},
       tensor_parallel_in_domain},
      {{"R03", "tensor parallelism divides attention heads and inner widths"}, heads_and_widths},
      {{"R04", "tensor parallelism divides the kv heads, or they divide it and are replicated"}, shared_heads}};
  return row;
}

StrategyAxis sequence_parallel_axis() {
  StrategyAxis row = first_row({.file = 3, .change = 2, .column = 2},
                               toggle_kind<&Strategy::sequence_parallel, SequenceParallel::on, SequenceParallel::off>(),
                               {.flag = "--sequence-parallel",
                                .key = "sequence_parallel",
                                .change = "sequence parallelism",
                                .help = "with tensor parallelism (off; on without a value)",
                                .foreign = {"--sp", "--enable-sequence-parallel"},
                                .meaning = "sequence parallelism",
                                .column = "sp"});
  row.in_tables = InTables::where_unusual;
  row.applies = has_tensor_ranks;
  row.follows = [](const Strategy& a, const Strategy& b) { return !has_tensor_ranks(a) || !has_tensor_ranks(b); };
  row.rules = {{{"R18", "sequence parallelism goes with tensor parallelism"}, needless_sequence_parallel}};
  return row;
}

StrategyAxis context_parallel_axis() {
  StrategyAxis row =
      first_row({.file = 6, .change = 7, .column = 3, .form = 4}, degree_kind<&Strategy::context_parallel>(),
                {.flag = "--cp",
                 .key = "context_parallel",
                 .change = "cp",
                 .foreign = {"--context-parallel", "--context-parallel-size", "--cp-size", "--context-parallel-degree",
                             "--sequence-parallel-size", "--ulysses"},
                 .meaning = "context-parallel ranks",
                 .column = "cp",
                 .caption = "CP"});
  row.in_tables = InTables::where_unusual;
  row.rules = {
      {{"R21", "context parallelism goes with attention only: recurrent layers (Gated DeltaNet) need whole sequences"},
       recurrence}};
  return row;
}

StrategyAxis expert_parallel_axis() {
  StrategyAxis row = first_row(
      {.file = 7, .change = 9, .column = 5, .form = 6}, degree_kind<&Strategy::expert_parallel>(),
      {.flag = "--ep",
       .key = "expert_parallel",
       .change = "ep",
       .foreign = {"--expert-parallel", "--expert-model-parallel-size", "--ep-size", "--expert-parallel-degree"},
       .meaning = "expert-parallel ranks",
       .column = "ep",
       .caption = "EP"});
  row.in_tables = InTables::where_unusual;
  return row;
}

StrategyAxis expert_tensor_parallel_axis() {
  StrategyAxis row = first_row({.file = 8, .change = 10, .column = 6}, degree_kind<&Strategy::expert_tensor_parallel>(),
                               {.flag = "--etp",
                                .key = "expert_tensor_parallel",
                                .change = "etp",
                                .foreign = {"--expert-tensor-parallel-size", "--expert-tensor-parallel-degree"},
                                .meaning = "tensor-parallel ranks inside an expert",
                                .column = "etp"});
  row.in_files = InFiles::always;
  row.in_tables = InTables::where_unusual;
  return row;
}

StrategyAxis data_parallel_axis() {
  StrategyAxis row = first_row(
      {.file = 1, .change = 11, .column = 8, .form = 3}, degree_kind<&Strategy::data_parallel>(),
      {.flag = "--dp",
       .key = "data_parallel",
       .change = "dp",
       .help = "data-parallel ranks (the GPUs that the other degrees leave)",
       .foreign = {"--data-parallel", "--data-parallel-size", "--dp-size", "--data-parallel-replicate-degree"},
       .meaning = "data-parallel ranks",
       .column = "dp",
       .caption = "DP"});
  row.follows = [](const Strategy&, const Strategy&) { return true; };
  return row;
}

}  // namespace plumbline::axes
