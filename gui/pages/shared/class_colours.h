#pragma once
/// \file class_colours.h: colours of memory classes by the words that tables have for them.

#include <QColor>
#include <string>
#include <vector>

#include "core/plan/estimate.h"
#include "gui/pages/shared/legend.h"

namespace plumbline::gui {

/// An invalid colour where the words are no class.
[[nodiscard]] QColor colour_of_class(const std::string& words, const Palette& palette);
/// Classes that any of these hold.
[[nodiscard]] std::vector<LegendEntry> class_legend(const std::vector<MemoryBreakdown>& stages);

}  // namespace plumbline::gui
