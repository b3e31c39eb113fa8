#include "gui/pages/shared/class_colours.h"

#include <algorithm>

#include "planner/present/numbers.h"

namespace plumbline::gui {

QColor colour_of_class(const std::string& words, const Palette& palette) {
  for (std::size_t c = 0; c < memory_class_count; ++c)
    if (present::words_of(to_text(static_cast<MemoryClass>(c))) == words) return palette.memory[c];
  return {};
}

std::vector<LegendEntry> class_legend(const std::vector<MemoryBreakdown>& stages) {
  std::vector<LegendEntry> entries;
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    if (std::none_of(stages.begin(), stages.end(), [&](const MemoryBreakdown& m) { return m.by_class[c] > Bytes(0); }))
      continue;
    const std::string words = present::words_of(to_text(static_cast<MemoryClass>(c)));
    entries.push_back({QString::fromStdString(words), [c](const Palette& palette) { return palette.memory[c]; }});
  }
  return entries;
}

}  // namespace plumbline::gui
