#pragma once
/// \file memory_axis.h: how far an axis of memory goes, and its marks.
///
/// Checked against: tests/gui/pages/shared/memory_axis_test.cpp.

#include <QString>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline::gui {

/// What the device has, where what is held can be seen beside it; else only what is held: below an eighth of it.
[[nodiscard]] Bytes memory_axis_end(Bytes held, Bytes device);

struct MemoryMark {
  Bytes at{0};
  QString words;  ///< "40 GiB", "12 MiB"
};

/// From 0 on, about `count` of them at round distances.
[[nodiscard]] std::vector<MemoryMark> memory_marks(Bytes end, double count);

}  // namespace plumbline::gui
