#include "gui/pages/timeline/lane_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plumbline::gui {
namespace {

constexpr double lowest = 9;
constexpr double highest = 72;
constexpr double stream_height = 18;

}  // namespace

void LaneRows::show(SharedTimeline data, double room) {
  data_ = std::move(data);
  streams_.clear();
  fit(room);
}

void LaneRows::fit(double room) {
  rows_.clear();
  if (!data_ || data_->lanes.empty()) return;
  const std::size_t lanes = data_->lanes.size() + data_->measured.size();
  const double height = std::clamp(std::floor(room / static_cast<double>(lanes)), lowest, highest);
  double top = 0;
  const auto add = [&](const Lane& lane, std::size_t stage, RowKind kind, double lane_height) {
    rows_.push_back({&lane, stage, kind, top, lane_height});
    top += lane_height;
  };
  for (std::size_t stage = 0; stage < data_->stages(); ++stage) {
    add(data_->lanes[stage], stage, RowKind::stage, height);
    if (stage < data_->measured.size()) add(data_->measured[stage], stage, RowKind::measured, height);
    const auto unfolded = streams_.find(stage);
    if (unfolded == streams_.end()) continue;
    for (const Lane& lane : unfolded->second) add(lane, stage, RowKind::stream, stream_height);
  }
}

void LaneRows::toggle(std::size_t stage, double room) {
  if (!data_ || stage >= data_->stages()) return;
  if (streams_.erase(stage) == 0) streams_.emplace(stage, stream_lanes(data_->simulated(), stage));
  fit(room);
}

const LaneRow* LaneRows::at(double y) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const LaneRow& row) { return y >= row.top && y < row.top + row.height; });
  return found == rows_.end() ? nullptr : &*found;
}

const LaneRow& LaneRows::of_stage(std::size_t stage) const {
  return *std::find_if(rows_.begin(), rows_.end(),
                       [&](const LaneRow& row) { return row.stage == stage && row.kind == RowKind::stage; });
}

}  // namespace plumbline::gui
