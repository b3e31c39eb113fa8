#include "core/cost/stage_links.h"

namespace plumbline {
namespace {

GroupSpan link_span(std::int32_t rank, const Strategy& s, const Cluster& cluster) {
  const std::int32_t before = rank > 0 ? rank - 1 : s.pipeline_stages - 1;
  return stages_span(rank_group(s, Axis::pipeline).stride, before, rank, cluster);
}

}  // namespace

StageLink stage_link(const BlockPricer& blocks, std::int32_t rank, Bytes message, const Strategy& s) {
  const double exposure = blocks.kernels().calibration().stack.communication.pipeline_exposure;
  return {phase_time(exposure * message_time(blocks.communication(), rank, message, s)),
          link_span(rank, s, blocks.communication().cluster()).crosses_network()};
}

Seconds message_time(const CommunicationClock& clock, std::int32_t rank, Bytes message, const Strategy& s) {
  return clock.time(Collective::send_receive, message, link_span(rank, s, clock.cluster()));
}

bool any_stage_leaves_node(const Cluster& cluster, const Strategy& s) {
  for (std::int32_t rank = 1; rank < s.pipeline_stages; ++rank)
    if (link_span(rank, s, cluster).crosses_network()) return true;
  return false;
}

bool reduces_over_network(const Cluster& cluster, const Strategy& s) {
  const RankGroup group = rank_group(s, Axis::gradient);
  return group.size > 1 && group_span(group.size, group.stride, cluster).crosses_network();
}

}  // namespace plumbline
