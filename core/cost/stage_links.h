#pragma once
/// \file stage_links.h: what joins each rank of a pipeline to the one before it, and what a message over it takes.
///
/// Answers seconds and picoseconds of one message. Model: two stages are ranges of ranks, and a message takes the links
/// of a node, or the network cards that all ranks of the stage in one node send over at once (core/machine/topology.h,
/// stages_span); of that, the stack's `pipeline_exposure` shows. A link carries one message of a direction after the
/// other: a step takes no less than all of them together, GPipe's than those of both directions (`link_loads`). Source:
/// docs/decisions/0084-each-boundary-its-own-link.md. Not modelled: queues of messages while a part of the step
/// sends faster than the link; replicas of a stage that stay inside a node beside others that do not. Checked against:
/// tests/unit/planner/pricing/stage_links_test.cpp, by hand; tests/unit/core/machine/topology_test.cpp.

#include <vector>

#include "core/cost/block_cost.h"
#include "core/plan/strategy.h"

namespace plumbline {

/// What joins a pipeline rank to the one before it; the first to the last, round the loop of virtual stages.
struct StageLink {
  Picoseconds hop{0};        ///< of a message, until whoever waits for it has it
  Picoseconds occupied{0};   ///< by a message, before the link carries the next of its direction
  bool leaves_node = false;  ///< over network cards
};

/// `blocks`: of the site that both ranks compute on together.
[[nodiscard]] StageLink stage_link(const BlockPricer& blocks, std::int32_t rank, Bytes message,
                                   const Strategy& strategy);
/// Of a message alone, with nothing hidden.
[[nodiscard]] Seconds message_time(const CommunicationClock& clock, std::int32_t rank, Bytes message,
                                   const Strategy& strategy);
/// How long each link is at work in a step, by pipeline rank as `links`: in one direction, as many messages go there as
/// come back; where all forwards come before all backwards, in one direction after the other.
[[nodiscard]] std::vector<Picoseconds> link_loads(const std::vector<StageLink>& links, const Strategy& strategy,
                                                  StagePlacement placement);
/// Where stages lie as the strategy's schedule places them.
[[nodiscard]] inline std::vector<Picoseconds> link_loads(const std::vector<StageLink>& links,
                                                         const Strategy& strategy) {
  return link_loads(links, strategy, placement(strategy.schedule));
}
/// Whether neighbours of the pipeline send over the network anywhere.
[[nodiscard]] bool any_stage_leaves_node(const Cluster& cluster, const Strategy& strategy);
/// Whether gradients are reduced over the network.
[[nodiscard]] bool reduces_over_network(const Cluster& cluster, const Strategy& strategy);

}  // namespace plumbline
