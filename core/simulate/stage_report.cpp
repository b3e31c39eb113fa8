#include "core/simulate/stage_report.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumbline {
namespace {

/// What the rank does in its micro-batches, the optimizer's step, and what else keeps it: the reduction of gradients.
TimeBreakdown busy(const Program& program, const Simulation& s, std::size_t rank) {
  const std::vector<Action>& actions = program.ranks[rank].actions;
  TimeBreakdown busy = s.rank_time[rank];
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (std::holds_alternative<OptimizerStep>(actions[i].what))
      busy[TimeCause::optimizer] += s.timeline.of_rank[rank][i].length();
  const Picoseconds whole = s.step() - s.time[TimeCause::step_overhead] - s.idle[rank];
  busy[TimeCause::data_parallel] += whole - busy.total();
  return busy;
}

/// What is allocated when `last` starts. `later`: micro-batches that were left out before it.
std::vector<Buffer> alive_at(const RankProgram& rank, std::int32_t last, std::int64_t later) {
  std::vector<bool> alive;
  for (const Buffer& buffer : rank.buffers) alive.push_back(buffer.lifetime == Lifetime::persistent);
  for (std::int32_t i = 0; i <= last; ++i) {
    const Action& action = rank.actions[static_cast<std::size_t>(i)];
    for (const BufferUse& use : uses_of(action, rank)) {
      if (use.access == Access::allocate) alive[static_cast<std::size_t>(use.buffer)] = true;
      if (use.access == Access::release && i < last) alive[static_cast<std::size_t>(use.buffer)] = false;
    }
  }
  std::vector<Buffer> result;
  for (std::size_t b = 0; b < alive.size(); ++b)
    if (alive[b]) result.push_back(rank.buffers[b]);
  for (Buffer& buffer : result)
    if (buffer.micro_batch >= 0) buffer.micro_batch += static_cast<std::int32_t>(later);
  std::stable_sort(result.begin(), result.end(), [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  return result;
}

StageReport report(const Program& program, const Simulation& s, std::size_t r) {
  const RankProgram& rank = program.ranks[r];
  const std::vector<Span>& spans = s.timeline.of_rank[r];
  const std::int32_t peak = s.memory[r].action;
  const std::int64_t later = s.left_out.is_behind(r, peak) ? s.left_out.micro_batches : 0;
  StageReport result{busy(program, s, r), Picoseconds(0), "", alive_at(rank, peak, later)};
  if (peak < 0) return result;
  result.peak_at = spans[static_cast<std::size_t>(peak)].start;
  result.peak_action = to_text(rank.actions[static_cast<std::size_t>(peak)]);
  return result;
}

}  // namespace

std::vector<StageReport> stage_reports(const Program& program, const Simulation& simulation) {
  std::vector<StageReport> reports;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) reports.push_back(report(program, simulation, r));
  return reports;
}

std::vector<BufferFamily> families(const std::vector<Buffer>& buffers) {
  std::map<std::tuple<MemoryClass, std::int32_t, std::int32_t>, std::vector<Buffer>> grouped;
  for (const Buffer& buffer : buffers) grouped[{buffer.memory_class, buffer.chunk, buffer.segment}].push_back(buffer);
  std::vector<BufferFamily> result;
  for (const auto& [owner, members] : grouped) {
    BufferFamily& family = result.emplace_back(BufferFamily{members.front(), std::ssize(members), {}, Bytes(0)});
    for (const Buffer& buffer : members) {
      family.total += buffer.bytes;
      if (buffer.micro_batch >= 0) family.micro_batches.push_back(buffer.micro_batch);
    }
    std::sort(family.micro_batches.begin(), family.micro_batches.end());
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const BufferFamily& a, const BufferFamily& b) { return a.total > b.total; });
  return result;
}

}  // namespace plumbline
