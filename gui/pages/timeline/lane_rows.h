#pragma once
/// \file lane_rows.h: which lanes lie where, from the top: stages, below each what was measured of it, below an
/// unfolded one its streams.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "gui/pages/timeline/timeline_data.h"

namespace plumbline::gui {

/// What a row shows: a simulated stage, one of its streams, or what was measured of it.
enum class RowKind : std::uint8_t { stage, stream, measured };

struct LaneRow {
  const Lane* lane = nullptr;
  std::size_t stage = 0;
  RowKind kind = RowKind::stage;
  double top = 0;  ///< pixels
  double height = 0;
};

class LaneRows {
 public:
  /// `room`: pixels that the stages should fill where they can be seen so.
  void show(SharedTimeline data, double room);
  void fit(double room);
  void toggle(std::size_t stage, double room);
  [[nodiscard]] bool is_unfolded(std::size_t stage) const { return streams_.contains(stage); }

  [[nodiscard]] const std::vector<LaneRow>& rows() const { return rows_; }
  [[nodiscard]] double height() const { return rows_.empty() ? 0 : rows_.back().top + rows_.back().height; }
  /// nullptr: none there.
  [[nodiscard]] const LaneRow* at(double y) const;
  [[nodiscard]] const LaneRow& of_stage(std::size_t stage) const;

 private:
  SharedTimeline data_;
  std::map<std::size_t, std::vector<Lane>> streams_;  ///< of unfolded stages
  std::vector<LaneRow> rows_;
};

}  // namespace plumbline::gui
