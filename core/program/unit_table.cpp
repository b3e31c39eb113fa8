#include "core/program/unit_table.h"

#include <algorithm>

namespace plumbline::passes {

namespace {

/// By their first executions, in the order of the network.
std::vector<std::int32_t> units_in(const Segment& segment, const ChunkSizes& chunk) {
  std::vector<std::int32_t> units;
  for (const Segment& unit : chunk.units)
    if (unit.first < segment.last && segment.first < unit.last) units.push_back(unit.first);
  if (chunk.units.empty())
    for (std::int32_t execution = segment.first; execution < segment.last; ++execution) units.push_back(execution);
  return units;
}

}  // namespace

UnitTable::UnitTable(const RankSizes& rank) {
  const auto list = [&](const ChunkSizes& chunk, bool is_forward) {
    std::vector<UnitRun> runs(chunk.segments.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t p = is_forward ? i : runs.size() - 1 - i;
      std::vector<std::int32_t> units = units_in(chunk.segments[p].executions, chunk);
      if (!is_forward) std::reverse(units.begin(), units.end());
      const bool goes_on = !chunk.units.empty() && i > 0 && units.size() == 1 && units.front() == units_.back();
      runs[p] = {goes_on ? size() - 1 : size(), static_cast<std::int32_t>(units.size())};
      if (!goes_on) units_.insert(units_.end(), units.begin(), units.end());
    }
    return runs;
  };
  for (const ChunkSizes& chunk : rank.chunks) {
    forward_.push_back(list(chunk, true));
    backward_.push_back(list(chunk, false));
  }
}

UnitRun UnitTable::of_segment(Pass pass, std::int32_t chunk, std::int32_t segment) const {
  const OfChunks& runs = pass == Pass::forward ? forward_ : backward_;
  return runs[static_cast<std::size_t>(chunk)][static_cast<std::size_t>(segment)];
}

void UnitTable::append(UnitRun run) {
  for (std::int32_t u = run.first; u < run.first + run.count; ++u) {
    const std::int32_t unit = units_[static_cast<std::size_t>(u)];
    units_.push_back(unit);
  }
}

void UnitQueue::add(std::int32_t count, Bytes bytes) {
  for (std::int64_t u = 1; u <= count; ++u) ends_.push_back(added_ + Bytes(bytes.value() * u / count));
  added_ += bytes;
}

UnitRun UnitQueue::send(Bytes bytes) {
  bytes_sent_ += bytes;
  UnitRun run{next_, 0};
  for (; sent_ < ends_.size() && ends_[sent_] <= bytes_sent_; ++sent_) ++run.count;
  next_ += run.count;
  return run;
}

UnitRun UnitQueue::rest() {
  const UnitRun run{next_, static_cast<std::int32_t>(ends_.size() - sent_)};
  next_ += run.count;
  sent_ = ends_.size();
  return run;
}

}  // namespace plumbline::passes
