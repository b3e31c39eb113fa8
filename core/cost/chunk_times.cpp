#include "core/cost/chunk_times.h"

namespace plumbline {

ChunkTimes::ChunkTimes(const std::vector<RankTimes>& of_stage, const std::vector<StageLink>& links, const Strategy& s)
    : strategy_(&s), link_loads_(plumbline::link_loads(links, s)) {
  for (std::vector<Picoseconds>* times : {&forward_, &backward_, &backward_input_, &backward_weight_})
    times->reserve(of_stage.size());
  for (const RankTimes& times : of_stage) {
    forward_.push_back(times.forward);
    backward_.push_back(times.backward);
    backward_input_.push_back(times.backward_input);
    backward_weight_.push_back(times.backward_weight);
  }
  wrap_ = links.front().hop;
  for (std::size_t rank = 1; rank < links.size(); ++rank) latency_.push_back(links[rank].hop);
  for (const StageLink& link : links) leaves_node_.push_back(link.leaves_node ? 1 : 0);
}

void ChunkTimes::set_contention(double slowdown, bool reduces_over_network, bool gathers) {
  slowdown_ = slowdown;
  shares_link_ = reduces_over_network ? leaves_node_ : std::vector<std::uint8_t>();
  gathers_ = gathers;
}

void ChunkTimes::add_once(std::size_t rank, Picoseconds start, const std::vector<OnceTimes>& of_chunk) {
  start_.resize(latency_.size() + 1, Picoseconds(0));
  once_.resize(forward_.size());
  start_[rank] = start;
  for (std::size_t chunk = 0; chunk < of_chunk.size(); ++chunk)
    once_[static_cast<std::size_t>(stage_of(placement(strategy_->schedule), strategy_->pipeline_stages,
                                            static_cast<std::int32_t>(rank), static_cast<std::int32_t>(chunk)))] =
        of_chunk[chunk];
}

}  // namespace plumbline
