// What the backward pass computes again.
#include <cstdint>
#include <string>
#include <utility>

#include "core/plan/asked_strategy.h"
#include "core/plan/axis_row.h"

namespace plumbline::axes {
namespace {

Broken counted_layers(const AskedStrategy& a) {
  const Recompute& recompute = a.s.recompute;
  const bool is_counted = recompute.mode == RecomputeMode::every_nth || recompute.mode == RecomputeMode::offloaded;
  if (!is_counted || recompute.n <= a.facts.layers) return std::nullopt;
  return "recompute " + to_text(recompute) + " of " + number(a.facts.layers) + " layers";
}

/// What counts the layers of a chunk goes with chunks that are known beforehand.
Broken layers_in_chunk(const AskedStrategy& a) {
  const Recompute& recompute = a.s.recompute;
  if (recompute.mode != RecomputeMode::block && !joins_layers(recompute)) return std::nullopt;
  const std::string named = "recompute " + to_text(recompute);
  if (a.s.split == StageSplit::balanced && a.s.pipeline_stages > 1) return named + " and a split that finds its own";
  if (joins_layers(recompute) && a.s.layers_per_unit > 1)
    return named + " and units of " + number(a.s.layers_per_unit) + " layers";
  if (const std::int64_t most = most_layers_of_chunk(a); recompute.n > most)
    return named + " where a pipeline chunk holds " + number(most) + (most == 1 ? " layer" : " layers");
  return std::nullopt;
}

}  // namespace

StrategyAxis recompute_axis() {
  StrategyAxis recompute;
  recompute.kind = AxisKind::recompute;
  recompute.values = recompute_names_text("|");
  StrategyAxis row =
      first_row({.file = 14, .change = 17, .column = 15, .form = 10}, std::move(recompute),
                {.flag = "--recompute",
                 .key = "recompute",
                 .change = "recompute",
                 .help = "what the backward pass computes again (none); optimal: the least that fits",
                 .foreign = {"--recompute-granularity", "--recompute-activations", "--activation-checkpointing",
                             "--gradient-checkpointing", "--activation-checkpoint-mode"},
                 .meaning = "what the backward pass computes again",
                 .examples = ", such as selective, full, uniform:2 or optimal",
                 .column = "recompute",
                 .caption = "Recompute"});
  row.rules = {
      {{"R26", "in every:N and offload:N, N is at most the number of layers"}, counted_layers},
      {{"R27",
        "in uniform:N and block:N, N is at most the layers of a pipeline chunk, whose split is even or by hand; layers "
        "that are replayed together (uniform:N, sqrt) are units by themselves"},
       layers_in_chunk}};
  return row;
}

}  // namespace plumbline::axes
