#include "gui/palette.h"

#include <QApplication>
#include <QLineEdit>
#include <QWidget>
#include <algorithm>
#include <cmath>
#include <vector>

#include "gui/window/style.h"
#include "tests/catch.h"
#include "tests/gui/colour_vision.h"

namespace plumbline::gui {
namespace {

constexpr double apart = 15;  // six times what is just noticeable

template <std::size_t Size>
void require_neighbours_apart(const std::array<QColor, Size>& colours) {
  for (std::size_t i = 0; i < Size; ++i)
    for (std::size_t j = i + 1; j < Size && j <= i + 2; ++j) {
      INFO(i << " and " << j);
      CHECK(least_distance(colours[i], colours[j]) > apart);
    }
}

double contrast(const QColor& one, const QColor& other) {
  const auto luminance = [](const QColor& c) {
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
  };
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

}  // namespace

TEST_CASE("activities keep apart for the colour-blind, light and dark") {
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    const Palette& palette = palette_of(scheme);
    for (const Activity one : all_activities)
      for (const Activity other : all_activities) {
        if (one >= other) continue;
        INFO(words_of(one) << " and " << words_of(other));
        CHECK(least_distance(palette.of(one), palette.of(other)) > apart);
      }
  }
}

TEST_CASE("what lies side by side in a stack of memory or time keeps apart, also where one class is absent") {
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    require_neighbours_apart(palette_of(scheme).memory);
    require_neighbours_apart(palette_of(scheme).causes);
  }
}

TEST_CASE("text is read on what lies behind it") {
  // WCAG 2.1, 1.4.3: 4.5 for text.
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    const Palette& p = palette_of(scheme);
    for (const QColor& behind : {p.window, p.card, p.field})
      for (const QColor& text : {p.text, p.faint, p.refusal, p.accent}) CHECK(contrast(text, behind) > 4.5);
    CHECK(contrast(p.on_accent, p.accent) > 4.5);
    CHECK(contrast(p.text, p.refused) > 4.5);
    for (const Activity activity : all_activities) CHECK(contrast(text_on(p.of(activity)), p.of(activity)) > 4.5);
  }
}

TEST_CASE("what a picture tells by colour, points and borders of fields stand out of what lies behind") {
  // WCAG 2.1, 1.4.11: 3 for graphical objects.
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    const Palette& p = palette_of(scheme);
    for (const QColor& behind : {p.window, p.card}) {
      for (const QColor& colour : p.memory) CHECK(contrast(colour, behind) > 3);
      for (const QColor& colour : p.causes) CHECK(contrast(colour, behind) > 3);
      for (const QColor& colour : p.amounts) CHECK(contrast(colour, behind) > 3);
      for (const Activity activity : all_activities)
        if (activity != Activity::idle) CHECK(contrast(p.of(activity), behind) > 3);
      CHECK(contrast(p.other, behind) > 3);
      CHECK(contrast(p.outline, behind) > 3);
    }
    CHECK(contrast(p.outline, p.field) > 3);
    CHECK(contrast(p.accent, p.other) > 1.2);  // the best among other points
  }
}

TEST_CASE("the classes of memory and the causes of time are apart, each from each, for all") {
  constexpr double any_two = 9;
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    const Palette& p = palette_of(scheme);
    for (std::size_t i = 0; i < p.memory.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK(least_distance(p.memory[i], p.memory[j]) > any_two);
    for (std::size_t i = 0; i < p.causes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK(least_distance(p.causes[i], p.causes[j]) > any_two);
  }
}

TEST_CASE("one colour means one thing on all pages") {
  constexpr double for_full_vision = 10;
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    const Palette& p = palette_of(scheme);
    CHECK(p.of(Activity::forward) == p.of(TimeCause::compute));
    CHECK(p.of(Activity::recompute) == p.of(TimeCause::recompute));
    CHECK(p.of(Activity::offload) == p.of(TimeCause::offload));
    CHECK(p.of(Activity::optimizer) == p.of(TimeCause::optimizer));
    CHECK(p.of(Activity::optimizer) == p.of(MemoryClass::optimizer_state));
    CHECK(p.of(Activity::weight) == p.of(MemoryClass::gradients));
    CHECK(p.of(Activity::communication) == p.of(MemoryClass::communication_buffers));
    CHECK(p.of(TimeCause::step_overhead) == p.of(MemoryClass::framework_and_context));
    std::vector<QColor> all;
    const auto add = [&](const auto& colours) {
      for (const QColor& colour : colours)
        if (std::find(all.begin(), all.end(), colour) == all.end()) all.push_back(colour);
    };
    add(p.activities);
    add(p.memory);
    add(p.causes);
    CHECK(all.size() == p.activities.size() + p.memory.size() + p.causes.size() - 8);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Triple a = seen(all[i], visions[0]), b = seen(all[j], visions[0]);
        CHECK(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) > for_full_vision);
      }
  }
}

TEST_CASE("a placeholder, which carries a default, is read in a field as the window draws it") {
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    apply_scheme(*qApp, scheme);
    QLineEdit line;
    line.ensurePolished();
    const QColor ink = line.palette().color(QPalette::PlaceholderText), behind = palette_of(scheme).field;
    const auto mixed = [&](float a, float b) { return a * ink.alphaF() + b * (1 - ink.alphaF()); };
    CHECK(contrast(QColor::fromRgbF(mixed(ink.redF(), behind.redF()), mixed(ink.greenF(), behind.greenF()),
                                    mixed(ink.blueF(), behind.blueF())),
                   behind) > 4.5);
  }
  qApp->setStyleSheet({});
  QApplication::setPalette(application_palette(Scheme::light));
}

TEST_CASE("a widget is painted in the scheme of its palette") {
  QWidget widget;
  widget.setPalette(application_palette(Scheme::dark));
  CHECK(&palette_of(widget) == &palette_of(Scheme::dark));
  widget.setPalette(application_palette(Scheme::light));
  CHECK(&palette_of(widget) == &palette_of(Scheme::light));
}

}  // namespace plumbline::gui
