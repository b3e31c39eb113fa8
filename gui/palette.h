#pragma once
/// \file palette.h: the colours of the window, light and dark, apart also for people who are colour-blind.
///
/// One colour means one thing on all pages: what is computed forward is blue in the timeline and in the waterfall, the
/// optimizer's state has the colour of the optimizer's time. Contrast is WCAG 2.1's: 4.5 to 1 for text, 3 to 1 for what
/// a picture tells by colour and for borders of fields; only what is idle or a grid may be fainter. Source: hues begin
/// at those of Okabe and Ito, "Color Universal Design" (2008), and were moved as little as keeps the members of each
/// stack apart for all (the numbers of the test); amounts are those of van der Walt and Smith, "viridis" (2015),
/// without the ends that sink into the card. Checked against: tests/gui/palette_test.cpp, which simulates protanopia,
/// deuteranopia and tritanopia.

#include <QColor>
#include <QPalette>
#include <array>
#include <cstdint>

#include "core/plan/estimate.h"

class QWidget;

namespace plumbline::gui {

enum class Scheme : std::uint8_t { light, dark };

/// What a stage does at an instant.
enum class Activity : std::uint8_t {
  forward,
  backward,
  weight,  ///< gradient of the weights alone, under zero-bubble schedules
  recompute,
  communication,
  offload,
  optimizer,
  idle,
};
inline constexpr std::array all_activities{Activity::forward,   Activity::backward,      Activity::weight,
                                           Activity::recompute, Activity::communication, Activity::offload,
                                           Activity::optimizer, Activity::idle};
/// "weight gradient": as a legend has it.
[[nodiscard]] const char* words_of(Activity activity);

struct Palette {
  QColor window;   ///< behind everything
  QColor card;     ///< behind a picture or a table
  QColor field;    ///< behind what is typed
  QColor border;   ///< of cards
  QColor outline;  ///< of fields, buttons, what is dragged
  QColor grid;     ///< lines inside pictures
  QColor text;
  QColor faint;   ///< captions, units, axes
  QColor accent;  ///< what is chosen, links, progress
  QColor on_accent;
  QColor chosen;   ///< inside of a chosen point of a picture
  QColor other;    ///< points and marks of what is neither best nor chosen
  QColor refusal;  ///< wrong values, beyond a capacity
  QColor refused;  ///< the area beyond a capacity

  [[nodiscard]] QColor of(Activity activity) const { return activities[static_cast<std::size_t>(activity)]; }
  [[nodiscard]] QColor of(MemoryClass memory_class) const { return memory[static_cast<std::size_t>(memory_class)]; }
  [[nodiscard]] QColor of(TimeCause cause) const { return causes[static_cast<std::size_t>(cause)]; }
  /// Of an amount, 0 to 1: its lightness changes one way, so that it is read without colours too.
  [[nodiscard]] QColor sequential(double share) const;

  std::array<QColor, all_activities.size()> activities;
  std::array<QColor, memory_class_count> memory;
  std::array<QColor, time_cause_count> causes;
  std::array<QColor, 5> amounts;  ///< from the least to the largest
};

[[nodiscard]] const Palette& palette_of(Scheme scheme);
/// As `widget` is shown now; pictures ask when they paint, so that a change of scheme is seen at once.
[[nodiscard]] const Palette& palette_of(const QWidget& widget);
/// Black or white, whichever is read better on `colour`.
[[nodiscard]] QColor text_on(const QColor& colour);

/// For QApplication::setPalette.
[[nodiscard]] QPalette application_palette(Scheme scheme);

}  // namespace plumbline::gui
