#include "core/cost/stage_links.h"

#include "core/cost/pipeline_time.h"
#include "core/cost/point_to_point.h"
#include "core/cost/time_limits.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

GroupSpan link_span(std::int32_t rank, const Strategy& s, const Cluster& cluster) {
  const std::int32_t before = rank > 0 ? rank - 1 : s.pipeline_stages - 1;
  return stages_span(rank_group(s, Axis::pipeline).stride, before, rank, cluster);
}

}  // namespace

StageLink stage_link(const BlockPricer& blocks, std::int32_t rank, Bytes message, const Strategy& s) {
  const double exposure = blocks.kernels().calibration().stack.communication.pipeline_exposure;
  const Cluster& cluster = blocks.communication().cluster();
  const GroupSpan span = link_span(rank, s, cluster);
  return {phase_time(exposure * message_time(blocks.communication(), rank, message, s)),
          phase_time(send_receive_time(message, span, cluster).transfer), span.crosses_network()};
}

std::vector<Picoseconds> link_loads(const std::vector<StageLink>& links, const Strategy& s, StagePlacement placement) {
  std::vector<Picoseconds> loads(links.size(), Picoseconds(0));
  if (s.pipeline_stages == 1) return loads;
  std::vector<std::int64_t> handed_on(links.size(), 0);
  for (std::int32_t stage = 1; stage < s.chunks(); ++stage) {
    const auto rank_of = [&](std::int32_t i) { return rank_of_stage(placement, s.pipeline_stages, i); };
    if (rank_of(stage - 1) != rank_of(stage)) ++handed_on[link_between(rank_of(stage - 1), rank_of(stage))];
  }
  // GPipe's backwards begin when the last rank has received all forwards: nothing travels back before.
  const std::int64_t one_by_one = record_of(s.schedule).passes == PassOrder::forwards_first ? 2 : 1;
  for (std::size_t rank = 0; rank < links.size(); ++rank)
    loads[rank] = repeated(links[rank].occupied, one_by_one * handed_on[rank] * s.micro_batches, most_work);
  return loads;
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
