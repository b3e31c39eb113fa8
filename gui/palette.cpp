#include "gui/palette.h"

#include <QWidget>
#include <algorithm>

namespace plumbline::gui {
namespace {

// Okabe and Ito.
constexpr QRgb orange = 0xffe69f00, sky_blue = 0xff56b4e9, bluish_green = 0xff009e73, yellow = 0xfff0e442,
               blue = 0xff0072b2, vermillion = 0xffd55e00, reddish_purple = 0xffcc79a7;
// Tol, muted.
constexpr QRgb indigo = 0xff332288, teal = 0xff44aa99, sand = 0xffddcc77, wine = 0xff882255;
constexpr QRgb middle_grey = 0xff999999, light_grey = 0xffe4e7ec, dark_grey = 0xff353b45;

Palette light_palette() {
  Palette p;
  p.window = 0xfff4f6f8;
  p.card = 0xffffffff;
  p.field = 0xfff8fafc;
  p.border = 0xffd3dae2;
  p.grid = 0xffe6eaef;
  p.text = 0xff1d2733;
  p.faint = 0xff5d6b7a;
  p.accent = 0xff2a6aa3;
  p.on_accent = 0xffffffff;
  p.chosen = orange;
  p.refusal = 0xffb42318;
  p.refused = 0xfffbe9e9;
  p.activities = {blue, orange, bluish_green, reddish_purple, sky_blue, yellow, vermillion, light_grey};
  p.memory = {bluish_green, yellow, reddish_purple, indigo, sky_blue, middle_grey,
              wine,         blue,   vermillion,     teal,   orange};
  p.causes = {blue, reddish_purple, yellow, sky_blue, indigo, sand, orange, middle_grey, vermillion, wine};
  p.amounts = {0xff440154, 0xff404387, 0xff29788e, 0xff22a784, 0xff79d151};
  return p;
}

Palette dark_palette() {
  Palette p = light_palette();
  p.window = 0xff171b21;
  p.card = 0xff1f252d;
  p.field = 0xff262d37;
  p.border = 0xff3a4450;
  p.grid = 0xff2d3540;
  p.text = 0xffe6eaf0;
  p.faint = 0xff9eabba;
  p.accent = 0xff6fb1ea;
  p.on_accent = 0xff10151b;
  p.refusal = 0xffff8a80;
  p.refused = 0xff3a2226;
  p.activities[static_cast<std::size_t>(Activity::idle)] = dark_grey;
  p.amounts = {0xff46518f, 0xff2d708e, 0xff21918c, 0xff5ec962, 0xfffde725};
  // Dark hues would sink into the background.
  constexpr QRgb violet = 0xff6f5be0, rose = 0xffa83a78;
  p.memory[static_cast<std::size_t>(MemoryClass::optimizer_state)] = violet;
  p.memory[static_cast<std::size_t>(MemoryClass::logits_and_loss)] = rose;
  p.causes[static_cast<std::size_t>(TimeCause::context_parallel)] = violet;
  p.causes[static_cast<std::size_t>(TimeCause::step_overhead)] = rose;
  return p;
}

}  // namespace

QColor Palette::sequential(double share) const {
  const double at = std::clamp(share, 0., 1.) * static_cast<double>(amounts.size() - 1);
  const std::size_t below = std::min(amounts.size() - 2, static_cast<std::size_t>(at));
  const auto part = static_cast<float>(at - static_cast<double>(below));
  const QColor &from = amounts[below], &to = amounts[below + 1];
  const auto mixed = [&](float a, float b) { return a + part * (b - a); };
  return QColor::fromRgbF(mixed(from.redF(), to.redF()), mixed(from.greenF(), to.greenF()),
                          mixed(from.blueF(), to.blueF()));
}

const char* words_of(Activity activity) {
  switch (activity) {
    case Activity::forward: return "forward";
    case Activity::backward: return "backward";
    case Activity::weight: return "weight gradient";
    case Activity::recompute: return "recompute";
    case Activity::communication: return "communication";
    case Activity::offload: return "offload";
    case Activity::optimizer: return "optimizer";
    case Activity::idle: return "idle";
  }
  return "";
}

const Palette& palette_of(Scheme scheme) {
  static const Palette light = light_palette();
  static const Palette dark = dark_palette();
  return scheme == Scheme::light ? light : dark;
}

const Palette& palette_of(const QWidget& widget) {
  constexpr int half = 128;
  return palette_of(widget.palette().color(QPalette::Window).lightness() < half ? Scheme::dark : Scheme::light);
}

QColor text_on(const QColor& colour) {
  constexpr double half = 0.45;  // of relative luminance, roughly where black and white contrast alike
  const double luminance = 0.2126 * colour.redF() + 0.7152 * colour.greenF() + 0.0722 * colour.blueF();
  return luminance > half ? QColor(0xff10151b) : QColor(0xffffffff);
}

QPalette application_palette(Scheme scheme) {
  const Palette& p = palette_of(scheme);
  QPalette q;
  q.setColor(QPalette::Window, p.window);
  q.setColor(QPalette::WindowText, p.text);
  q.setColor(QPalette::Base, p.card);
  q.setColor(QPalette::AlternateBase, p.window);
  q.setColor(QPalette::Text, p.text);
  q.setColor(QPalette::PlaceholderText, p.faint);
  q.setColor(QPalette::Button, p.field);
  q.setColor(QPalette::ButtonText, p.text);
  q.setColor(QPalette::ToolTipBase, p.card);
  q.setColor(QPalette::ToolTipText, p.text);
  q.setColor(QPalette::Highlight, p.accent);
  q.setColor(QPalette::HighlightedText, p.on_accent);
  q.setColor(QPalette::Link, p.accent);
  q.setColor(QPalette::Light, p.card);
  q.setColor(QPalette::Midlight, p.grid);
  q.setColor(QPalette::Mid, p.border);
  q.setColor(QPalette::Dark, p.border);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    q.setColor(QPalette::Disabled, role, p.faint);
  return q;
}

}  // namespace plumbline::gui
