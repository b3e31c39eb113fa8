#include "core/program/unit_table.h"

namespace plumbline::passes {

UnitTable::UnitTable(const RankSizes& rank) {
  const auto list = [&](const ChunkSizes& chunk, bool is_forward) {
    std::vector<UnitRun> runs(chunk.segments.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t p = is_forward ? i : runs.size() - 1 - i;
      const Segment& segment = chunk.segments[p].executions;
      runs[p] = {size(), segment.last - segment.first};
      for (std::int32_t u = 0; u < runs[p].count; ++u)
        units_.push_back(is_forward ? segment.first + u : segment.last - 1 - u);
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
