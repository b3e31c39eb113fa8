#include "gui/palette.h"

#include <QWidget>

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
    for (const Activity activity : all_activities)
      CHECK(contrast(text_on(p.of(activity)), p.of(activity)) > 3);  // large text
  }
}

TEST_CASE("a widget is painted in the scheme of its palette") {
  QWidget widget;
  widget.setPalette(application_palette(Scheme::dark));
  CHECK(&palette_of(widget) == &palette_of(Scheme::dark));
  widget.setPalette(application_palette(Scheme::light));
  CHECK(&palette_of(widget) == &palette_of(Scheme::light));
}

}  // namespace plumbline::gui
