#include "gui/pages/timeline/memory_columns.h"

namespace plumbline::gui {

std::vector<std::size_t> memory_columns(const MemoryTrack& track, const TimeWindow& window, std::size_t columns) {
  std::vector<std::size_t> result;
  std::size_t current = sample_at(track, window.begin());
  for (std::size_t column = 0; column < columns; ++column) {
    const double end =
        window.begin() + window.length() * static_cast<double>(column + 1) / static_cast<double>(columns);
    std::size_t most = current;
    while (current + 1 < track.samples.size() && static_cast<double>(track.samples[current + 1].at.value()) < end) {
      ++current;
      if (track.samples[current].memory.device_total() > track.samples[most].memory.device_total()) most = current;
    }
    result.push_back(most);
  }
  return result;
}

}  // namespace plumbline::gui
