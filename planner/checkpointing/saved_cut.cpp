#include "planner/checkpointing/saved_cut.h"

#include "planner/checkpointing/minimum_cut.h"

namespace plumbline {

std::vector<std::int32_t> least_kept_values(const std::vector<CutValue>& values) {
  const auto n = static_cast<std::int32_t>(values.size());
  const std::int32_t source = 2 * n;  // value v is computed at vertex v and read at vertex n + v
  const std::int32_t sink = source + 1;
  std::int64_t infinite = 1;
  for (const CutValue& value : values) infinite += value.size.value();
  std::vector<CutArc> arcs;
  for (std::int32_t v = 0; v < n; ++v) {
    const CutValue& value = values[static_cast<std::size_t>(v)];
    arcs.push_back({v, n + v, value.size.value()});
    if (value.source) arcs.push_back({source, v, infinite});
    if (value.needed) arcs.push_back({n + v, sink, infinite});
    for (const std::int32_t input : value.inputs) arcs.push_back({n + input, v, infinite});
  }
  const std::vector<bool> side = minimum_cut(sink + 1, arcs, source, sink);
  std::vector<std::int32_t> kept;
  const auto on_source_side = [&](std::int32_t node) { return side[static_cast<std::size_t>(node)]; };
  for (std::int32_t v = 0; v < n; ++v)
    if (on_source_side(v) && !on_source_side(n + v)) kept.push_back(v);
  return kept;
}

}  // namespace plumbline
